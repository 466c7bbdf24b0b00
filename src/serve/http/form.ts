/** A form and its values: how its pairs are nested, and what their texts stand for. */

import { below } from '../../document/pointer.ts';
import { parseJson } from './json.ts';
import { isSchema, itemOf, memberOf, type Resolve, type Schema, schemaTypesOf } from './schema.ts';
import { cut, type Violation, violationsMax } from './violation.ts';

/** Bounds of a form: its pairs, the brackets of one key, the highest index of a list. */
const formLimits = { pairs: 1000, depth: 16, index: 1000 } as const;

/** One pair of a form: a decoded key and what it holds: a text, or a leaf (a file, a JSON part) that is taken as it is. */
export type FormPair = readonly [key: string, leaf: unknown];

/** Reads forms of one shape. The value is an object without a prototype; problems are violations at their JSON Pointers. */
export type ReadForm = (pairs: readonly FormPair[]) => { value: Record<string, unknown>; violations: Violation[] };

/**
 * Compiles the reading of bracketed keys, `a[b][0]=c` and `a[]=c`, by a shape. A bracket is an index where the shape wants a
 * list, and where it says nothing and all are numbers or empty. Indexes give order alone: lists have no holes.
 * A text that is the JSON of a map or a list is that, where no text may stand. A key said twice is a list where the shape wants one, else a violation; so is a key that is both a value and a group.
 */
export function compileForm(schema: Schema, resolve: Resolve, empty: EmptyText = 'value'): ReadForm {
  const coercions = new WeakMap<Schema, Coerce>();
  const reading: Reading = {
    resolve,
    empty,
    coerce(shape) {
      const known = coercions.get(shape) ?? compileCoercion(shape, resolve);
      coercions.set(shape, known);
      return known;
    },
  };
  return (pairs) => {
    const violations: Violation[] = [];
    const root: Group = { leaves: [], members: new Map(), items: [] };
    if (pairs.length > formLimits.pairs) {
      violations.push({ in: 'body', path: '', found: `${pairs.length} pairs`, expected: `at most ${formLimits.pairs} pairs` });
      return { value: emptyRecord(), violations };
    }
    for (const [key, leaf] of pairs) place(root, key, leaf, violations);
    return { value: readMembers(root, schema, '', reading, violations), violations };
  };
}

/** What a member is that is sent as an empty text: what its shape makes of that, null, or not sent. */
export type EmptyText = 'value' | 'null' | 'not sent';

interface Reading {
  readonly resolve: Resolve;
  readonly empty: EmptyText;
  coerce(shape: Schema): Coerce;
}

/** A key's values, its members by bracket, and its `[]` items. */
interface Group {
  readonly leaves: unknown[];
  readonly members: Map<string, Group>;
  readonly items: Group[];
}

const anything: Schema = Object.freeze({});

function place(root: Group, key: string, leaf: unknown, violations: Violation[]): void {
  const path = splitKey(key);
  if (path.length > formLimits.depth) {
    if (violations.length < violationsMax) {
      violations.push({
        in: 'body',
        path: `/${cut(path[0] ?? '', 64)}`,
        found: `${path.length} levels`,
        expected: `at most ${formLimits.depth} levels`,
      });
    }
    return;
  }
  let group = root;
  for (let i = 0; i < path.length; i++) {
    const name = path[i] ?? '';
    if (name === '' && i > 0) {
      const last = group.items.at(-1);
      const following = path[i + 1];
      // `a[][b]=1&a[][c]=2` is one item; a member said again begins the next.
      if (last !== undefined && following !== undefined && following !== '' && !last.members.has(following)) group = last;
      else group = append(group);
      continue;
    }
    const member = group.members.get(name) ?? { leaves: [], members: new Map(), items: [] };
    group.members.set(name, member);
    group = member;
  }
  group.leaves.push(leaf);
}

function append(group: Group): Group {
  const item: Group = { leaves: [], members: new Map(), items: [] };
  group.items.push(item);
  return item;
}

/** `a[b][]` as `a`, `b` and the empty text; a key whose brackets do not pair off is one name as it stands. */
function splitKey(key: string): string[] {
  const open = key.indexOf('[');
  if (open < 1 || !key.endsWith(']')) return [key];
  const inner = key.slice(open + 1, -1);
  const names = inner.split('][');
  return names.some((name) => name.includes('[') || name.includes(']')) ? [key] : [key.slice(0, open), ...names];
}

function readGroup(group: Group, schema: Schema, path: string, reading: Reading, violations: Violation[]): unknown {
  const kinds = Number(group.leaves.length > 0) + Number(group.members.size > 0 || group.items.length > 0);
  const types = schemaTypesOf(schema, reading.resolve);
  const [first] = group.leaves;
  const isAlone = kinds === 1 && group.leaves.length === 1;
  const whole = isAlone && typeof first === 'string' ? structured(first, schema, reading) : undefined;
  if (whole !== undefined) return whole;
  if (types?.has('array') && group.leaves.length > 0 && group.members.size === 0) {
    const item = itemOf(schema, reading.resolve) ?? anything;
    const leaves = group.leaves.map((leaf) => scalar(leaf, item, reading));
    return [...leaves, ...group.items.map((one, i) => readGroup(one, item, `${path}/${leaves.length + i}`, reading, violations))];
  }
  if (kinds === 2) return conflict(violations, path, 'a value and a group of values', 'one or the other');
  if (group.leaves.length > 1) return conflict(violations, path, `${group.leaves.length} values`, 'one value');
  if (group.leaves.length === 1) return scalar(group.leaves[0], schema, reading);
  if (isList(group, types)) return readItems(group, schema, path, reading, violations);
  if (group.items.length > 0) return conflict(violations, path, 'a list', 'an object');
  return readMembers(group, schema, path, reading, violations);
}

