import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Handshake, HandshakeWords } from './kind.ts';

/** The request of a handshake: its query without a question mark, its body as JSON. */
export interface HandshakeRequest {
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
