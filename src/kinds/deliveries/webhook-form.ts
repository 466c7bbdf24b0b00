import type { Json } from '../../document/document.ts';
import type { PushKind } from './kind.ts';
import { webhook } from './webhook.ts';

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
