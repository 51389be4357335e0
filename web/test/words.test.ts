import assert from 'node:assert/strict';
import test from 'node:test';
import { luminance, palette } from '../src/colour';
import { age, bytes, digits, quantity, ranks, seconds, steps } from '../src/format';
import { EventParser } from '../src/sse';
import type { Incident, JobSummary } from '../src/types';
import { headline, standings, verdict, worst, worstFirst } from '../src/verdict';

/** Narrow spaces as plain ones. */
const plain = (text: string): string => text.replace(/\u202f/g, ' ');

for (const [value, text] of [
  [0, '0 s'], [0.0000042, '4.20 µs'], [0.0524, '52.4 ms'], [0.9996, '1.00 s'], [12.34, '12.3 s'], [119, '119 s'],
  [150, '3 min'], [7500, '2 h 05 min'],
] as const)
  test(`${value} seconds`, () => assert.equal(plain(seconds(value)), text));

for (const [value, text] of [
  [0, '0'], [0.5, '0.500'], [1.2345, '1.23'], [99.94, '99.9'], [99.96, '100'], [12345, '12 345'], [0.0001, '1.0e-4'], [1e20, '1.0e+20'],
] as const)
  test(`digits of ${value}`, () => assert.equal(plain(digits(value)), text));

test('other numbers', () => {
  assert.equal(plain(bytes(3 * 1024 ** 3)), '3.00 GiB');
  assert.equal(plain(bytes(12)), '12 B');
  assert.equal(plain(quantity(2048, 'bytes')), '2.00 KiB');
  assert.equal(quantity(0.25, ''), '0.250');
  assert.equal(plain(age(12.4)), '12 s');
  assert.equal(steps(7, 7), 'step 7');
  assert.equal(steps(7, 9), 'steps 7-9');
});

for (const [list, text] of [
  [[2], 'rank 2'],
  [[2, 3, 4, 9], 'ranks 2-4, 9'],
  [[0, 2, 4, 6, 8, 9], 'ranks 0, 2, 4, 6 and 2 more'],
] as const)
  test(text, () => assert.equal(plain(ranks(list)), text));

const incident = (more: Partial<Incident>): Incident => ({
  id: 1, category: 'compute', cause: 'slow-rank', severity: 'warning', summary: 'the sentence', culprit_ranks: [2], culprit_hosts: [],
  victim_ranks: [], confidence: 0.9, evidence: [], remedy: '', action: 'none', started_at: null, since_step: 1692,
  found_step: 1700, over: false, lost_seconds: 0, speedup_without: 1.71, ...more,
});

for (const [more, text] of [
  [{}, 'rank 2 is slow since step 1692: the job would run 1.7× faster without it'],
  [{ culprit_ranks: [2, 3] }, 'ranks 2-3 are slow since step 1692: the job would run 1.7× faster without them'],
  [{ cause: 'rank-frozen', speedup_without: 100 }, 'rank 2 is frozen since step 1692'],
  [{ cause: 'slow-network', culprit_ranks: [] }, 'the job waits for a slow network since step 1692'],
  [{ cause: 'slow-link', culprit_ranks: [], culprit_hosts: ['node7'] }, 'host node7 has a bad network link since step 1692'],
  [{ over: true }, 'rank 2 was slow from step 1692'],
  [{ over: true, cause: 'rank-stalled', culprit_ranks: [2, 3] }, 'ranks 2-3 stayed out of the collective from step 1692'],
  [{ over: true, cause: 'rank-apart' }, 'rank 2 computed other numbers than the rest from step 1692'],
  [{ over: true, cause: 'slow-input', since_step: -1 }, 'rank 2 waited for its input'],
  [{ cause: 'something-new' }, 'the sentence'],
] as const)
  test(text, () => assert.equal(headline(incident(more as Partial<Incident>)), text));

const job = (more: Partial<JobSummary>): JobSummary => ({
  job: 'a', world: 4, hosts: ['node7'], ranks: 4, living: 4, silent: 0, blind: 0, step: 9, step_seconds: 0.05,
  open_incidents: 0, found_incidents: 0, healthy: true, ended: false, ...more,
});

