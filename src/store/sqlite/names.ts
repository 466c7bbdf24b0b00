/**
 * A word as part of an SQLite name. SQLite takes `A` and `a` for the same letter, ends a name at NUL and cannot hold half
 * a surrogate pair, so these are written with `^`; every other character stays readable.
 */
export function encodeName(word: string): string {
  return word.replace(/[A-Z^]|\p{Cc}|\p{Cs}/gu, (character) => {
    if (character === '^') return '^^';
    if (character >= 'A' && character <= 'Z') return `^${character.toLowerCase()}`;
    return `^{${character.charCodeAt(0).toString(16)}}`;
  });
}

/** The SQLite table of a resource's rows; the prefix keeps it clear of SQLite's and the engine's own tables. */
export function rowsTable(resource: string): string {
  return `rows:${encodeName(resource)}`;
}

/** The SQLite column of a stated one. Its type is part of the name: another type is another column, and the old one stays. */
export function rowsColumn(name: string, type: string): string {
  return `${encodeName(name)}:${type}`;
}

/** An identifier as it stands in SQL. */
export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
