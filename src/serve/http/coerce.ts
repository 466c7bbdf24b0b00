import { isSchema, type Resolve, type Schema, schemaTypesOf } from './schema.ts';

/** Turns a text into the value that a shape means by it; a text that means none stays as it is, for validation to refuse. */
export type Coerce = (text: string) => unknown;

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