for (const [more, incidents, mood, text] of [
  [{}, [], 'good', 'healthy'],
  [{ step: -1 }, [], 'odd', 'no step has ended yet'],
  [{ silent: 3 }, [], 'odd', '3 of 4 ranks show no progress'],
  [{ healthy: false, found_incidents: 2 }, [incident({ over: true })], 'good', 'runs well now; 2 incidents were found and are over'],
  [{ ended: true, healthy: false, found_incidents: 1 }, [incident({})], 'ended', 'ended after step 9: 1 incident was found'],
  [{ ended: true }, [], 'ended', 'ended after step 9: healthy'],
  [{ open_incidents: 1 }, [incident({ cause: 'killed', speedup_without: 1 })], 'bad', 'rank 2 is gone since step 1692'],
] as const)
  test(`verdict: ${text}`, () => assert.deepEqual(verdict(job(more), incidents), { mood, text }));

test('the worst incident is the open one that costs most', () => {
  const found = worst([incident({ id: 1, over: true, speedup_without: 9 }), incident({ id: 2 }), incident({ id: 3, speedup_without: 2 })]);
  assert.equal(found?.id, 3);
});

test('what stops the job is worse than what slows it', () => {
  const found = worst([incident({ id: 1, speedup_without: 3 }), incident({ id: 2, cause: 'rank-frozen', severity: 'critical', speedup_without: 1 })]);
  assert.equal(found?.id, 2);
});

test('the worst job comes first, ended ones last', () => {
  const jobs = [
    job({ job: 'ended', ended: true, open_incidents: 1 }), job({ job: 'well' }), job({ job: 'also well' }),
    job({ job: 'silent', silent: 1 }), job({ job: 'slow', open_incidents: 1 }), job({ job: 'hung', open_incidents: 1, silent: 4 }),
  ];
  assert.deepEqual(worstFirst(jobs).map((each) => each.job), ['hung', 'slow', 'silent', 'also well', 'well', 'ended']);
});

test('the rank that is waited for stands apart', () => {
  const four = <Value>(value: Value, other: Value): Value[] => [value, value, other, value];
  const found = standings({
    state: ['silent', 'silent', 'silent', 'lost'], phase: four('synchronise', 'forward'), step: four(8, 8),
    collectives: four(12, 11), in_collective: four(true, false),
  }, new Set([1]));
  assert.deepEqual(found, [
    { ranks: [1], text: 'inside collective 12, step 8', apart: true },
    { ranks: [2], text: 'in forward, step 8, after collective 11', apart: true },
    { ranks: [3], text: 'lost', apart: true },
    { ranks: [0], text: 'inside collective 12, step 8', apart: false },
  ]);
});

test('events in pieces of any size', () => {
  const text = 'retry: 5\n\nevent: status\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: a comment\nid: x-3\nevent: end\ndata: {}\n\ndata: cut';
  const expected = [{ name: 'status', data: '{"a":\n1}' }, { name: 'end', data: '{}' }];
  for (const size of [1, 2, 7, 1000]) {
    const parser = new EventParser();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...parser.push(text.slice(at, at + size)));
    assert.deepEqual(found, expected, `pieces of ${size}`);
  }
});

for (const dark of [true, false])
  test(`lightness tells ${dark ? 'dark' : 'light'} colours apart`, () => {
    const { ramp } = palette(dark);
    for (let at = 8; at < 256; at += 8) {
      const change = luminance(ramp[at]!) - luminance(ramp[at - 8]!);
      assert.ok(dark ? change > 0 : change < 0, `between ${at - 8} and ${at}`);
    }
    const span = Math.abs(Math.log((luminance(ramp[255]!) + 0.05) / (luminance(ramp[0]!) + 0.05)));
    assert.ok(span > Math.log(10), `contrast ${Math.exp(span).toFixed(1)}`);
  });
