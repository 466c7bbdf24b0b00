import { hash } from 'node:crypto';
import { isToken } from '../http-token.ts';
import { keyIdPattern, noncePattern, type SignedHead } from './signing.ts';

/** What the words of a signed request's header fields stand for; `timestamp` is the time as it is written, `atMs` what it says. */
export interface Filled {
  readonly key_id: string;
  readonly nonce: string;
  readonly hmac: string;
  readonly timestamp?: string;
  /** Milliseconds since 1970. */
  readonly atMs: string;
}

/** The words of a template, `timestamp:ms` for `{timestamp:ms}`. */
export function templateWords(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, word = '']) => word);
}

/** The template of a header field's value: words with text between them. */
export interface ValueTemplate {
  /** One text more than words: those before, between and behind them. */
  readonly texts: readonly string[];
  readonly words: readonly string[];
  /** An HMAC of its form. */
  readonly sampleHmac: string;
}

const hmacWord = /^hmac-(sha256|sha512):(hex|base64)$/;
const timeWord = /^timestamp(?::(?:ms|http-date))?$/;

/** Reads the template of a value; or says what is wrong with it. */
export function valueTemplate(text: string): ValueTemplate | { readonly wrong: string } {
  const words = templateWords(text);
  const strange = words.find((word) => word !== 'key_id' && word !== 'nonce' && !timeWord.test(word) && !hmacWord.test(word));
  if (strange !== undefined) return { wrong: `\`{${strange}}\` is no word of a signature's header.` };
  const texts = text.split(/\{[^{}]*\}/);
  if (texts.slice(1, -1).includes('')) return { wrong: 'Two words stand there with nothing between them.' };
  if (!/^[\t\x20-\x7e]*$/.test(text)) return { wrong: 'A header has visible characters of ASCII.' };
  const [, name = 'sha256', form] = words.map((word) => hmacWord.exec(word)).find((found) => found !== null) ?? [];
  return { texts, words, sampleHmac: hash(name, '', form === 'base64' ? 'base64' : 'hex') };
}

/** Writes a value. */
export function fillValue({ texts, words }: ValueTemplate, filled: Filled): string {
  return texts.reduce((whole, text, at) => `${whole}${textOf(words[at - 1] ?? '', filled)}${text}`);
}

function textOf(word: string, filled: Filled): string {
  if (word === 'key_id' || word === 'nonce') return filled[word];
  if (word.startsWith('hmac-')) return filled.hmac;
  const ms = Number(filled.atMs);
  if (word === 'timestamp:http-date') return new Date(ms).toUTCString();
  return String(word === 'timestamp:ms' ? Math.floor(ms) : Math.floor(ms / 1000));
}

/** Reads a value into what its words stand for; whether it is of the template. Each text is looked for once, so that it takes time in proportion. */
export function readValue({ texts, words }: ValueTemplate, value: string, into: Partial<Record<keyof Filled, string>>): boolean {
  const [first = ''] = texts;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const [index, word] of words.entries()) {
    const next = texts[index + 1] ?? '';
    const isLast = index === words.length - 1;
    const end = next === '' ? value.length : isLast ? value.length - next.length : value.indexOf(next, at);
    if (end < at || !value.startsWith(next, end) || !take(word, value.slice(at, end), into)) return false;
    at = end + next.length;
  }
  return at === value.length;
}

/** Takes what stands for a word; whether it may. */
function take(word: string, text: string, into: Partial<Record<keyof Filled, string>>): boolean {
  if (word === 'key_id' || word === 'nonce') {
    into[word] = text;
    return (word === 'key_id' ? keyIdPattern : noncePattern).test(text);
  }
  const [, name, form] = hmacWord.exec(word) ?? [];
  if (name !== undefined) {
    into.hmac = text;
    const length = name === 'sha512' ? 64 : 32;
    return form === 'hex' ? text.length === 2 * length && /^[0-9a-fA-F]+$/.test(text) : isBase64(text, length);
  }
  const ms = timeOf(word, text);
  into.timestamp = text;
  into.atMs = String(ms);
  return ms !== undefined;
}

function isBase64(text: string, length: number): boolean {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length && bytes.toString('base64') === text;
}

/** The time that a text says, in milliseconds since 1970; nothing where it is not of the form. */
function timeOf(word: string, text: string): number | undefined {
  if (word === 'timestamp:http-date') {
    const ms = text.length === 29 ? Date.parse(text) : Number.NaN;
    return Number.isFinite(ms) && new Date(ms).toUTCString() === text ? ms : undefined;
  }
  if (!/^[0-9]{1,15}$/.test(text)) return undefined;
  return word === 'timestamp:ms' ? Number(text) : Number(text) * 1000;
}

type Part = (head: SignedHead, said: Partial<Record<keyof Filled, string>>, body: Uint8Array) => string | Uint8Array | undefined;

/** What is signed of a request, by its template. */
export const fillSigned = {
  /** Whether a word can stand in it. */
  knows: (word: string): boolean => partOf(word) !== undefined,
  /** The header fields that it names, in small letters. */
  headers: (template: string): string[] =>
    templateWords(template).flatMap((word) => (word.startsWith('header:') ? [word.slice('header:'.length).toLowerCase()] : [])),
  /** The bytes that are signed; nothing where a header field that is signed did not come. */
  compile(template: string) {
    const texts = template.split(/\{[^{}]*\}/);
    const parts = templateWords(template).map((word) => partOf(word) ?? nowhere);
    return (head: SignedHead, said: Partial<Record<keyof Filled, string>>, body: Uint8Array): Uint8Array | undefined => {
      const pieces: Uint8Array[] = [];
      for (const [at, text] of texts.entries()) {
        if (at > 0) {
          const piece = parts[at - 1]?.(head, said, body);
          if (piece === undefined) return undefined;
          pieces.push(typeof piece === 'string' ? Buffer.from(piece) : piece);
        }
        pieces.push(Buffer.from(text));
      }
      return Buffer.concat(pieces);
    };
  },
} as const;

const nowhere: Part = () => undefined;

const plain: Readonly<Record<string, Part>> = {
  method: ({ method }) => method,
  path: ({ path }) => path,
  query: ({ query }) => query,
  target: ({ path, query }) => (query === '' ? path : `${path}?${query}`),
  host: (head) => head.header('host'),
  key_id: (_head, { key_id }) => key_id,
  timestamp: (_head, { timestamp }) => timestamp,
  nonce: (_head, { nonce }) => nonce,
  body: (_head, _said, body) => body,
};

function partOf(word: string): Part | undefined {
  if (Object.hasOwn(plain, word)) return plain[word];
  const [, name, form] = /^body-(sha256|sha512):(hex|base64)$/.exec(word) ?? [];
  if (name !== undefined) return (_head, _said, body) => hash(name, body, form === 'hex' ? 'hex' : 'base64');
  const field = word.startsWith('header:') ? word.slice('header:'.length).toLowerCase() : '';
  return isToken(field) ? (head) => head.header(field) : undefined;
}
