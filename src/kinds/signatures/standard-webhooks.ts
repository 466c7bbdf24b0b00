import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { isSameSignature, type Received, type SignatureKind, type Signed, timeFlaw, usualMisses } from './kind.ts';

/** Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp`, and a `v1` signature for each secret in `webhook-signature`. */
export const standardWebhooks = {
  word: 'standard-webhooks',
  meaning: 'Standard Webhooks 1.0.0: the secret is `whsec_` and the base64 of 24 to 64 bytes.',
  members: {},
  problems: () => [],
  usesSecret: () => true,
  compile: () => ({ sign }),
  flaw: (_facts, received, secret, nowSeconds) => flawOf(received, secret, nowSeconds),
  nearMisses: (_facts, good) => [
    ...usualMisses(good, ['webhook-id', 'webhook-timestamp', 'webhook-signature']),
    ...altered(good),
  ],
  headers: () => [
    { name: 'webhook-id', description: 'The event’s own identifier, the same over all tries (Standard Webhooks 1.0.0).' },
    { name: 'webhook-timestamp', description: 'When this try was sent, in whole seconds since 1970.', pattern: '^[0-9]+$' },
    {
      name: 'webhook-signature',
      description:
        '`v1,` and the base64 of an HMAC-SHA256 over `{id}.{timestamp}.{body}`; one for each secret that is good, parted by spaces.',
      pattern: '^v1,[A-Za-z0-9+/]+=*( v1,[A-Za-z0-9+/]+=*)*$',
    },
  ],
  idHeader: 'webhook-id',
  compare: () => 'same',
} as const satisfies SignatureKind;

function sign({ id, timestamp, body }: Signed, secrets: readonly string[]) {
  const content = `${id}.${timestamp}.${body}`;
  const entries: string[] = [];
  for (const secret of secrets) {
    const key = keyOf(secret);
    if (key === undefined) return { wrong: 'The secret is not `whsec_` and the base64 of 24 to 64 bytes.' };
    entries.push(`v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  }
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': entries.join(' ') };
}

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

/** One of the signatures has to be the HMAC of `id.timestamp.body`. */
function flawOf({ headers, text, id: ofEvent }: Received, secret: string, nowSeconds: number | undefined): string | undefined {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const lacking = names.filter((name) => headers[name] === undefined || headers[name] === '');
  if (lacking.length > 0) return `there is no ${lacking.join(' and no ')}`;
  const [id = '', timestamp = '', entries = ''] = names.map((name) => headers[name]);
  if (ofEvent !== undefined && id !== ofEvent) return `webhook-id is ${id}, and the event is ${ofEvent}`;
  const late = timeFlaw('webhook-timestamp', timestamp, nowSeconds);
  if (late !== undefined) return late;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const wanted = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest();
  const given = entries.split(' ').flatMap((entry) => (entry.startsWith('v1,') ? [entry.slice('v1,'.length)] : []));
  return given.some((one) => isSameSignature(Buffer.from(one, 'base64'), wanted))
    ? undefined
    : `webhook-signature is ${entries}, and with the secret it would be v1,${wanted.toString('base64')}`;
}

/** Signatures of another form, of another time or for another event. */
function altered(good: Received) {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': value = '' } = good.headers;
  const withHeader = (name: string, text: string) => ({ ...good, headers: { ...good.headers, [name]: text } });
  const hex = value.replace(/v1,([^ ]*)/g, (_, base64: string) => `v1,${Buffer.from(base64, 'base64').toString('hex')}`);
  return [
    { how: 'its id is that of another event', received: withHeader('webhook-id', `${id}x`) },
    { how: 'its time is another', received: withHeader('webhook-timestamp', String(Number(time) + 1)) },
    { how: 'its time is in milliseconds', received: withHeader('webhook-timestamp', `${time}000`) },
    { how: 'its signature has no version', received: withHeader('webhook-signature', value.replaceAll('v1,', '')) },
    { how: 'its signature is of another version', received: withHeader('webhook-signature', value.replaceAll('v1,', 'v2,')) },
    { how: 'its signature is hexadecimal', received: withHeader('webhook-signature', hex) },
  ];
}
