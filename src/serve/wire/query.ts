import { decodeFormText } from './percent.ts';

/** A query's values by their decoded names, in order, the values still encoded; `bad` holds the names that do not decode. */
export interface Query {
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly bad: readonly string[];
}

/** Splits a raw query or urlencoded body at `&` and `=`. A piece without `=` is a name with an empty value; empty pieces are nothing. */
export function splitQuery(raw: string): Query {
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

const emptyQuery: Query = { values: new Map(), bad: [] };
