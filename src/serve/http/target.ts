/** A query's values by their decoded names, in order, the values still encoded; `bad` holds the names that do not decode. */
export interface TargetQuery {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly bad: readonly string[];
}

/** Splits a raw query or urlencoded body at `&` and `=`. A piece without `=` is a name with an empty value; empty pieces are nothing. */
export function splitQuery(raw: string): TargetQuery {
  if (raw === '') return emptyQuery;
  const values = new Map<string, string[]>();
  const bad: string[] = [];
  for (const piece of raw.split('&')) {
    if (piece === '') continue;
    const equals = piece.indexOf('=');
    const rawName = equals === -1 ? piece : piece.slice(0, equals);
    const value = equals === -1 ? '' : piece.slice(equals + 1);
    const name = decodeFormText(rawName);
    if (name === undefined) {
      bad.push(rawName);
      continue;
    }
    const known = values.get(name);
    if (known === undefined) values.set(name, [value]);
    else known.push(value);
  }
  return { values, bad };
}

const emptyQuery: TargetQuery = { values: new Map(), bad: [] };

/**
 * Percent-decodes a piece of a request target or form (RFC 3986 section 2.1). Octets outside ASCII that came bare are
 * taken as the octets of UTF-8, as node:http hands them over, one character each. Undefined where a `%` has not two
 * hexadecimal digits, or the octets are no UTF-8.
 */
export function decodePercent(text: string): string | undefined {
  if (!ENCODED.test(text)) return text;
  const ascii = text.replace(BARE_OCTET, (octet) => `%${octet.charCodeAt(0).toString(16)}`);
  try {
    return decodeURIComponent(ascii);
  } catch {
    return undefined;
  }
}

/** As `decodePercent`, for queries and forms, where `+` is a space (WHATWG URL section 5.1). */
export function decodeFormText(text: string): string | undefined {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

const ENCODED = /[%\x80-\uffff]/;
const BARE_OCTET = /[\x80-\xff]/g;

/**
 * Splits a Cookie header into its pairs, in order (RFC 6265 section 5.4, section 4.2.1). Values stay as they were sent but
 * for surrounding quotes; a piece without `=` is nothing.
 */
export function cookiePairs(header: string | undefined): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  if (header === undefined || header === '') return pairs;
  for (const piece of header.split(';')) {
    const equals = piece.indexOf('=');
    if (equals === -1) continue;
    const value = piece.slice(equals + 1).trim();
    const quoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
    pairs.push([piece.slice(0, equals).trim(), quoted ? value.slice(1, -1) : value]);
  }
  return pairs;
}

/** A Cookie header's values by name. Of two cookies with one name the first stands: browsers send the narrower path first. */
export function parseCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const [name, value] of cookiePairs(header)) {
    if (!cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}
