import type { Json } from '../../document/document.ts';
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

const mediaType = 'application/x-www-form-urlencoded';

/** Each event is posted to the address of every subscriber as a form, whose one member `payload` holds its JSON. */
export const webhookForm = {
  manner: 'push',
  word: 'webhook_form',
  meaning: 'Each event is posted to the address of every subscriber as a form, whose one member `payload` is its JSON.',
  noun: 'web hooks',
  method: 'POST',
  mediaType,
  write: (json) => `payload=${encodeURIComponent(json)}`,
  read,
  usual: webhook.usual,
  verdict: webhook.verdict,
  flaw({ method, headers }) {
    if (method !== 'POST') return { promised: 'web hooks are sent by POST', seen: method };
    const type = headers['content-type'] ?? 'none';
    return /^application\/x-www-form-urlencoded(?:\s*;.*)?$/i.test(type)
      ? undefined
      : { promised: 'web hooks are forms', seen: `Content-Type: ${type}` };
  },
  nearMisses: [
    { how: 'it is put', came: { method: 'PUT', headers: { 'content-type': mediaType } } },
    { how: 'it is JSON', came: { method: 'POST', headers: { 'content-type': 'application/json' } } },
    { how: 'it does not say what it is', came: { method: 'POST', headers: {} } },
  ],
  channel: {
    key: 'webhookForms',
    title: 'Web hooks',
    description: 'Events are posted as forms to the address of every subscriber; the member `payload` is the event.',
    operation: 'postEventForms',
    summary: 'Posts events to subscribers, as forms.',
  },
  compare: webhook.compare,
} as const satisfies PushKind;

/** What stands in the one member of a form. */
function read(body: string): Json | undefined {
  const members = [...new URLSearchParams(body)];
  const [name, text] = members[0] ?? [];
  if (members.length !== 1 || name !== 'payload' || text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
