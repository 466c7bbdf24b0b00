import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Signature } from './kind.ts';

/** Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp`, and a `v1` signature for each secret in `webhook-signature`. */
export const standardWebhooks: Signature = {
  sign({ id, timestamp, body }, secrets) {
    const content = `${id}.${timestamp}.${body}`;
    const entries: string[] = [];
    for (const secret of secrets) {
      const key = keyOf(secret);
      if (key === undefined) return { wrong: 'The secret is not `whsec_` and the base64 of 24 to 64 bytes.' };
      entries.push(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
    }
    return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': entries.join(' ') };
  },
};

// Made once: to sign with bytes costs several times as much.
const known = new Map<string, KeyObject>();

/** The bytes that a secret stands for; the prefix may be left out. */
function keyOf(secret: string): KeyObject | undefined {
  const found = known.get(secret);
  if (found) return found;
  const text = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : secret;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length < 24 || bytes.length > 64) return undefined;
  const key = createSecretKey(bytes);
  if (known.size >= 1024) known.clear();
  known.set(secret, key);
  return key;
}
