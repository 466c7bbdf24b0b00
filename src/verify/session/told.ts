import type { Json, Pointer } from '../../document/document.ts';
import type { Flaw } from '../exchange/claim.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Replayed, Suspect } from './replay.ts';

/** One exchange: what of it matters is marked. */
export interface ExchangeTold {
  readonly request: readonly LineTold[];
  readonly answer: readonly LineTold[];
}

export interface LineTold {
  readonly text: string;
  /** Whether it is about what was promised. */
  readonly matters?: boolean;
}

/** So many of the judged exchanges are shown, the last ones, and so many lines of a body. */
const exchangesMost = 3;
const linesMost = 24;
const lineLengthMost = 200;

/** The exchanges that a claim was judged by, with a mark at every line that is about what was promised. */
export function tellExchanges({ claim, steps }: Suspect, { results }: Replayed, flaw: Flaw, at: Pointer): ExchangeTold[] {
  const judged = claim.of.map(({ step }) => results[step]).filter(isExchange);
  const told = judged.length > 0 ? judged : [...steps.keys()].map((step) => results[step]).filter(isExchange);
  const words = wordsOf(claim.fact.subject, flaw, at);
  return [...new Set(told)].slice(-exchangesMost).map((exchange) => tellExchange(exchange, words));
}

function tellExchange(exchange: TrialExchange, words: ReadonlySet<string>): ExchangeTold {
  const { sent, caller, status, trouble } = exchange;
  const [path = '', query] = sent.target.split(/\?(.*)/s);
  const secret = caller?.credential;
  const parameters = (query ?? '').split('&').filter((pair) => pair !== '');
  const shown = parameters.map((pair) =>
    secret?.in === 'query' && pair.startsWith(`${encodeURIComponent(secret.carrier)}=`)
      ? `${secret.carrier}=${placeholder(exchange)}`
      : pair,
  );
  const target = shown.length === 0 ? path : `${path}?${shown.join('&')}`;
  const headers = Object.entries(sent.headers).map(([name, value]) => {
    const isSecret =
      (secret?.in === 'header' && name === secret.carrier.toLowerCase()) || (secret?.in === 'cookie' && name === 'cookie');
    return line(`${name}: ${isSecret ? placeholder(exchange) : value}`, words, name);
  });
  const isAboutQuery = parameters.some((pair) => words.has(wordIn(pair.split('=')[0] ?? '')));
  const request = [{ ...line(`${sent.method} ${target}`, words), ...(isAboutQuery && { matters: true }) }, ...headers];
  return {
    request: [...request, ...bodyLines(sent.json, sent.text ?? '', words)],
    answer: trouble
      ? [{ text: trouble.message, matters: true }]
      : [
          { text: String(status), ...(words.has(String(status)) && { matters: true }) },
          ...answerHeaders(exchange, words),
          ...bodyLines(exchange.body, exchange.text, words),
        ],
  };
}

/** What stands for a credential, which is nobody's to print. */
function placeholder({ caller }: TrialExchange): string {
  return `(the credential of ${caller?.name ?? 'nobody'})`;
}

/** Headers of an answer that are about what was promised, and those that say what the body is. */
function answerHeaders({ headers }: TrialExchange, words: ReadonlySet<string>): LineTold[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const told = line(`${name}: ${value}`, words, name);
    return told.matters || usual.has(name) ? [told] : [];
  });
}

const usual: ReadonlySet<string> = new Set(['content-type', 'location', 'retry-after', 'etag', 'www-authenticate', 'allow']);

/** A body as JSON of one member a line, cut around what matters. */
function bodyLines(json: Json | undefined, text: string, words: ReadonlySet<string>): LineTold[] {
  if (text === '') return [];
  const written = json === undefined || typeof json !== 'object' ? text : JSON.stringify(json, undefined, 2);
  const all = written.split('\n', linesScanned).map((one) => line(one, words, /^\s*"([^"]{1,80})":/.exec(one)?.[1]));
  if (all.length <= linesMost) return all;
  const first = Math.max(0, all.findIndex(({ matters }) => matters) - Math.floor(linesMost / 3));
  const cut = all.slice(first, first + linesMost);
  return [...(first > 0 ? [{ text: '…' }] : []), ...cut, ...(first + linesMost < all.length ? [{ text: '…' }] : [])];
}

/** A body is looked through no further. */
const linesScanned = 2_000;

/** A line, cut where it is long; it matters where it is about one of the words. */
function line(text: string, words: ReadonlySet<string>, name?: string): LineTold {
  const cut = text.length > lineLengthMost ? `${text.slice(0, lineLengthMost)}…` : text;
  return name !== undefined && words.has(wordIn(name)) ? { text: cut, matters: true } : { text: cut };
}

/** The names that a promise is about: what the fact is named for, and the words in what was promised and seen. */
function wordsOf(subject: string, { promised, seen }: Flaw, at: Pointer): ReadonlySet<string> {
  const field = subject.includes('.') ? subject.slice(subject.lastIndexOf('.') + 1) : '';
  const place = at.split('/').at(-1) ?? '';
  // What follows a brace is an answer as it came, of which everything would matter.
  const said = [promised, seen]
    .map((text) => text.slice(0, wordsMost).replace(/[{[].*/s, ''))
    .join(' ')
    .split(/[^\w-]+/);
  return new Set([field, place, ...said].map(wordIn).filter((word) => word.length > 1 && !plain.has(word)));
}

const wordsMost = 400;

function wordIn(text: string): string {
  return text.toLowerCase();
}

/** Words that promises are made of, and members of every second body too. */
const plain: ReadonlySet<string> = new Set([
  'is',
  'the',
  'of',
  'to',
  'it',
  'as',
  'not',
  'no',
  'none',
  'and',
  'or',
  'in',
  'by',
  'for',
  'with',
  'was',
  'are',
  'an',
  'be',
  'at',
]);
