import { Bare } from './json.ts';
import {
  type Absent,
  absent,
  type Carried,
  compileReader,
  type ParameterReader,
  type ParameterSpec,
} from './parameter-reader.ts';
import type { Resolve } from './schema.ts';
import { splitQuery, type TargetQuery } from './target.ts';
import { cut, noViolations, type Violation, violationsMax } from './violation.ts';

/** Request headers as node:http gives them: lower-case names. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request's parameters by name, without a prototype, and what is wrong with them. */
export interface ParameterValues {
  readonly values: Readonly<Record<string, unknown>>;
  readonly violations: readonly Violation[];
}

/**
 * Reads one request's parameters. `path` holds the router's decoded texts, `rawPath` the same as sent where they differ;
 * the query comes without its `?`.
 */
export type ReadParameters = (
  path: Readonly<Record<string, string>>,
  rawQuery: string,
  headers: Headers,
  rawPath?: Readonly<Record<string, string>>,
) => ParameterValues;

export interface ParameterOptions {
  /** What becomes of a query parameter that nothing states; `refuse` unless said otherwise. */
  readonly undeclared?: 'refuse' | 'ignore';
  /** Further query names that somebody else reads: those of pagination, a version, a key's fixed query. */
  readonly known?: readonly string[];
  readonly resolve?: Resolve;
  /** Whether an encoded comma parts the items of a list as a plain one does, whatever the items are: most clients encode both. */
  readonly splitsEncoded?: boolean;
}

/**
 * Compiles an operation's parameters, in all styles of OpenAPI 3.1 (section 4.8.12): texts are decoded, taken apart and
 * coerced by shape, absent ones given their defaults. Whether they fit their shapes is for validation to say; that a required
 * one is there is checked here. Every path parameter is in the values, stated or not; of two parameters with one name in
 * different places, the first in the list keeps it.
 */
export function compileParameters(list: readonly ParameterSpec[], options: ParameterOptions = {}): ReadParameters {
  const resolve = options.resolve ?? (() => undefined);
  const known = new Set(options.known);
  const readers = list.map((spec) => compileReader(spec, resolve, known, options.splitsEncoded));
  const prefixes = readers.flatMap(({ prefix }) => prefix ?? []);
  const absorbing = readers.some(({ absorbs }) => absorbs);
  const refuse = options.undeclared !== 'ignore' && !absorbing;
  const nothingToRead = readers.every(({ idle }) => idle);

  return (path, rawQuery, headers, rawPath) => {
    if (rawQuery === '' && nothingToRead) return { values: path, violations: noViolations };
    const violations: Violation[] = [];
    const query = splitQuery(rawQuery);
    const carried: Carried = { path, rawPath, query, headers, cookies: undefined, violations };
    const values = new Bare();
    readAll(readers, carried, values);
    for (const name in path) if (!(name in values)) values[name] = path[name];
    refuseBadNames(query, violations);
    if (refuse) refuseUndeclared(query, known, prefixes, violations);
    if (violations.length > violationsMax) violations.length = violationsMax;
    return { values, violations };
  };
}

function readAll(readers: readonly ParameterReader[], carried: Carried, values: Record<string, unknown>): void {
  for (const { spec, read } of readers) {
    const before = carried.violations.length;
    const value: unknown | Absent = read(carried);
    if (carried.violations.length > before) continue;
    if (value !== absent) {
      if (!Object.hasOwn(values, spec.name)) values[spec.name] = value;
    } else if (spec.default !== undefined) {
      if (!Object.hasOwn(values, spec.name)) values[spec.name] = spec.default;
    } else if (spec.required) {
      carried.violations.push({ in: spec.in, path: spec.name, found: 'nothing', expected: 'a value' });
    }
  }
}

function refuseBadNames(query: TargetQuery, violations: Violation[]): void {
  for (const name of query.bad) {
    violations.push({ in: 'query', path: cut(name, 64), found: 'a bad percent-encoding', expected: 'UTF-8, percent-encoded' });
  }
}

function refuseUndeclared(
  query: TargetQuery,
  known: ReadonlySet<string>,
  prefixes: readonly string[],
  violations: Violation[],
): void {
  for (const name of query.values.keys()) {
    if (known.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) continue;
    violations.push({
      in: 'query',
      path: cut(name, 64),
      found: 'a parameter that is not stated',
      expected: expectedNames(known, prefixes),
    });
  }
}

function expectedNames(known: ReadonlySet<string>, prefixes: readonly string[]): string {
  const names = [...known, ...prefixes.map((prefix) => `${prefix}…]`)];
  if (names.length === 0) return 'no query parameters';
  return names.length > 20 ? 'a stated parameter' : `one of ${names.join(', ')}`;
}
