// The documents of /api/v1 (docs/api.md), as far as the page reads them.

export interface JobSummary {
  job: string;
  world: number;
  hosts: string[];
  ranks: number;
  living: number;
  silent: number;
  blind: number;
  step: number;
  step_seconds: number;
  open_incidents: number;
  found_incidents: number;
  healthy: boolean;
  ended: boolean;
}

export interface Jobs {
  at: string;
  jobs: JobSummary[];
}

export interface Evidence {
  file: string;
  line: number;
  text: string;
}

export interface Incident {
  id: number;
  category: string;
  cause: string;
  severity: 'warning' | 'critical';
  summary: string;
  culprit_ranks: number[];
  culprit_hosts: string[];
  victim_ranks: number[];
  confidence: number;
  evidence: Evidence[];
  remedy: string;
  action: string;
  started_at: string | null;
  since_step: number;
  found_step: number;
  over: boolean;
  lost_seconds: number;
  speedup_without: number;
}

export interface RankTable {
  state: string[];
  phase: string[];
  step: number[];
  collectives: number[];
  in_collective: boolean[];
}

export interface Job extends JobSummary {
  by_rank: RankTable;
}

export interface Incidents {
  incidents: Incident[];
}

export const METRICS = ['self', 'wait', 'data', 'local_loss', 'memory'] as const;
export type Metric = (typeof METRICS)[number];

export interface HeatDocument {
  metric: string;
  unit: string;
  ranks: number;
  columns: number;
  first_steps: number[];
  last_steps: number[];
  scale: string;
  low: number;
  high: number;
  max_byte: number;
  not_finite_byte: number;
  missing_byte: number;
  data: string;
}
