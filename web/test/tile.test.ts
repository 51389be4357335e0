import assert from 'node:assert/strict';
import test from 'node:test';
import { COLUMNS_LEAST, layoutOf, marksOf, ticks } from '../src/layout';
import {
  byteOf,
  colourRange,
  columnOfStep,
  decode,
  medians,
  pool,
  ranksOfRow,
  rowOf,
  rowOfRank,
  valueOf,
  worstOfRow,
  type Tile,
} from '../src/tile';
import type { HeatDocument, Incident } from '../src/types';

/** A document as the watcher sends it; `bytes` by rank. */
function documentOf(bytes: number[][], more: Partial<HeatDocument> = {}): HeatDocument {
  const columns = bytes[0]?.length ?? 0;
  const stepsOf = (offset: number): number[] => Array.from({ length: columns }, (_, at) => 100 + 3 * at + offset);
  return {
    metric: 'self',
    unit: 'seconds',
    ranks: bytes.length,
    columns,
    first_steps: stepsOf(0),
    last_steps: stepsOf(2),
    scale: 'linear',
    low: 0,
    high: 253,
    max_byte: 253,
    not_finite_byte: 254,
    missing_byte: 255,
    data: btoa(String.fromCharCode(...bytes.flat())),
    ...more,
  };
}

const tileOf = (bytes: number[][], more: Partial<HeatDocument> = {}): Tile => decode(documentOf(bytes, more));

test('a tile is decoded by rank', () => {
  const tile = tileOf([[0, 1, 2], [253, 254, 255]]);
  assert.deepEqual([...tile.bytes], [0, 1, 2, 253, 254, 255]);
  assert.deepEqual(rowOf(tile, 1), [253, null, null]);
});

test('a tile that is not whole is refused', () => {
  assert.throws(() => decode({ ...documentOf([[1, 2]]), ranks: 2 }), /not whole/);
  assert.throws(() => decode({ ...documentOf([[1, 2]]), last_steps: [1] }), /not whole/);
});

for (const [scale, low, high, byte, value] of [
  ['linear', 1, 3, 0, 1],
  ['linear', 1, 3, 253, 3],
  ['logarithmic', 0.01, 1, 0, 0.01],
  ['logarithmic', 0.01, 1, 126.5, 0.1],
  ['logarithmic', 0.01, 1, 253, 1],
] as const)
  test(`byte ${byte} on a ${scale} scale`, () => {
    const tile = tileOf([[0]], { scale, low, high });
    assert.ok(Math.abs(valueOf(tile, byte)! - value) < 1e-12);
    assert.ok(Math.abs(byteOf(tile, value) - byte) < 1e-9);
  });

test('bytes that are no numbers', () => {
  const tile = tileOf([[0]]);
  assert.equal(valueOf(tile, 255), null);
  assert.ok(Number.isNaN(valueOf(tile, 254)));
  assert.equal(byteOf(tileOf([[0]], { low: 2, high: 2 }), 2), 0);
  assert.ok(byteOf(tileOf([[0]], { scale: 'logarithmic', low: 1, high: 100 }), 0) < 0);
});

test('colours leave out what costs the job nothing', () => {
  const even = tileOf([[100, 101, 102, 101]]);
  assert.deepEqual(colourRange(even, 40), { from: 100, to: 120 });
  const slow = tileOf(Array.from({ length: 100 }, (_, rank) => [rank === 7 ? 250 : 100, 100, 100]));
  assert.deepEqual(colourRange(slow, 20), { from: 100, to: 110 });
  assert.deepEqual(colourRange(tileOf([[255, 255]]), 1), { from: 0, to: 1 });
});

test('all ranks share the rows, each once', () => {
  for (const [ranks, rows] of [[10, 3], [10240, 200], [7, 7], [401, 400]] as const) {
    let next = 0;
    for (let row = 0; row < rows; ++row) {
      const { from, to } = ranksOfRow(ranks, rows, row);
      assert.equal(from, next);
      assert.ok(to > from);
      for (let rank = from; rank < to; ++rank) assert.equal(rowOfRank(ranks, rows, rank), row);
      next = to;
    }
    assert.equal(next, ranks);
  }
});

