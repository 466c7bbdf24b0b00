import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Webhook } from '../../parts/events.ts';

// The service may be served by our own engine, which signs with `kinds/signatures`: who judges a signature shares no code with it.

/** What is signed, as a receiver has it. */
export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The event's id, where the envelope shows it. */
  readonly id: string | undefined;
}

/** How far the time of a signature may be from now; what Standard Webhooks advises receivers to allow. */
const toleranceSeconds = 300;

/**
 * What is wrong with the signature of a delivery; nothing where it is good. `nowSeconds` is nothing where the clock of the
 * sender is not known, and its time then not looked at.
 */
export function signatureFlaw(
  signature: NonNullable<Webhook['signature']>,
  signed: Signed,
  secret: string,
  nowSeconds: number | undefined,
): string | undefined {
  return signature === 'standard-webhooks'
    ? standardFlaw(signed, secret, nowSeconds)
    : templateFlaw(signature, signed, secret, nowSeconds);
}

/** Standard Webhooks 1.0.0: one of the signatures has to be the HMAC of `id.timestamp.body`. */
function standardFlaw(
  { headers, text, id: ofEvent }: Signed,
  secret: string,
  nowSeconds: number | undefined,
): string | undefined {
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
  return given.some((one) => isSame(Buffer.from(one, 'base64'), wanted))
    ? undefined
    : `webhook-signature is ${entries}, and with the secret it would be v1,${wanted.toString('base64')}`;
}

const words = /\{(?:(timestamp|id|body)|hmac-(sha1|sha256|sha512):(hex|base64))\}/g;

/** A signature of the document's own: its value is read by its template, and each HMAC in it made again. */
function templateFlaw(
  { header, value: template, signs }: Exclude<Webhook['signature'], string | undefined>,
  signed: Signed,
  secret: string,
  nowSeconds: number | undefined,
): string | undefined {
  const value = signed.headers[header.toLowerCase()];
  if (value === undefined) return `there is no ${header}`;
  // While two secrets are good, the parts that hold an HMAC stand once for each.
  const parts = template.split(',');
  const given = parts.length === 1 ? [value] : value.split(',');
  const read = given.map((one) => parts.map((part) => readBy(part.trim(), one.trim())).find((found) => found !== undefined));
  const lacksPart = parts.some((part) => !given.some((one) => readBy(part.trim(), one.trim())));
  if (lacksPart || read.some((one) => one === undefined)) return `${header} is ${value}, which is not of the form ${template}`;
  const found = Object.assign({}, ...read) as Readonly<Record<string, string>>;
  const timestamp = found.timestamp;
  if (timestamp !== undefined) {
    const late = timeFlaw(`the timestamp in ${header}`, timestamp, nowSeconds);
    if (late !== undefined) return late;
  }
  if (found.id !== undefined && signed.id !== undefined && found.id !== signed.id)
    return `the id in ${header} is ${found.id}, and the event is ${signed.id}`;
  const known: Readonly<Record<string, string | undefined>> = { timestamp, id: found.id ?? signed.id, body: signed.text };
  const content = filled(signs, known);
  // What is signed holds something that no receiver is told.
  if (content === undefined) return undefined;
  const hmacs = read.flatMap((one) => Object.entries(one ?? {}).filter(([name]) => name.includes(':')));
  if (hmacs.length === 0) return `${header} is ${value}, and has no HMAC in it`;
  const isGood = hmacs.some(([name, given]) => {
    const [hash = '', form] = name.split(':');
    const wanted = createHmac(hash, secret)
      .update(content)
      .digest(form === 'hex' ? 'hex' : 'base64');
    return isSame(Buffer.from(form === 'hex' ? given.toLowerCase() : given), Buffer.from(wanted));
  });
  return isGood ? undefined : `${header} is ${value}, and no HMAC in it is that of ${signs} with the secret`;
}

/** The values of a template's words in a text; nothing where the text is not of its form. */
function readBy(template: string, text: string): Record<string, string> | undefined {
  const names: string[] = [];
  let pattern = '';
  let end = 0;
  for (const match of template.matchAll(words)) {
    names.push(match[1] ?? `${match[2]}:${match[3]}`);
    const form =
      match[1] === 'timestamp' ? '([0-9]+)' : match[1] ? '(.+?)' : match[3] === 'hex' ? '([0-9a-fA-F]+)' : '([A-Za-z0-9+/=]+)';
    pattern += RegExp.escape(template.slice(end, match.index)) + form;
    end = match.index + match[0].length;
  }
  const found = new RegExp(`^${pattern}${RegExp.escape(template.slice(end))}$`).exec(text);
  return found ? Object.fromEntries(names.map((name, at) => [name, found[at + 1] ?? ''])) : undefined;
}

function filled(template: string, known: Readonly<Record<string, string | undefined>>): string | undefined {
  let isKnown = true;
  const text = template.replace(words, (_, word: string | undefined) => {
    const value = word === undefined ? undefined : known[word];
    if (value === undefined) isKnown = false;
    return value ?? '';
  });
  return isKnown ? text : undefined;
}

function timeFlaw(name: string, text: string, nowSeconds: number | undefined): string | undefined {
  if (!/^\d+$/.test(text)) return `${name} is ${text}, which is no whole number of seconds`;
  if (nowSeconds === undefined || Math.abs(Number(text) - nowSeconds) <= toleranceSeconds) return undefined;
  return `${name} is ${text}, which is more than ${toleranceSeconds} s from ${Math.round(nowSeconds)}`;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
