import type { StreamKind } from './kind.ts';
import { EventStreamReader } from './sse-reader.ts';

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
