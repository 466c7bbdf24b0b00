import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { Handshake, HandshakeWords } from './kind.ts';

/** A request as it came to an address. */
export interface CameToAddress {
  readonly method: string;
  readonly query: URLSearchParams;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its JSON; nothing where it carries none. */
  readonly body: Json | undefined;
}

/** What a handshake that came asks with; nothing where it is none. It shares no code with what asks. */
export function wordsIn({ method, parameters, headers, body }: Handshake, came: CameToAddress): HandshakeWords | undefined {
  if (came.method !== method) return undefined;
  const found: { challenge?: string; id?: string } = {};
  const holds = (template: string, text: unknown): boolean => {
    const match = typeof text === 'string' ? patternOf(template).exec(text) : null;
    Object.assign(found, { ...match?.groups });
    return match !== null;
  };
  const isAsked = Object.entries(parameters).every(([name, template]) => holds(template, came.query.get(name)));
  const isHeaded = Object.entries(headers).every(([name, template]) => holds(template, came.headers[name.toLowerCase()]));
  if (!isAsked || !isHeaded || !isLike(body, came.body, holds)) return undefined;
  return { challenge: found.challenge ?? '', id: found.id ?? '' };
}

function isLike(
  template: Json | undefined,
  value: Json | undefined,
  holds: (template: string, text: unknown) => boolean,
): boolean {
  if (template === undefined) return true;
  if (typeof template === 'string') return holds(template, value);
  if (Array.isArray(template))
    return (
      Array.isArray(value) &&
      template.length === value.length &&
      template.every((item: Json, at) => isLike(item, value[at] as Json, holds))
    );
  if (!isMap(template)) return isSame(template, value);
  return (
    isMap(value ?? null) &&
    Object.entries(template).every(([name, item]) => isLike(item, (value as Record<string, Json>)[name], holds))
  );
}

function patternOf(template: string): RegExp {
  const pieces = template.split(/(\{challenge\}|\{id\})/).map((piece) => {
    if (piece === '{challenge}') return '(?<challenge>.+)';
    return piece === '{id}' ? '(?<id>.+)' : RegExp.escape(piece);
  });
  return new RegExp(`^${pieces.join('')}$`, 's');
}

/** An answer to a handshake. */
export interface HandshakeAnswer {
  readonly status: number;
  readonly text: string;
}

/** The right answer. */
export function rightAnswer({ answers: [first = ''] }: Handshake, words: HandshakeWords): HandshakeAnswer {
  const fill = (text: string) => text.split('{challenge}').join(words.challenge).split('{id}').join(words.id);
  if (typeof first === 'string') return { status: 200, text: fill(first) };
  return {
    status: 200,
    text: JSON.stringify(Object.fromEntries(Object.entries(first).map(([name, text]) => [name, fill(text)]))),
  };
}

/** An answer that nearly is the right one. */
export function wrongAnswer(handshake: Handshake, words: HandshakeWords): HandshakeAnswer {
  if (handshake.answers.length === 0) return { status: 500, text: '' };
  return rightAnswer(handshake, { ...words, challenge: [...words.challenge].reverse().join('') });
}

/** The request of a handshake: its query without a question mark, its body as JSON. */
interface HandshakeRequest {
  readonly method: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Writes the request of a handshake. */
export function handshakeRequest({ method, parameters, headers, body }: Handshake, words: HandshakeWords): HandshakeRequest {
  const query = new URLSearchParams(filled(parameters, words) as Record<string, string>);
  return {
    method,
    query: query.toString(),
    headers: filled(headers, words) as Record<string, string>,
    body: body === undefined ? '' : JSON.stringify(filled(body, words)),
  };
}

/** Whether what was answered with success is what has to be: exactly, but for a line end behind it. */
export function isConfirmedBy({ answers }: Handshake, words: HandshakeWords, text: string): boolean {
  if (answers.length === 0) return true;
  return answers.some((answer) => {
    if (typeof answer === 'string') return text.replace(/\r?\n$/, '') === filled(answer, words);
    const given = parsed(text);
    return (
      isMap(given) &&
      Object.entries(answer).every(([name, member]) => Object.hasOwn(given, name) && given[name] === filled(member, words))
    );
  });
}

/** Whether a text of a handshake is another one for each address that is asked. */
export function differsByAddress(text: string): boolean {
  return filled(text, { challenge: '', id: '' }) !== text;
}

/** The value with its words in their places. */
function filled(value: Json, words: HandshakeWords): Json {
  if (typeof value === 'string') return value.replaceAll('{challenge}', words.challenge).replaceAll('{id}', words.id);
  if (Array.isArray(value)) return value.map((item: Json) => filled(item, words));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, filled(item, words)]));
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
