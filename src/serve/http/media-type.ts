import Negotiator from 'negotiator';
import { quotedText, token, unquoted } from '../../kinds/http-token.ts';

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

/** Whether a media type is one of XML (RFC 7303). */
export function isXml(type: string): boolean {
  return /^[^;]*[/+]xml\s*(?:;|$)/i.test(type);
}

const json: MediaType = { essence: 'application/json', parameters: new Map() };
const HEAD = new RegExp(`^[ \\t]*${token}/${token}`);
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"(${quotedText})"))?`, 'y');

/** The media type to answer with for an Accept header; undefined where none that the operation produces is accepted. */
export type Negotiate = (accept: string | undefined) => string | undefined;

/**
 * Compiles an operation's content negotiation (RFC 9110 section 12.5.1): the highest quality wins, then the more specific
 * range, then the order of `produces`; `q=0` excludes. A `charset` in Accept is passed over: what is sent is UTF-8.
 */
export function compileAccept(produces: readonly string[]): Negotiate {
  const first = produces[0];
  const remembered = new Map<string, string | undefined>();
  return (accept) => {
    if (accept === undefined || accept === '' || accept === '*/*' || accept === first) return first;
    if (remembered.has(accept)) return remembered.get(accept);
    const chosen = negotiate(accept, produces);
    // Clients send few different headers; what does not repeat must not stay.
    if (remembered.size >= 64) remembered.clear();
    if (accept.length <= 512) remembered.set(accept, chosen);
    return chosen;
  };
}

const CHARSET = /;[ \t]*charset[ \t]*=[ \t]*(?:"[^"]*"|[^\s;,]*)/gi;

function negotiate(accept: string, produces: readonly string[]): string | undefined {
  const header = accept.replace(CHARSET, '');
  return new Negotiator({ headers: { accept: header } }).mediaTypes([...produces])[0];
}
