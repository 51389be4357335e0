// Asking the watcher. A token, where one is needed, stays in this tab.
import { EventParser, type StreamEvent } from './sse';
import { decode, type Tile } from './tile';
import type { HeatDocument, Incidents, Job, Jobs, Metric } from './types';

const TOKEN = 'ringward-token';

/** The watcher wants a token, or another one. */
export class Locked extends Error {}
/** It has no such job. */
export class Gone extends Error {}

export function useToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
}

async function ask(path: string, signal: AbortSignal): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN);
  const answer = await fetch(`/api/v1/${path}`, {
    signal,
    headers: token === null ? {} : { Authorization: `Bearer ${token}` },
  });
  if (answer.status === 401) throw new Locked();
  if (answer.status === 404) throw new Gone();
  if (!answer.ok) throw new Error(`the watcher answered ${answer.status}`);
  return answer;
}

const document = async <T>(path: string, signal: AbortSignal): Promise<T> =>
  (await ask(path, signal)).json() as Promise<T>;

const jobPath = (job: string): string => `jobs/${encodeURIComponent(job)}`;

export const getJobs = (signal: AbortSignal): Promise<Jobs> => document('jobs', signal);
export const getJob = (job: string, signal: AbortSignal): Promise<Job> => document(jobPath(job), signal);
export const getIncidents = (job: string, signal: AbortSignal): Promise<Incidents> =>
  document(`${jobPath(job)}/incidents`, signal);

export async function getTile(job: string, metric: Metric, columns: number, signal: AbortSignal): Promise<Tile> {
  return decode(await document<HeatDocument>(`${jobPath(job)}/heat?metric=${metric}&steps=${columns}`, signal));
}

/**
 * Reads the stream until it ends or fails. By fetch, because EventSource cannot send a token; what was missed need not be
 * sent again, because the page fetches what it shows when it comes back.
 */
export async function readStream(signal: AbortSignal, tell: (event: StreamEvent) => void): Promise<void> {
  const answer = await ask('stream', signal);
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (let part = await reader.read(); !part.done; part = await reader.read()) parser.push(part.value).forEach(tell);
}
