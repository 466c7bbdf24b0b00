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
