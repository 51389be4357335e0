// One stream for the page: opened again when it breaks, closed while nobody looks.
import { Locked, readStream } from './api';
import type { StreamEvent } from './sse';

export type State = 'connecting' | 'live' | 'blind' | 'paused' | 'locked';

/** The watcher tells its status each second; silent for this long it is not there. */
const SILENT_MS = 5000;
const RETRY_MS = 1000;
const RETRY_MOST_MS = 10000;

export class Connection {
  state: State = 'connecting';
  /** When the watcher was last heard, as Date.now(); 0: never. */
  heard = 0;
  private abort: AbortController | undefined;
  private retry = RETRY_MS;
  private timer = 0;

  constructor(
    private readonly onEvent: (event: StreamEvent) => void,
    private readonly onState: () => void,
  ) {
    window.setInterval(() => this.check(), 1000);
    window.document.addEventListener('visibilitychange', () => (window.document.hidden ? this.pause() : this.open()));
  }

  open(): void {
    this.drop();
    if (this.state !== 'blind') this.become('connecting');
    const abort = new AbortController();
    this.abort = abort;
    void this.run(abort.signal);
  }

  private async run(signal: AbortSignal): Promise<void> {
    let why: unknown;
    try {
      await readStream(signal, (event) => this.take(event));
    } catch (error) {
      why = error;
    }
    if (signal.aborted) return;
    if (why instanceof Locked) {
      this.become('locked');
      return;
    }
    this.become('blind');
    this.timer = window.setTimeout(() => this.open(), this.retry);
    this.retry = Math.min(2 * this.retry, RETRY_MOST_MS);
  }

  private take(event: StreamEvent): void {
    this.heard = Date.now();
    this.retry = RETRY_MS;
    this.become('live');
    this.onEvent(event);
  }

  private check(): void {
    if (this.state === 'live' && Date.now() - this.heard > SILENT_MS) this.state = 'blind';
    this.onState();
  }

  private pause(): void {
    this.drop();
    if (this.state !== 'locked') this.become('paused');
  }

  private drop(): void {
    this.abort?.abort();
    window.clearTimeout(this.timer);
  }

  private become(state: State): void {
    const changed = this.state !== state;
    this.state = state;
    if (changed) this.onState();
  }
}
