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

const json: MediaType = { essence: 'application/json', parameters: new Map() };
const HEAD = new RegExp(`^[ \\t]*${token}/${token}`);
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"(${quotedText})"))?`, 'y');
