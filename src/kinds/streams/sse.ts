import type { StreamedEvent, StreamKind, StreamReader } from './kind.ts';

/** Server-sent events (WHATWG HTML section 9.2). */
export const sse = {
  word: 'sse',
  meaning: 'Server-sent events: `id` is that of the event, `event` its kind, `data` the message.',
  mediaType: 'text/event-stream',
  resumeHeader: 'Last-Event-ID',
  write: ({ id, event, data }) => `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`,
  comment: ':\n\n',
  reader: () => new EventStreamReader(),
  nearMisses: ({ id, event, data }) => [
    { how: 'nothing ends it', text: `id: ${id}\nevent: ${event}\ndata: ${data}\n` },
    { how: 'it says nothing', text: `id: ${id}\nevent: ${event}\n\n` },
    { how: 'its fields have other names', text: `ID: ${id}\nEVENT: ${event}\nDATA: ${data}\n\n` },
    { how: 'it has no kind', text: `id: ${id}\ndata: ${data}\n\n` },
  ],
} as const satisfies StreamKind;

/** Reads `text/event-stream` piece by piece (WHATWG HTML section 9.2.6). Comments and unknown fields are passed over. */
export class EventStreamReader implements StreamReader {
  #rest = '';
  #isFirst = true;
  #id = '';
  #event = '';
  #data: string[] = [];
  /** How many comments came, which is how a service shows that it is still there. */
  comments = 0;

  /** The events that this piece completes. */
  push(text: string): StreamedEvent[] {
    this.#rest += text;
    if (this.#isFirst && this.#rest !== '') {
      this.#rest = this.#rest.replace(/^\uFEFF/, '');
      this.#isFirst = false;
    }
    const heard: StreamedEvent[] = [];
    for (;;) {
      const end = /\r\n|\n|\r/.exec(this.#rest);
      // A return at the very end may be the first half of a line end.
      if (!end || (end[0] === '\r' && end.index === this.#rest.length - 1)) return heard;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const done = this.#line(line);
      if (done) heard.push(done);
    }
  }

  #line(line: string): StreamedEvent | undefined {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) {
      this.comments += 1;
      return undefined;
    }
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    return undefined;
  }

  #dispatch(): StreamedEvent | undefined {
    const heard = this.#data.length === 0 ? undefined : { id: this.#id, event: this.#event, data: this.#data.join('\n') };
    this.#data = [];
    this.#event = '';
    return heard;
  }
}
