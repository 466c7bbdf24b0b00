/** The definitions that a shape names, by their names there; the values are their names at the top of the schema. */
export type Names = ReadonlyMap<string, string>;
export const noNames: Names = new Map();

/** A reference into the definitions of a shape, as it is at the top; what stands deeper in one moves with it. */
export function renamed(ref: string, names: Names): string {
  const [, word, rest = ''] = /^#\/\$defs\/([^/]*)(.*)$/s.exec(ref) ?? [];
  const top = word === undefined ? undefined : names.get(decoded(word));
  return top === undefined ? ref : `${definitionRef(top)}${rest}`;
}

/** How the definition of a name is referred to. */
export function definitionRef(name: string): string {
  return `#/$defs/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed())}`;
}

/** A key as a fragment names it (RFC 6901 section 6). */
function decoded(word: string): string {
  const key = /%[\da-f]{2}/i.test(word) ? (decodeSafely(word) ?? word) : word;
  return key.replaceAll('~1', '/').replaceAll('~0', '~');
}

function decodeSafely(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
