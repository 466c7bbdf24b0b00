import Negotiator from 'negotiator';
import { isJson, quotedText, token, unquoted } from '../../kinds/http-token.ts';
import { cut } from './violation.ts';

/** A media type taken apart: `essence` is `type/subtype`, it and the parameters' names in lower case. */
export interface MediaType {
  readonly essence: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses a Content-Type (RFC 9110 section 8.3.1): parameters, quoted values, any case. Undefined where it is none. */
export function parseMediaType(text: string): MediaType | undefined {
  if (text === 'application/json') return json;
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const parameters = new Map<string, string>();
  let at = head[0].length;
  PARAMETER.lastIndex = at;
  for (let match = PARAMETER.exec(text); match !== null; match = PARAMETER.exec(text)) {
    at = PARAMETER.lastIndex;
    const [, name, plain, quoted] = match;
    if (name === undefined) continue;
    const value = plain ?? unquoted(quoted ?? '');
    if (parameters.has(name.toLowerCase())) return undefined;
    parameters.set(name.toLowerCase(), value);
  }
  if (text.slice(at).trim() !== '') return undefined;
  return { essence: head[0].trim().toLowerCase(), parameters };
}

/** Whether an essence is one of a list of media ranges: `application/json`, `text/*`, `application/*+json`, `*` + `/*`. */
export function matchesRange(essence: string, range: string): boolean {
  const wanted = (range.split(';')[0] ?? '').trim().toLowerCase();
  if (wanted === essence || wanted === '*/*') return true;
  const star = wanted.indexOf('*');
  if (star === -1) return false;
  const before = wanted.slice(0, star);
  const after = wanted.slice(star + 1);
  return essence.length > before.length + after.length && essence.startsWith(before) && essence.endsWith(after);
}

/** Whether what is called so is JSON without being a type of JSON: plain text, or a kind of one's own (`application/x-depot-json-1.1`). */
export function isJsonUnsaid(essence: string): boolean {
  return essence === 'text/plain' || /^application\/(?:[\w.]+-)*json(?:-[\w.]+)+$/.test(essence);
}

/** Whether a media type is one of XML (RFC 7303). */
export function isXml(type: string): boolean {
  return /^[^;]*[/+]xml\s*(?:;|$)/i.test(type);
}

/** What an answer is sent as, of the media types that are stated for it: a range, such as `*` + `/*`, is none that anything could be sent as. */
export interface SentTypes {
  /** Of maps and lists, which are written as JSON. */
  readonly structured: string;
  /** Of anything else. */
  readonly other: string;
  /** Whether a request may choose among several. */
  readonly isChoice: boolean;
}

/** The media types for what an operation says that it produces; JSON where it says nothing. */
export function sentTypes(produces: readonly string[] = []): SentTypes {
  const types = produces.filter((type) => !isRange(type));
  const jsonInRange = produces.some((type) => isRange(type) && matchesRange(json.essence, type)) ? json.essence : undefined;
  const first = types[0] ?? concreteOf(produces[0] ?? json.essence);
  return { structured: types.find(isJson) ?? jsonInRange ?? first, other: first, isChoice: types.length > 1 };
}

const isRange = (type: string): boolean => type.includes('*');

/** A media type of a range. */
function concreteOf(range: string): string {
  if (!isRange(range)) return range;
  if (matchesRange(json.essence, range)) return json.essence;
  return matchesRange('text/plain', range) ? 'text/plain' : 'application/octet-stream';
}

const json: MediaType = { essence: 'application/json', parameters: new Map() };
const HEAD = new RegExp(`^[ \\t]*${token}/${token}`);
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"(${quotedText})"))?`, 'y');

/** The media type to answer with for an Accept header; undefined where none that the operation produces is accepted. */
export type Negotiate = (accept: string | undefined) => string | undefined;

/**
 * Compiles an operation's content negotiation (RFC 9110 section 12.5.1): the highest quality wins, then the more specific
 * range, then the order of `produces`; `q=0` excludes. A `charset` in Accept is passed over: what is sent is UTF-8. Where `produces` has a range, whatever
 * is in it may come, so that who accepts anything of it is answered.
 */
export function compileAccept(produces: readonly string[]): Negotiate {
  const types = produces.map(concreteOf);
  const first = types[0];
  const remembered = new Map<string, string | undefined>();
  return (accept) => {
    if (accept === undefined || accept === '' || accept === '*/*' || accept === first) return first;
    if (remembered.has(accept)) return remembered.get(accept);
    const chosen = negotiate(accept, types) ?? inRange(accept, produces);
    // Clients send few different headers; what does not repeat must not stay.
    if (remembered.size >= 64) remembered.clear();
    if (accept.length <= 512) remembered.set(accept, chosen);
    return chosen;
  };
}

const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,]*)/gi;

function negotiate(accept: string, types: readonly string[]): string | undefined {
  return negotiator(accept).mediaTypes([...types])[0];
}

function negotiator(accept: string): Negotiator {
  return new Negotiator({ headers: { accept: accept.replace(CHARSET, '') } });
}

/** What is sent of the first range that has something of what is accepted. */
function inRange(accept: string, produces: readonly string[]): string | undefined {
  const ranges = produces.filter(isRange);
  if (ranges.length === 0) return undefined;
  const accepted = negotiator(accept).mediaTypes();
  const range = ranges.find((one) => accepted.some((type) => matchesRange(type, one)));
  return range === undefined ? undefined : concreteOf(range);
}

/** The charset that a type states, UTF-8 where it states none. */
export function charsetOf(type: MediaType): string {
  return cut(type.parameters.get('charset') ?? 'utf-8', 64).toLowerCase();
}

/** Whether what is of a type can be read as UTF-8. */
export function isUtf8Charset(type: MediaType): boolean {
  return ['utf-8', 'utf8', 'us-ascii'].includes(charsetOf(type));
}
