// The incidents of a job: what, since when, at what cost, why we think so, and what to do.
import { el, KeyedList } from './dom';
import { clock, count, ranks, seconds } from './format';
import type { Evidence, Incident } from './types';
import { headline } from './verdict';

const ACTIONS: Record<string, string> = {
  restart: 'restart the job',
  'exclude-host': 'exclude the host',
  'fix-config': 'fix the configuration',
  rollback: 'go back to a checkpoint',
};

const evidenceText = (evidence: Evidence): string =>
  evidence.file === '' ? evidence.text : `${evidence.file}:${evidence.line}: ${evidence.text}`;

function fact(name: string, value: string): HTMLElement {
  return el('div', {}, el('dt', {}, name), el('dd', {}, value));
}

function facts(incident: Incident): HTMLElement {
  const at = incident.started_at === null ? '' : `, ${clock(incident.started_at)}`;
  const victims = incident.victim_ranks.length;
  return el(
    'dl',
    { class: 'facts' },
    fact('since', `step ${incident.since_step}${at}`),
    fact('found', `step ${incident.found_step}`),
    fact('cost', incident.lost_seconds > 0 ? seconds(incident.lost_seconds) : 'none yet'),
    fact('sure', `${Math.round(100 * incident.confidence)} %`),
    victims > 0 ? fact('held up', victims > 8 ? `${count(victims)} ranks` : ranks(incident.victim_ranks)) : '',
  );
}

function whyOf(incident: Incident): Node {
  const [first, ...more] = incident.evidence;
  if (!first) return document.createTextNode(incident.summary);
  const lead = el('p', { class: 'evidence' }, evidenceText(first));
  if (more.length === 0) return lead;
  return el(
    'div',
    {},
    lead,
    el(
      'details',
      {},
      el('summary', { 'data-part': 'more' }, `${more.length} more ${more.length === 1 ? 'observation' : 'observations'}`),
      ...more.map((evidence) => el('p', { class: 'evidence' }, evidenceText(evidence))),
    ),
  );
}

function draw(incident: Incident, show: (incident: Incident) => void): HTMLElement {
  const action = ACTIONS[incident.action];
  return el(
    'li',
    { class: `incident ${incident.over ? 'over' : 'open'}` },
    el(
      'h3',
      {},
      el('span', { class: 'tag' }, `#${incident.id}`),
      el('span', { class: 'what' }, headline(incident)),
      el('span', { class: 'badge' }, incident.over ? 'over' : 'open'),
    ),
    el('p', { class: 'cause' }, `${incident.cause} · ${incident.category}`),
    facts(incident),
    whyOf(incident),
    el('p', { class: 'remedy' }, el('b', {}, 'What now: '), incident.remedy, action ? ` (${action})` : ''),
    el('button', { type: 'button', 'data-part': 'show', click: () => show(incident) }, 'Show in the heat map'),
  );
}

export class IncidentList {
  private readonly list: KeyedList<Incident>;

  constructor(
    parent: HTMLElement,
    private readonly empty: HTMLElement,
    show: (incident: Incident) => void,
  ) {
    this.list = new KeyedList(parent, (incident) => String(incident.id), (incident) => draw(incident, show));
  }

  show(incidents: readonly Incident[]): void {
    this.empty.hidden = incidents.length > 0;
    this.list.show(incidents);
  }
}
