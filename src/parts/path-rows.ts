import type { Pointer } from '../document/document.ts';
import type { Named } from './fact.ts';
import { named, type Source } from './source.ts';

/** A row that a path names by fields which are unique together. */
export interface PathRow {
  readonly at: Pointer;
  /** The path up to where it is named; it is known by that among the rows of a path. */
  readonly prefix: string;
  readonly resource: string;
  /** The path parameters by the fields that they are, through references too: `owner.login`. */
  readonly key: Named<string>;
}

/** Reads `under`: what the paths below a prefix name. */
export function readUnder(source: Source): PathRow[] {
  return source
    .entries()
    .flatMap(([prefix, rows]) => rows.entries().map(([resource, key]) => ({ at: key.at, prefix, resource, key: readKey(key) })));
}

/** Reads `{ owner.login: owner, name: repo }`. */
export function readKey(source: Source): Named<string> {
  return named(
    source.entries().flatMap(([field, parameter]) => {
      const name = parameter.text();
      return name === undefined ? [] : [[field, name] as const];
    }),
  );
}

/** The rows that a path names, from its beginning on. */
export function rowsAlong(under: readonly PathRow[], path: string): PathRow[] {
  return under.filter(({ prefix }) => isBelow(path, prefix)).sort((one, other) => one.prefix.length - other.prefix.length);
}

/** Whether a path begins with a prefix, and goes on with another segment or not at all. */
export function isBelow(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || '/?#:.'.includes(path[prefix.length] as string));
}
