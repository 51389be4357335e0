// What is said of a job in one line, which job comes first, and where its ranks stand. No DOM here.
import { count, ranks } from './format';
import type { Incident, JobSummary, RankTable } from './types';

export type Mood = 'bad' | 'odd' | 'good' | 'ended';

export interface Verdict {
  mood: Mood;
  text: string;
}

const PHRASES: Record<string, [one: string, many: string]> = {
  'slow-rank': ['is slow', 'are slow'],
  'intermittent-slow-rank': ['is slow now and then', 'are slow now and then'],
  'slow-input': ['waits for its input', 'wait for their input'],
  'slow-network': ['waits for a slow network', 'wait for a slow network'],
  'slow-link': ['has a bad network link', 'have bad network links'],
  'uneven-data': ['has unequal work in its batches', 'have unequal work in their batches'],
  'uneven-partition': ['is cut into unequal stages', 'are cut into unequal stages'],
  'rank-stalled': ['stays out of the collective', 'stay out of the collective'],
  'rank-frozen': ['is frozen', 'are frozen'],
  'network-stalled': ['stands still inside a collective', 'stand still inside a collective'],
  killed: ['is gone', 'are gone'],
  'lost-reports': ['reports no more', 'report no more'],
  'non-finite': ['has numbers that are not finite', 'have numbers that are not finite'],
  'rank-apart': ['computes other numbers than the rest', 'compute other numbers than the rest'],
  'replicas-differ': ['has weights that differ', 'have weights that differ'],
  'loss-spike': ['has a spike in its loss', 'have spikes in their loss'],
  'loss-diverging': ['is diverging', 'are diverging'],
  'gradient-explosion': ['has exploding gradients', 'have exploding gradients'],
  'gradient-vanishing': ['has vanishing gradients', 'have vanishing gradients'],
  'memory-leak': ['leaks memory', 'leak memory'],
  'clock-skew': ['has a clock that moved', 'have clocks that moved'],
};

const PAST: Record<string, string> = { is: 'was', are: 'were', has: 'had', have: 'had' };

/** "is slow", "leaks memory" as "was slow", "leaked memory". */
function past(phrase: string): string {
  return phrase.replace(/^\w+/, (verb) => PAST[verb] ?? `${verb.replace(/e?s?$/, '')}ed`);
}

/** "rank 2 is slow since step 1692: the job would run 1.7x faster without it". */
export function headline(incident: Incident): string {
  const phrase = PHRASES[incident.cause];
  if (!phrase) return incident.summary;
  const named = incident.culprit_ranks.length;
  const hosts = incident.culprit_hosts;
  const who =
    named > 0 ? ranks(incident.culprit_ranks) : hosts.length > 0 ? `host ${hosts.join(', ')}` : 'the job';
  const many = named > 1 || (named === 0 && hosts.length > 1);
  const begun = incident.since_step < 0 ? '' : ` ${incident.over ? 'from' : 'since'} step ${incident.since_step}`;
  const gain = incident.speedup_without;
  const worth = !incident.over && named > 0 && gain > 1.02 && gain < 20;
  const state = phrase[many ? 1 : 0];
  const faster = `: the job would run ${gain.toFixed(gain < 9.95 ? 1 : 0)}× faster without ${many ? 'them' : 'it'}`;
  return `${who} ${incident.over ? past(state) : state}${begun}${worth ? faster : ''}`;
}

/** The critical incident (what is slow beside it is of no interest), else the one that costs most, of those that are open. */
export function worst(incidents: readonly Incident[]): Incident | undefined {
  const stops = (incident: Incident): number => (incident.severity === 'critical' ? 1 : 0);
  return incidents
    .filter((incident) => !incident.over)
    .sort((a, b) => stops(b) - stops(a) || b.speedup_without - a.speedup_without || b.lost_seconds - a.lost_seconds || a.id - b.id)[0];
}

export function verdict(job: JobSummary, incidents: readonly Incident[]): Verdict {
  const found = worst(incidents);
  if (found && !job.ended) return { mood: 'bad', text: headline(found) };
  const one = job.found_incidents === 1;
  const past = one ? '1 incident was found' : `${count(job.found_incidents)} incidents were found`;
  if (job.ended)
    return { mood: 'ended', text: `ended after step ${job.step}: ${job.healthy ? 'healthy' : past}` };
  if (job.silent > 0)
    return { mood: 'odd', text: `${count(job.silent)} of ${count(job.world)} ranks show no progress` };
  if (job.step < 0) return { mood: 'odd', text: 'no step has ended yet' };
  return { mood: 'good', text: job.healthy ? 'healthy' : `runs well now; ${past} and ${one ? 'is' : 'are'} over` };
}

const badness = (job: JobSummary): number =>
  job.ended ? -1 : (job.open_incidents > 0 ? 4 : 0) + (job.silent > 0 ? 2 : 0) + (job.blind > 0 ? 1 : 0);

/** Worst first; jobs that are as bad as one another by name, so that the list stands still. */
export function worstFirst(jobs: readonly JobSummary[]): JobSummary[] {
  return [...jobs].sort(
    (a, b) => badness(b) - badness(a) || b.open_incidents - a.open_incidents || a.job.localeCompare(b.job),
  );
}

export interface Standing {
  ranks: number[];
  text: string;
  /** Blamed, or few among many that wait: who is waited for. */
  apart: boolean;
}

/** The ranks that open incidents blame. */
export function accused(incidents: readonly Incident[]): Set<number> {
  return new Set(incidents.filter((incident) => !incident.over).flatMap((incident) => incident.culprit_ranks));
}

const UNSEEN = 'not seen here';

/**
 * Ranks that stand at the same place, those of `blamed` by themselves; who stands apart first, then the
 * fewest; `most` groups at most.
 */
export function standings(table: RankTable, blamed: ReadonlySet<number>, most = 6): Standing[] {
  const groups = new Map<string, { ranks: number[]; text: string; inside: boolean; blamed: boolean }>();
  for (let rank = 0; rank < table.state.length; ++rank) {
    const state = table.state[rank]!;
    const running = state === 'living' || state === 'silent';
    const inside = running && table.in_collective[rank]!;
    const where = inside
      ? `inside collective ${table.collectives[rank]}, step ${table.step[rank]}`
      : `in ${table.phase[rank]}, step ${table.step[rank]}, after collective ${table.collectives[rank]}`;
    const text = running ? where : state === 'unseen' ? UNSEEN : state;
    const key = `${blamed.has(rank)} ${text}`;
    const group = groups.get(key);
    if (group) group.ranks.push(rank);
    else groups.set(key, { ranks: [rank], text, inside, blamed: blamed.has(rank) });
  }
  const all = [...groups.values()];
  const waiting = all.reduce((sum, group) => sum + (group.inside ? group.ranks.length : 0), 0);
  return all
    .map(({ ranks, text, inside, blamed }) => ({ ranks, text, apart: blamed || (!inside && text !== UNSEEN && ranks.length < waiting) }))
    .sort((a, b) => Number(b.apart) - Number(a.apart) || a.ranks.length - b.ranks.length || a.ranks[0]! - b.ranks[0]!)
    .slice(0, most);
}
