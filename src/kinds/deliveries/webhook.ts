import { compareBy } from '../comparison.ts';
import type { PushKind, StatedPush } from './kind.ts';

const hourMs = 3_600_000;

/** Each event is posted to the address of every subscriber. */
export const webhook = {
  manner: 'push',
  word: 'webhook',
  meaning: 'Each event is posted to the address of every subscriber.',
  noun: 'web hooks',
  method: 'POST',
  mediaType: 'application/json',
  // The example of Standard Webhooks 1.0.0.
  usual: {
    retryMs: [5_000, 300_000, 1_800_000, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs)],
    timeoutMs: 15_000,
  },
  verdict(status) {
    if (status >= 200 && status < 300) return 'accepted';
    return status === 410 ? 'gone' : 'again';
  },
  flaw({ method, headers }) {
    if (method !== 'POST') return { promised: 'web hooks are sent by POST', seen: method };
    const type = headers['content-type'] ?? 'none';
    return /^application\/(?:[\w.-]+\+)?json\b/i.test(type)
      ? undefined
      : { promised: 'web hooks are JSON', seen: `Content-Type: ${type}` };
  },
  nearMisses: [
    { how: 'it is put', came: { method: 'PUT', headers: { 'content-type': 'application/json' } } },
    { how: 'it is a form', came: { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } } },
    { how: 'it does not say what it is', came: { method: 'POST', headers: {} } },
  ],
  channel: {
    key: 'webhooks',
    title: 'Web hooks',
    description: 'Events are posted to the address of every subscriber.',
    operation: 'postEvents',
    summary: 'Posts events to subscribers.',
  },
  compare: (before, after) => (before.order === after.order ? compareBy(before, after, isWithin) : 'other'),
} as const satisfies PushKind;

/** Whether who takes what comes so takes it the other way too: it is tried at the same times or longer, and waited for as long. */
function isWithin(inner: StatedPush, outer: StatedPush): boolean {
  const endless = Number.POSITIVE_INFINITY;
  return (
    inner.retryMs.every((waitMs, at) => outer.retryMs[at] === waitMs) &&
    (inner.timeoutMs ?? webhook.usual.timeoutMs) <= (outer.timeoutMs ?? webhook.usual.timeoutMs) &&
    (inner.disableAfterMs ?? endless) <= (outer.disableAfterMs ?? endless)
  );
}
