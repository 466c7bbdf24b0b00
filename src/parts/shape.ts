/** A shape, and how the short forms of a document are written out into one. */

import { addressWords, hasAddress, leadByPointers } from '../document/addresses.ts';
import type { Json, JsonMap } from '../document/document.ts';
import { jsonTypeOf, jsonTypes, newMap, type OpenMap } from '../document/values.ts';
import { eachInside, innerOf, mapInner, orNull, someInside } from './shapes/branches.ts';
import { conjunctionWord } from './shapes/keywords.ts';
import { isPlainMap, Source } from './source.ts';

/**
 * A shape: a JSON Schema 2020-12 object in which two words of this language may stand beside the standard keywords.
 * `{ resource: 'parcel' }` is a whole resource, `{ type: 'string', ref: 'parcel' }` an identifier of one. Short forms
 * (`string?`, `[parcel]`, `parcel`) are gone: reading a document writes them out. A nullable type is `[T, 'null']`; a nullable resource is exactly one of `{ resource }` and `{ type: 'null' }`.
 */
export type Shape = JsonMap & {
  readonly resource?: string;
  readonly ref?: string;
  readonly type?: Json;
};

/** The words a field may carry beside its schema. `default` belongs to both. */
export const fieldWords = [
  'required',
  'readOnly',
  'writeOnly',
  'immutable',
  'null',
  'default',
  'set',
  'generate',
  'within',
  'derive',
  'reveal',
  'visible',
  'writable',
  'stored',
  'ignore_case',
  'extensible',
  'onDelete',
  'show',
  'children',
  'order',
  'page',
  'envelope',
  'taken_by',
  'deprecated',
] as const;

/** Splits a field into its words and its schema. A short form is all schema. */
export function splitField(source: Source): { readonly words: Source; readonly shapeSource: Source } {
  if (!source.isMap || source.unstated('tags only')) {
    return { words: new Source(source.reading, undefined, source.at), shapeSource: source };
  }
  const schema: Record<string, Json> = Object.create(null);
  for (const [key, entry] of source.entries()) {
    const isWord = (fieldWords as readonly string[]).includes(key) && !(key === 'required' && Array.isArray(entry.value));
    if (!isWord) schema[key] = entry.value as Json;
  }
  const bare = Object.keys(schema).length === 0;
  return { words: source, shapeSource: new Source(source.reading, bare ? undefined : schema, source.at) };
}

/** Writes a shape out: short names become schemas, `parcel` a resource, `[parcel]` a list of it, a trailing `?` nullable. */
export function readShape(source: Source): Shape | undefined {
  return source.value === undefined ? undefined : withoutAddresses(expand(source.value));
}

/** References by an address lead to where it stands in the same shape; what has none is as it was. */
function withoutAddresses(shape: Shape | undefined): Shape | undefined {
  if (shape === undefined || !someInside(shape, hasAddress)) return shape;
  const whole = openCopy(shape);
  leadByPointers(whole, { inside: innerPaths, copies: '/$defs', conjunction: conjunctionWord });
  eachInside(whole, (one) => {
    for (const word of addressWords) delete (one as OpenMap)[word];
  });
  return whole;
}

function innerPaths(shape: JsonMap): (readonly [(string | number)[], Json])[] {
  return innerOf(shape).map(({ keyword, key, schema }) => [key === undefined ? [keyword] : [keyword, key], schema]);
}

function openCopy(value: JsonMap): OpenMap {
  const copy = newMap();
  for (const [keyword, entry] of Object.entries(value)) {
    copy[keyword] = mapInner<Json>(keyword, entry, (inner) => (isPlainMap(inner) ? openCopy(inner) : inner));
  }
  return copy;
}

/** Writes out one shape, at every depth at which a schema stands. */
export function expand(value: Json): Shape | undefined {
  if (typeof value === 'string') return shortName(value);
  if (Array.isArray(value)) {
    const items = value.length === 1 ? expand(value[0] as Json) : undefined;
    return items && { type: 'array', items };
  }
  if (!isPlainMap(value)) return typeof value === 'boolean' ? (value ? {} : { not: {} }) : undefined;
  if ('$open' in value || '$none' in value || '$any' in value) return {};
  if (Object.hasOwn(value, 'shape') && Object.keys(value).every((key) => key === 'shape')) return expand(value.shape as Json);
  return expandMap(value);
}

function shortName(word: string): Shape {
  const nullable = word.endsWith('?');
  const name = nullable ? word.slice(0, -1) : word;
  if (jsonTypes.has(name)) return nullable ? { type: [name, 'null'] } : { type: name };
  return nullable ? orNull({ resource: name }) : { resource: name };
}

function expandMap(value: JsonMap): Shape {
  const out: Record<string, Json> = Object.create(null);
  for (const [keyword, entry] of Object.entries(value)) {
    // A boolean that is the only schema of its keyword says more plainly what it means: `additionalProperties: false`.
    out[keyword] = mapInner<Json>(keyword, entry, (inner, key) =>
      key === undefined && typeof inner === 'boolean' ? inner : (expand(inner) ?? {}),
    );
  }
  return withTypeWord(withEnumType(withRef(out)));
}

/** `{ ref: parcel }` is a string, or null too where it ends in `?`. */
function withRef(shape: Record<string, Json>): Record<string, Json> {
  const ref = shape.ref;
  if (typeof ref !== 'string') return shape;
  const nullable = ref.endsWith('?');
  if (nullable) shape.ref = ref.slice(0, -1);
  if (shape.type === 'string?') shape.type = ['string', 'null'];
  if (shape.type === undefined && nullable) shape.type = ['string', 'null'];
  return shape;
}

/** An enum without a type has the type of its values. */
function withEnumType(shape: Record<string, Json>): Record<string, Json> {
  const values = shape.enum;
  if (shape.type !== undefined || !Array.isArray(values) || shape.resource !== undefined) return shape;
  const types = [...new Set(values.map(jsonTypeOf))];
  if (types.length > 0) shape.type = types.length === 1 ? (types[0] as string) : types;
  return shape;
}

/** `type` also takes a short name, so that keywords can stand beside it. */
function withTypeWord(shape: Record<string, Json>): Record<string, Json> {
  const type = shape.type;
  if (Array.isArray(type) && type.length === 1 && typeof type[0] === 'string' && !jsonTypes.has(type[0])) {
    return { ...shape, ...shortList(type[0]) };
  }
  if (typeof type !== 'string' || jsonTypes.has(type)) return shape;
  const { type: _word, ...rest } = shape;
  const written = shortName(type);
  const enumValues = rest.enum;
  if (type.endsWith('?') && Array.isArray(enumValues) && !enumValues.includes(null)) rest.enum = [...enumValues, null];
  return { ...rest, ...written };
}

function shortList(name: string): Shape {
  return { type: 'array', items: shortName(name) };
}
