// The list of jobs, worst first.
import { el, KeyedList } from './dom';
import { count } from './format';
import type { JobSummary } from './types';
import { worstFirst, type Mood } from './verdict';

interface Row {
  job: string;
  mood: Mood;
  mark: string;
  note: string;
  href: string;
  current: boolean;
}

function moodOf(job: JobSummary): [Mood, string] {
  if (job.ended) return ['ended', job.healthy ? 'ended' : `ended, ${count(job.found_incidents)} found`];
  if (job.open_incidents > 0) return ['bad', `${count(job.open_incidents)} open`];
  if (job.silent > 0) return ['odd', `${count(job.silent)} silent`];
  return ['good', job.healthy ? 'healthy' : 'well again'];
}

function rowOf(job: JobSummary, current: string | undefined, hrefOf: (job: string) => string): Row {
  const [mood, mark] = moodOf(job);
  const note = `${count(job.world)} ranks · ${job.step < 0 ? 'no step yet' : `step ${job.step}`}`;
  return { job: job.job, mood, mark, note, href: hrefOf(job.job), current: job.job === current };
}

const draw = (row: Row): HTMLElement =>
  el(
    'li',
    {},
    el(
      'a',
      { class: `job ${row.mood}`, href: row.href, 'data-part': 'link', 'aria-current': row.current ? 'page' : undefined },
      el('span', { class: 'job-name' }, row.job),
      el('span', { class: 'job-mark' }, row.mark),
      el('span', { class: 'job-note' }, row.note),
    ),
  );

export class JobList {
  private readonly list: KeyedList<Row>;

  constructor(
    parent: HTMLElement,
    private readonly hrefOf: (job: string) => string,
  ) {
    this.list = new KeyedList(parent, (row) => row.job, draw);
  }

  show(jobs: readonly JobSummary[], current: string | undefined): void {
    this.list.show(worstFirst(jobs).map((job) => rowOf(job, current, this.hrefOf)));
  }
}