function isList(group: Group, types: ReadonlySet<string> | undefined): boolean {
  for (const name of group.members.keys()) {
    if (!/^\d{1,6}$/.test(name) || Number(name) > formLimits.index) return false;
  }
  return types === undefined ? true : types.has('array');
}

function readItems(group: Group, schema: Schema, path: string, reading: Reading, violations: Violation[]): unknown[] {
  const item = itemOf(schema, reading.resolve) ?? anything;
  // A list is sent whole, so that nothing is taken away from what an item had.
  const inItems: Reading = reading.empty === 'null' ? { ...reading, empty: 'not sent' } : reading;
  const placed = [...group.members].toSorted(([a], [b]) => Number(a) - Number(b)).map(([, member]) => member);
  return [...placed, ...group.items].map((one, i) => readGroup(one, item, `${path}/${i}`, inItems, violations));
}

function readMembers(
  group: Group,
  schema: Schema,
  path: string,
  reading: Reading,
  violations: Violation[],
): Record<string, unknown> {
  const value = emptyRecord();
  for (const [name, member] of group.members) {
    if (reading.empty !== 'value' && isEmptyText(member)) {
      if (reading.empty === 'null') value[name] = null;
      continue;
    }
    const shape = memberOf(schema, name, reading.resolve) ?? anything;
    value[name] = readGroup(member, shape, below(path, name), reading, violations);
  }
  return value;
}

function isEmptyText({ leaves, members, items }: Group): boolean {
  return leaves.length === 1 && leaves[0] === '' && members.size === 0 && items.length === 0;
}

function scalar(leaf: unknown, schema: Schema, reading: Reading): unknown {
  if (typeof leaf !== 'string') return leaf;
  return structured(leaf, schema, reading) ?? reading.coerce(schema)(leaf);
}

/** The map or list that a text is the JSON of, where one of these has to stand and no text may: what has no place in a pair is written so. */
function structured(text: string, schema: Schema, { resolve }: Reading): unknown {
  const opening = /^\s{0,64}([{[])/.exec(text)?.[1];
  const types = opening === undefined ? undefined : schemaTypesOf(schema, resolve);
  if (types === undefined || types.has('string') || !types.has(opening === '{' ? 'object' : 'array')) return undefined;
  // A text may be the one item of a list of texts.
  if (opening === '[' && (schemaTypesOf(itemOf(schema, resolve) ?? anything, resolve)?.has('string') ?? true)) return undefined;
  const parsed = parseJson(Buffer.from(text));
  return 'value' in parsed ? parsed.value : undefined;
}

function conflict(violations: Violation[], path: string, found: string, expected: string): undefined {
  if (violations.length < violationsMax) violations.push({ in: 'body', path, found, expected });
  return undefined;
}

function emptyRecord(): Record<string, unknown> {
  return Object.create(null);
}

/** Turns a text into the value that a shape means by it; a text that means none stays as it is, for validation to refuse. */
type Coerce = (text: string) => unknown;

/**
 * Compiles the reading of one text as one scalar, by the types that a shape admits: `12` is an integer where one may
 * stand, past 2^53 a BigInt; `true`, `false`; `null` and the empty text are null where null may stand and no text may.
 * An enum's or const's own values come first, with their own types. A text without any stated type stays a text.
 */
export function compileCoercion(schema: Schema, resolve: Resolve): Coerce {
  const types = schemaTypesOf(schema, resolve);
  const listed = listedValues(schema, resolve);
  if (types === undefined || (types.size === 1 && types.has('string')))
    return listed === undefined ? asIs : (text) => listed.get(text) ?? text;
  const readers = [...types].flatMap((type) => scalarReaders.get(type) ?? []).toSorted((a, b) => a.order - b.order);
  const nullable = types.has('null') && !types.has('string');
  return (text) => {
    const value = listed?.get(text);
    if (value !== undefined) return value;
    if (nullable && (text === '' || text === 'null')) return null;
    for (const { read } of readers) {
      const scalar = read(text);
      if (scalar !== undefined) return scalar;
    }
    return text;
  };
}

const asIs: Coerce = (text) => text;

/** An enum's scalars by their texts; the first of two equal texts stands. */
function listedValues(schema: Schema, resolve: Resolve): Map<string, unknown> | undefined {
  const named = typeof schema.$ref === 'string' ? resolve(schema.$ref) : undefined;
  if (named !== undefined && isSchema(named)) return typeof named.$ref === 'string' ? undefined : listedValues(named, resolve);
  const values = Array.isArray(schema.enum) ? schema.enum : schema.const === undefined ? undefined : [schema.const];
  if (values === undefined) return undefined;
  const listed = new Map<string, unknown>();
  for (const value of values) {
    if (value !== null && typeof value !== 'object' && !listed.has(String(value))) listed.set(String(value), value);
  }
  return listed;
}

interface ScalarReader {
  readonly order: number;
  readonly read: (text: string) => unknown;
}

const scalarReaders = new Map<string, ScalarReader>([
  ['boolean', { order: 0, read: (text) => (text === 'true' ? true : text === 'false' ? false : undefined) }],
  ['integer', { order: 1, read: readInteger }],
  ['number', { order: 2, read: readNumber }],
]);

const INTEGER = /^-?(?:0|[1-9]\d{0,308})$/;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function readInteger(text: string): number | bigint | undefined {
  if (!INTEGER.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value + 0 : BigInt(text);
}

function readNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
