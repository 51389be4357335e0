// One job: fetched again and again, at a pace that costs neither side much.
import { getIncidents, getJob, getTile, Gone } from './api';
import { Breakdown, PARTS, type Tiles } from './breakdown';
import { el, KeyedList, say } from './dom';
import { count, ranks, seconds } from './format';
import { HeatMap } from './heat';
import { IncidentList } from './incidents';
import { byId } from './page';
import type { Tile } from './tile';
import type { Incident, Job, JobSummary, Metric } from './types';
import { accused, standings, verdict, worst, type Standing } from './verdict';

/** Of the time, at most one part in this many is spent on fetching. */
const REST = 8;
/** Columns of a tile; fewer where ranks are many. */
const COLUMNS = 240;
const COLUMNS_OF_MANY = 120;
const MANY = 2048;

export class JobView {
  private name: string | undefined;
  private metric: Metric = 'self';
  private abort: AbortController | undefined;
  private busy = false;
  private restUntil = 0;
  private world = 0;
  /** Chosen by the reader; until then the rank that is to blame. */
  private rank: number | undefined;
  private tiles: Tiles = {};
  private incidents: readonly Incident[] = [];
  private readonly heat: HeatMap;
  private readonly breakdown: Breakdown;
  private readonly list: IncidentList;
  private readonly places: KeyedList<Standing>;
  private readonly rankInput = byId('rank') as HTMLInputElement;

  constructor(private readonly onFailure: (error: unknown) => void) {
    this.heat = new HeatMap(byId('heat') as HTMLCanvasElement, byId('heat-readout'), byId('legend'), (rank) => this.choose(rank));
    this.breakdown = new Breakdown(byId('breakdown'), byId('breakdown-text'));
    this.list = new IncidentList(byId('incidents'), byId('no-incidents'), (incident) => this.point(incident));
    this.places = new KeyedList(byId('standings'), (standing) => String(standing.ranks[0]), drawStanding);
    this.rankInput.addEventListener('change', () => this.choose(this.rankInput.valueAsNumber));
  }

  /** Shows another job, or another metric of it. */
  select(name: string | undefined, metric: Metric, world: number): void {
    if (name === this.name && metric === this.metric) return;
    if (name !== this.name) {
      this.rank = undefined;
      this.tiles = {};
      this.incidents = [];
      this.heat.clear();
      this.breakdown.clear();
      this.list.show([]);
      byId('job').hidden = true;
    }
    this.name = name;
    this.metric = metric;
    this.world = world;
    this.abort?.abort();
    this.busy = false;
    this.restUntil = 0;
    void this.refresh();
  }

  /** Fetches what is shown, unless that is under way or was just done. `news`: there is something to see. */
  async refresh(news = false): Promise<void> {
    const name = this.name;
    if (name === undefined || this.busy || document.hidden || (!news && Date.now() < this.restUntil)) return;
    this.busy = true;
    this.abort = new AbortController();
    const { signal } = this.abort;
    const begin = Date.now();
    try {
      await this.fetchAll(name, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Gone) this.gone(name);
      else this.onFailure(error);
    }
    if (signal.aborted) return;
    this.busy = false;
    this.restUntil = Date.now() + REST * (Date.now() - begin);
  }

  stop(): void {
    this.abort?.abort();
    this.busy = false;
  }

  redraw(): void {
    this.heat.redraw();
    this.breakdown.redraw();
  }

  /** What the list of jobs already knows of it. */
  showSummary(job: JobSummary): void {
    const said = verdict(job, this.incidents);
    say(byId('job-title'), job.job);
    const line = byId('verdict');
    line.className = said.mood;
    say(line, said.text);
    const living = `${count(job.living)} of ${count(job.world)}`;
    const notes = [job.silent > 0 && `${count(job.silent)} silent`, job.blind > 0 && `blind to ${count(job.blind)}`];
    const told: [string, string][] = [
      ['step', job.step < 0 ? 'none yet' : String(job.step)],
      ['a step takes', job.step_seconds > 0 ? seconds(job.step_seconds) : 'not known'],
      ['ranks that run', [living, ...notes.filter((note) => note !== false)].join(', ')],
      ['on', job.hosts.join(', ')],
    ];
    byId('job-facts').replaceChildren(
      ...told.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, value))),
    );
    byId('job').hidden = false;
    byId('nothing').hidden = true;
  }

  private async fetchAll(name: string, signal: AbortSignal): Promise<void> {
    const columns = this.world > MANY ? COLUMNS_OF_MANY : COLUMNS;
    const [job, { incidents }, tile] = await Promise.all([
      getJob(name, signal),
      getIncidents(name, signal),
      getTile(name, this.metric, columns, signal),
    ]);
    this.showJob(job, incidents, tile);
    for (const part of PARTS) this.tiles[part] = part === this.metric ? tile : await getTile(name, part, columns, signal);
    this.showBreakdown();
  }

  private showJob(job: Job, incidents: readonly Incident[], tile: Tile): void {
    this.world = job.world;
    this.incidents = incidents;
    this.showSummary(job);
    this.heat.show({ tile, states: job.by_rank.state, incidents, stepSeconds: job.step_seconds });
    this.list.show(incidents);
    this.places.show(job.ended || job.silent + job.blind === 0 ? [] : standings(job.by_rank, accused(incidents)));
  }

  private showBreakdown(): void {
    const blamed = worst(this.incidents) ?? this.incidents[0];
    const rank = Math.min(this.rank ?? blamed?.culprit_ranks[0] ?? 0, Math.max(0, this.world - 1));
    this.rankInput.max = String(this.world - 1);
    if (document.activeElement !== this.rankInput) this.rankInput.value = String(rank);
    this.breakdown.show(this.tiles, rank);
  }

  private choose(rank: number): void {
    if (!Number.isInteger(rank) || rank < 0 || rank >= this.world) return;
    this.rank = rank;
    this.rankInput.value = String(rank);
    this.showBreakdown();
  }

  private point(incident: Incident): void {
    const rank = incident.culprit_ranks[0] ?? 0;
    this.choose(rank);
    this.heat.pointTo(rank, incident.since_step);
  }

  private gone(name: string): void {
    byId('job').hidden = true;
    const nothing = byId('nothing');
    nothing.hidden = false;
    say(nothing, `The watcher knows no job ${name} any more.`);
  }
}

function drawStanding(standing: Standing): HTMLElement {
  const few = standing.ranks.length <= 8;
  const who = few ? ranks(standing.ranks) : `${count(standing.ranks.length)} ranks`;
  return el('li', { class: standing.apart ? 'apart' : '' }, el('b', {}, who), ` ${standing.text}`);
}
