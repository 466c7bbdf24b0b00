import { createHmac } from 'node:crypto';
import type { Comparison } from '../comparison.ts';
import { isToken } from '../http-token.ts';
import type { Problem } from '../member.ts';
import {
  isSameSignature,
  type Received,
  type Signature,
  type SignatureFacts,
  type SignatureKind,
  type Signed,
  timeFlaw,
  usualMisses,
} from './kind.ts';

/**
 * A signature of one's own: `{ header, value: "t={timestamp},v1={hmac-sha256:hex}", signs: "{timestamp}.{body}" }`. The secret is
 * the key as it is written. While two secrets are good, the parts of the value that hold a signature, between commas, stand once
 * for each; a value that is one part alone is signed with the newest.
 */
export const template = {
  word: 'own-template',
  meaning: 'A signature of one’s own, written as a template of its header field and of what is signed.',
  members: {
    header: { form: { type: 'string', description: 'The header field that carries it.' } },
    value: { form: { type: 'string', description: 'What stands there: t={timestamp},v1={hmac-sha256:hex}.' } },
    signs: { form: { type: 'string', description: 'What is signed: {timestamp}.{body}.' } },
  },
  problems,
  usesSecret: ({ value = '' }) => /\{hmac/.test(value),
  compile,
  flaw: flawOf,
  nearMisses: ({ header = '', value = '' }, good) => [
    ...usualMisses(good, [header.toLowerCase()]),
    ...altered(header.toLowerCase(), value, good),
  ],
  headers: ({ header = '', value = '', signs = '' }) => [
    { name: header, description: `\`${value}\`, which signs \`${signs}\`.` },
  ],
  compare,
} as const satisfies SignatureKind;

const code = 'events/signature-template';
const hmac = /^hmac-sha(?:1|256|512):(?:hex|base64)$/;

function problems(facts: SignatureFacts): Problem[] {
  const { header = '', value = '', signs = '' } = facts;
  const strange = (['value', 'signs'] as const).flatMap((member) =>
    [...(facts[member] ?? '').matchAll(/\{([^{}]*)\}/g)]
      .map(([, word = '']) => word)
      .filter((word) => !['timestamp', 'id', 'body'].includes(word) && !(member === 'value' && hmac.test(word)))
      .map((word) => ({ code, message: `\`{${word}}\` is no word of a signature.`, at: [member] })),
  );
  if (strange.length > 0) return strange;
  const wrong = (message: string, member: string): Problem => ({ code, message, at: [member] });
  return [
    ...(/\{hmac/.test(value) ? [] : [wrong('The value has no HMAC in it, so nothing is signed.', 'value')]),
    ...(signs.includes('{body}') ? [] : [wrong('The body is not among what is signed.', 'signs')]),
    ...(isToken(header) ? [] : [wrong(`\`${header}\` is no header name.`, 'header')]),
  ];
}

function compile({ header = '', value = '', signs = '' }: SignatureFacts): Signature {
  const parts = value.split(',');
  const name = header.toLowerCase();
  return {
    sign(signed, secrets) {
      const [newest] = secrets;
      if (newest === undefined || newest === '') return { wrong: 'There is no secret to sign with.' };
      const content = fill(signs, signed, '', newest);
      const filled = parts.flatMap((part) => {
        const keys = parts.length > 1 && part.includes('{hmac-') ? secrets : [newest];
        return keys.map((secret) => fill(part, signed, content, secret));
      });
      return { [name]: filled.join(',') };
    },
  };
}

const words = /\{(?:(timestamp|id|body)|hmac-(sha1|sha256|sha512):(hex|base64))\}/g;

function fill(text: string, { id, timestamp, body }: Signed, content: string, secret: string): string {
  return text.replace(words, (_, word: string | undefined, hash: string, form: 'hex' | 'base64') => {
    if (word === undefined) return createHmac(hash, secret).update(content).digest(form);
    return word === 'body' ? body : word === 'id' ? id : String(timestamp);
  });
}

/** The value is read by its template, and each HMAC in it made again. */
function flawOf(facts: SignatureFacts, received: Received, secret: string, nowSeconds: number | undefined): string | undefined {
  const { header = '', value: whole = '', signs = '' } = facts;
  const value = received.headers[header.toLowerCase()];
  if (value === undefined) return `there is no ${header}`;
  // While two secrets are good, the parts that hold an HMAC stand once for each.
  const parts = whole.split(',');
  const given = parts.length === 1 ? [value] : value.split(',');
  const read = given.map((one) => parts.map((part) => readBy(part.trim(), one.trim())).find((found) => found !== undefined));
  const lacksPart = parts.some((part) => !given.some((one) => readBy(part.trim(), one.trim())));
  if (lacksPart || read.some((one) => one === undefined)) return `${header} is ${value}, which is not of the form ${whole}`;
  const found = Object.assign({}, ...read) as Readonly<Record<string, string>>;
  const timestamp = found.timestamp;
  if (timestamp !== undefined) {
    const late = timeFlaw(`the timestamp in ${header}`, timestamp, nowSeconds);
    if (late !== undefined) return late;
  }
  if (found.id !== undefined && received.id !== undefined && found.id !== received.id)
    return `the id in ${header} is ${found.id}, and the event is ${received.id}`;
  const content = filled(signs, { timestamp, id: found.id ?? received.id, body: received.text });
  // What is signed holds something that no receiver is told.
  if (content === undefined) return undefined;
  const hmacs = read.flatMap((one) => Object.entries(one ?? {}).filter(([name]) => name.includes(':')));
  if (hmacs.length === 0) return `${header} is ${value}, and has no HMAC in it`;
  return hmacs.some(([name, one]) => isHmac(name, one, content, secret))
    ? undefined
    : `${header} is ${value}, and no HMAC in it is that of ${signs} with the secret`;
}

function isHmac(name: string, given: string, content: string, secret: string): boolean {
  const [hash = '', form] = name.split(':');
  const wanted = createHmac(hash, secret)
    .update(content)
    .digest(form === 'hex' ? 'hex' : 'base64');
  return isSameSignature(Buffer.from(form === 'hex' ? given.toLowerCase() : given), Buffer.from(wanted));
}

/** The values of a template's words in a text; nothing where the text is not of its form. */
function readBy(part: string, text: string): Record<string, string> | undefined {
  const names: string[] = [];
  let pattern = '';
  let end = 0;
  for (const match of part.matchAll(words)) {
    names.push(match[1] ?? `${match[2]}:${match[3]}`);
    const form =
      match[1] === 'timestamp' ? '([0-9]+)' : match[1] ? '(.+?)' : match[3] === 'hex' ? '([0-9a-fA-F]+)' : '([A-Za-z0-9+/=]+)';
    pattern += RegExp.escape(part.slice(end, match.index)) + form;
    end = match.index + match[0].length;
  }
  const found = new RegExp(`^${pattern}${RegExp.escape(part.slice(end))}$`).exec(text);
  return found ? Object.fromEntries(names.map((name, at) => [name, found[at + 1] ?? ''])) : undefined;
}

function filled(text: string, known: Readonly<Record<string, string | undefined>>): string | undefined {
  let isKnown = true;
  const whole = text.replace(words, (_, word: string | undefined) => {
    const value = word === undefined ? undefined : known[word];
    if (value === undefined) isKnown = false;
    return value ?? '';
  });
  return isKnown ? whole : undefined;
}

/** Values of another time, and values that are cut off. */
function altered(name: string, value: string, good: Received) {
  const given = good.headers[name] ?? '';
  const instead = (text: string) => ({ ...good, headers: { ...good.headers, [name]: text } });
  const later = value.includes('{timestamp}') ? given.replace(/\d{9,}/, (time) => String(Number(time) + 1000)) : given;
  return [
    { how: 'its value is cut off', received: instead(given.slice(0, -1)) },
    { how: 'its value is of another form', received: instead(`x${given}`) },
    ...(later === given ? [] : [{ how: 'its time is another', received: instead(later) }]),
  ];
}

/** A receiver who reads one of two templates cannot read the other. */
function compare(before: SignatureFacts, after: SignatureFacts): Comparison {
  const isSameHeader = before.header?.toLowerCase() === after.header?.toLowerCase();
  return isSameHeader && before.value === after.value && before.signs === after.signs ? 'same' : 'other';
}
