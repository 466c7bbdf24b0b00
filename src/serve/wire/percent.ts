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
