import { compareBy } from '../comparison.ts';
import type { PullKind } from './kind.ts';

/** Whoever listens keeps a connection open, over which events come as they happen. */
export const stream = {
  manner: 'pull',
  word: 'stream',
  meaning: 'Whoever listens keeps a connection open, over which events come as they happen.',
  noun: 'The stream of events',
  operation: 'stream events',
  method: 'GET',
  problems: ({ method, path }) =>
    method === 'GET' && path.startsWith('/')
      ? []
      : [{ code: 'events/stream-path', message: `\`${method} ${path}\` cannot be streamed.`, at: ['path'] }],
  usualKeepMs: 86_400_000,
  beatMs: 15_000,
  headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no' },
  channel: {
    key: 'stream',
    title: 'Stream',
    description: 'Events as they happen.',
    operation: 'streamEvents',
    summary: 'Streams events to whoever is connected.',
  },
  compare(before, after) {
    if (before.method !== after.method || before.path !== after.path) return 'other';
    return compareBy(before, after, (inner, outer) => keptMs(inner.keepMs) <= keptMs(outer.keepMs));
  },
} as const satisfies PullKind;

function keptMs(keepMs: number | undefined): number {
  return keepMs ?? stream.usualKeepMs;
}
