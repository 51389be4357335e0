// The page of `ringward watch --listen`: one stream says that there is news, documents say what it is.
import 'uplot/dist/uPlot.min.css';
import './page.css';
import { getJobs, Locked, useToken } from './api';
import { Connection, type State } from './connection';
import { el, say } from './dom';
import { age, clock } from './format';
import { METRIC_NAMES } from './heat';
import { JobView } from './job';
import { JobList } from './jobs';
import { byId } from './page';
import { startTheme } from './theme';
import { METRICS, type Jobs, type Metric } from './types';
import { worstFirst } from './verdict';

let jobs: Jobs | undefined;
let job: string | undefined;
let metric: Metric = 'self';

/** The address after # holds what is shown, so that it can be sent to somebody. */
function hashOf(name: string, of: Metric): string {
  return `#${new URLSearchParams(of === 'self' ? { job: name } : { job: name, metric: of }).toString()}`;
}

function readHash(): void {
  const asked = new URLSearchParams(location.hash.slice(1));
  const named = METRICS.find((each) => each === asked.get('metric'));
  metric = named ?? 'self';
  job = asked.get('job') ?? undefined;
}

const view = new JobView((error) => {
  if (error instanceof Locked) locked();
});
const list = new JobList(byId('jobs'), (name) => hashOf(name, metric));
const connection = new Connection((event) => {
  if (event.name === 'status') take(JSON.parse(event.data) as Jobs);
  else void view.refresh(true);
}, showConnection);

function take(news: Jobs): void {
  jobs = news;
  show();
  void view.refresh();
}

function show(): void {
  if (!jobs) return;
  // Without a choice of the reader the worst job is shown, and stays.
  if (job === undefined && jobs.jobs.length > 0) job = worstFirst(jobs.jobs)[0]!.job;
  list.show(jobs.jobs, job);
  const summary = jobs.jobs.find((each) => each.job === job);
  view.select(job, metric, summary?.world ?? 0);
  if (summary) view.showSummary(summary);
  if (jobs.jobs.length === 0) say(byId('nothing'), 'No job runs that could be watched. The first that starts appears here.');
  byId('nothing').hidden = summary !== undefined;
  const open = jobs.jobs.reduce((sum, each) => sum + (each.ended ? 0 : each.open_incidents), 0);
  document.title = `${open > 0 ? `(${open}) ` : ''}${job ?? 'no job'} · Ringward`;
}

const STATES: Record<State, string> = {
  connecting: 'connecting',
  live: 'live',
  blind: 'blind',
  paused: 'paused',
  locked: 'locked',
};

function showConnection(): void {
  const { state, heard } = connection;
  const line = byId('connection');
  line.className = state;
  say(line, STATES[state]);
  const blind = state === 'blind';
  byId('blind').hidden = !blind;
  document.body.classList.toggle('stale', blind);
  // The age is kept from screen readers, which would tell it each second.
  say(byId('blind-age'), heard === 0 ? '' : `Last heard ${age((Date.now() - heard) / 1000)} ago.`);
  const shown = jobs ? ` What is shown is from ${clock(jobs.at)}.` : '';
  say(byId('blind-text'), blind ? `Blind: the watcher is not heard.${shown}` : '');
  byId('unlock').hidden = state !== 'locked';
  byId('layout').hidden = state === 'locked';
}

function locked(): void {
  const tried = (byId('token') as HTMLInputElement).value !== '';
  if (tried) say(byId('unlock-text'), 'That is not the token of this watcher.');
  connection.state = 'locked';
  showConnection();
}

function startMetrics(): void {
  for (const each of METRICS) {
    const input = el('input', {
      type: 'radio',
      name: 'metric',
      value: each,
      change: () => location.assign(hashOf(job ?? '', each)),
    });
    byId('metrics').append(el('label', {}, input, el('span', {}, METRIC_NAMES[each])));
  }
}

function showHash(): void {
  readHash();
  document.querySelectorAll<HTMLInputElement>('#metrics input').forEach((input) => (input.checked = input.value === metric));
  show();
  document.querySelector('#jobs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
}

function start(): void {
  showConnection();
  startMetrics();
  startTheme(byId('theme') as HTMLButtonElement, () => view.redraw());
  byId('skip').addEventListener('click', () => byId('job-region').focus());
  showHash();
  addEventListener('hashchange', showHash);
  document.addEventListener('visibilitychange', () => document.hidden && view.stop());
  byId('unlock').addEventListener('submit', (event) => {
    event.preventDefault();
    useToken((byId('token') as HTMLInputElement).value.trim());
    connection.open();
    void load();
  });
  connection.open();
  void load();
}

/** What there is now, before the stream tells. */
async function load(): Promise<void> {
  try {
    take(await getJobs(new AbortController().signal));
  } catch (error) {
    if (error instanceof Locked) locked();
  }
}

start();
