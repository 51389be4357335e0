// Server-sent events out of pieces of text. No DOM here.

export interface StreamEvent {
  name: string;
  data: string;
}

export class EventParser {
  private rest = '';
  private name = '';
  private data: string[] = [];

  /** The events that `text` completes. */
  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    for (const ended of lines) {
      const line = ended.endsWith('\r') ? ended.slice(0, -1) : ended;
      if (line !== '') this.take(line);
      else if (this.data.length > 0 || this.name !== '') events.push(this.finish());
    }
    return events;
  }

  private take(line: string): void {
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') this.name = value;
    else if (field === 'data') this.data.push(value);
  }

  private finish(): StreamEvent {
    const event = { name: this.name || 'message', data: this.data.join('\n') };
    this.name = '';
    this.data = [];
    return event;
  }
}