for (const [name, metric, cells, shown, at] of [
  ['the slowest', 'self', [10, 90, 20], 90, 1],
  ['the one that waits least', 'wait', [50, 3, 50], 3, 1],
  ['what is not finite', 'self', [10, 254, 253], 254, 1],
  ['what is not finite, rather than what is missing', 'self', [255, 10, 254], 254, 2],
  ['a number, rather than what is missing', 'wait', [255, 10, 255], 10, 1],
] as const)
  test(`a line of many ranks shows ${name}`, () => {
    const tile = tileOf(cells.map((cell) => [cell]), { metric });
    assert.deepEqual([...pool(tile, 1)], [shown]);
    assert.equal(worstOfRow(tile, 1, 0, 0), at);
  });

test('one slow rank of 10,240 is not lost between lines', () => {
  const tile = tileOf(Array.from({ length: 10240 }, () => [40]).map((row, rank) => (rank === 7001 ? [200] : row)));
  const rows = pool(tile, 200);
  assert.equal(rows.filter((byte) => byte === 200).length, 1);
  assert.equal(rows[rowOfRank(10240, 200, 7001)], 200);
});

test('medians leave out what is no number', () => {
  assert.deepEqual(medians(tileOf([[1, 255], [9, 255], [254, 254], [4, 255]])), [4, null]);
});

for (const [step, column] of [[99, -1], [100, 0], [102, 0], [103, 1], [999, 2]] as const)
  test(`step ${step} is in column ${column}`, () => assert.equal(columnOfStep(tileOf([[1, 1, 1]]), step), column));

const incidentOf = (more: Partial<Incident>): Incident => ({
  id: 1, category: 'compute', cause: 'slow-rank', severity: 'warning', summary: '', culprit_ranks: [], culprit_hosts: [], victim_ranks: [],
  confidence: 1, evidence: [], remedy: '', action: 'none', started_at: null, since_step: 103, found_step: 104, over: false,
  lost_seconds: 0, speedup_without: 1, ...more,
});

test('an incident is marked at its ranks, from its beginning', () => {
  const tile = tileOf(Array.from({ length: 4 }, () => [1, 1, 1, 1]));
  const layout = layoutOf(tile, 55 + 100 * COLUMNS_LEAST, 1);
  const place = { x: layout.plot.x + layout.plot.width - 300, width: 300 };
  const height = layout.plot.height / 4;
  assert.equal(layout.columnWidth, 100);
  const near = (boxes: { x: number; y: number; width: number; height: number }[]): number[][] =>
    boxes.map((box) => [Math.round(box.x - place.x), Math.round(box.y / height), Math.round(box.width / 100), Math.round(box.height / height)]);
  assert.deepEqual(near(marksOf(layout, tile, incidentOf({ culprit_ranks: [0, 2, 3] }))), [[0, 0, 3, 1], [0, 2, 3, 2]]);
  assert.deepEqual(near(marksOf(layout, tile, incidentOf({ culprit_ranks: [1], over: true }))), [[0, 1, 1, 1]]);
  assert.deepEqual(near(marksOf(layout, tile, incidentOf({}))), [[0, 0, 3, 4]]);
  assert.deepEqual(marksOf(layout, tile, incidentOf({ since_step: 1, found_step: 2, over: true })), []);
});

for (const [first, last, most, expected] of [
  [0, 3, 10, [0, 1, 2, 3]],
  [1500, 1739, 4, [1500, 1600, 1700]],
  [0, 10239, 6, [0, 2000, 4000, 6000, 8000, 10000]],
  [5, 5, 4, [5]],
] as const)
  test(`ticks from ${first} to ${last}`, () => assert.deepEqual(ticks(first, last, most), expected));
