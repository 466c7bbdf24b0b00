import { hash } from 'node:crypto';
import type { JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { isToken } from '../http-token.ts';
import type { Problem } from '../member.ts';
import type { SchemeFacts } from './kind.ts';
import { keyIdPattern, noncePattern, type SignedHead } from './signing.ts';
import { commonProblems, isStatedText, tooLittle, wrongAt } from './signing-words.ts';

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

interface Stated {
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signs: string;
  readonly tolerance: string | null;
  readonly replay: string | null;
}

/** What is stated of an HMAC over a request. */
export function statedHmac({ own }: Pick<SchemeFacts, 'own'>): Stated & JsonMap {
  const { value, signs, headers, tolerance, replay } = own;
  const fields = isMap(headers)
    ? Object.entries(headers).flatMap(([name, text]) => (isStatedText(text) ? [[name, text] as const] : []))
    : [];
  return {
    value: isStatedText(value) ? value : '',
    signs: isStatedText(signs) ? signs : '',
    headers: Object.fromEntries(fields),
    tolerance: isStatedText(tolerance) ? tolerance : null,
    replay: isStatedText(replay) ? replay : null,
  };
}

/** What is wrong with how an HMAC over a request is stated. */
export function hmacProblems(facts: SchemeFacts & { readonly carriedIn?: string }, words: readonly string[]): Problem[] {
  const { value, signs, headers, replay } = statedHmac(facts);
  const missing = (['value', 'signs'] as const).filter((word) => !words.includes(word));
  if (missing.length > 0)
    return missing.map((word) =>
      word === 'value'
        ? wrongAt(
            `Nothing says what stands in the header of \`${facts.name}\`.`,
            'Add `value: "t={timestamp},v1={hmac-sha256:hex}"`.',
          )
        : wrongAt(`Nothing says what \`${facts.name}\` signs.`, 'Add `signs: "{method}\\n{target}\\n{timestamp}\\n{body}"`.'),
    );
  // Left open, or given up: what is not known is not judged.
  if (!isStatedText(facts.own.value) || !isStatedText(facts.own.signs)) return commonProblems(facts);
  const templates: readonly (readonly [at: readonly string[], text: string])[] = [
    [['value'], value],
    ...Object.entries(headers).map(([name, text]) => [['headers', name], text] as const),
  ];
  const unread = templates.flatMap(([at, text]) => {
    const read = valueTemplate(text);
    return 'wrong' in read ? [wrongAt(read.wrong, valueRemedy, ...at)] : [];
  });
  const strange = templateWords(signs).flatMap((word) =>
    fillSigned.knows(word) ? [] : [wrongAt(`\`{${word}}\` is no word of what is signed.`, signsRemedy, 'signs')],
  );
  const names = Object.keys(headers).flatMap((name, index, all) => {
    if (!isToken(name)) return [wrongAt(`\`${name}\` is no header name.`, 'Write letters, digits and hyphens.', 'headers', name)];
    const others = [facts.carriedIn ?? '', ...all.slice(0, index)].map((other) => other.toLowerCase());
    return others.includes(name.toLowerCase())
      ? [wrongAt(`\`${name}\` carries something else already.`, 'Give it a header field of its own.', 'headers', name)]
      : [];
  });
  if (unread.length + strange.length + names.length > 0) return [...commonProblems(facts), ...unread, ...strange, ...names];
  const carried = templates.flatMap(([, text]) => templateWords(text)).map(plainWord);
  const wrong = [...commonProblems(facts), ...wrongsOf({ value, signs, replay }, carried)];
  const signed = templateWords(signs).map(plainWord);
  return wrong.length > 0 ? wrong : tooLittle(facts.name, signed.includes('method') || signed.includes('body'), 'signs');
}

const valueRemedy =
  'There are {key_id}, {timestamp}, {timestamp:ms}, {timestamp:http-date}, {nonce}, {hmac-sha256:hex} and the like.';
const signsRemedy =
  'There are {method}, {path}, {query}, {target}, {host}, {key_id}, {timestamp}, {nonce}, {body}, {body-sha256:hex} and {header:NAME}.';

/** What is wrong with words that are each known. */
function wrongsOf({ value, signs, replay }: Pick<Stated, 'value' | 'signs' | 'replay'>, carried: readonly string[]): Problem[] {
  const count = (word: string) => carried.filter((one) => one === word).length;
  const signed = new Set(templateWords(signs).map(plainWord));
  const repeated = ['key_id', 'timestamp', 'nonce'].filter((word) => count(word) > 1);
  const unsigned = ['timestamp', 'nonce'].filter((word) => count(word) === 1 && !signed.has(word));
  const untold = ['timestamp', 'nonce', 'key_id'].filter((word) => count(word) === 0 && signed.has(word));
  const hmacs = templateWords(value).filter((word) => word.startsWith('hmac-'));
  return [
    ...(hmacs.length === 1 && count('hmac') === 1
      ? []
      : [wrongAt('One HMAC stands in the value, and none elsewhere.', 'Write `{hmac-sha256:hex}` into it, once.', 'value')]),
    ...(count('key_id') === 0
      ? [
          wrongAt(
            'Nothing says whose key a request is signed with.',
            'Write `{key_id}` into the value, or `headers: { X-Key: "{key_id}" }`.',
            'value',
          ),
        ]
      : []),
    ...repeated.map((word) => wrongAt(`\`{${word}}\` stands there twice.`, 'Keep one of them.', 'value')),
    ...unsigned.map((word) =>
      wrongAt(
        `\`{${word}}\` is told and not signed, so that anybody could change it.`,
        `Add \`{${word}}\` to what is signed.`,
        'signs',
      ),
    ),
    ...untold.map((word) =>
      wrongAt(
        `\`{${word}}\` is signed and not told, so that nobody could judge it.`,
        `Write \`{${word}}\` into the value, or into one of the headers.`,
        'signs',
      ),
    ),
    ...(replay === null || (count('nonce') === 1 && count('timestamp') === 1)
      ? []
      : [wrongAt('What comes again cannot be told.', 'Let a `{nonce}` and a `{timestamp}` be told and signed.', 'replay')]),
  ];
}

/** A word without its form: `timestamp`, `hmac`, `body`. */
export function plainWord(word: string): string {
  return word.replace(/^(hmac|body)-.*/s, '$1').replace(/:.*/s, '');
}
