/** How a schema is taken apart: what it is put together of, and what stands directly inside it. */

import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import {
  alternativesWord,
  conjunctionWord,
  exclusiveWord,
  holdingOf,
  keywords,
  keywordsThatMean,
  type Meaning,
} from './keywords.ts';

/** A map of keywords, whatever sort of values they have. */
type Keywords<Value> = Readonly<Record<string, Value>>;

/** The alternatives that one keyword lists, as they are written. */
export interface Union<Value> {
  readonly keyword: string;
  readonly branches: readonly Value[];
  /** Whether a value that fits two of them fits none. */
  readonly isExclusive: boolean;
}

/** Whether a shape has a keyword that means one of these. */
export function hasMeaning(shape: object, ...meanings: readonly Meaning[]): boolean {
  return Object.keys(shape).some((word) => {
    const meaning = keywords.get(word)?.means;
    return meaning !== undefined && meanings.includes(meaning);
  });
}

/** Whether a shape says more of its values than its own assertions and what stands inside them: it is put together of others. */
export function isComposed(shape: object): boolean {
  return hasMeaning(shape, 'exclusive alternatives', 'alternatives', 'conjunction', 'negation', 'condition', 'reference');
}

/** The unions of a shape, all of which a value has to fit: one for each keyword that lists alternatives. */
export function unionsOf<Value>(shape: Keywords<Value>): Union<Value>[] {
  return unionWords.flatMap((keyword) => {
    const branches = listUnder(shape, keyword);
    return branches ? [{ keyword, branches, isExclusive: keywords.get(keyword)?.means === 'exclusive alternatives' }] : [];
  });
}

/** The first union of a shape; nothing where it has none. Another one is found in what is left without it. */
export function unionOf<Value>(shape: Keywords<Value>): Union<Value> | undefined {
  return unionsOf(shape)[0];
}

/** What a value of this shape has to fit as well, as it is written. */
export function conjunctionOf<Value>(shape: Keywords<Value>): readonly Value[] {
  return conjunctionWords.flatMap((keyword) => listUnder(shape, keyword) ?? []);
}

/** The schemas that a value of this one has to fit as well; booleans among them have no keywords to look at. */
export function conjunctsOf<Schema extends object>(schema: Schema): Schema[] {
  return schemasAmong(schema, conjunctionWords);
}

/** The alternatives of a schema, whichever keywords list them. */
export function alternativesOf<Schema extends object>(schema: Schema): Schema[] {
  return schemasAmong(schema, unionWords);
}

/** Every schema that speaks of the same values as this one: its alternatives, then what all of them have to fit. */
export function branchesOf<Schema extends object>(schema: Schema): Schema[] {
  return [...alternativesOf(schema), ...conjunctsOf(schema)];
}

/** A shape without some of its keywords. */
export function without<Value>(shape: Keywords<Value>, ...left: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(shape).filter(([keyword]) => !left.includes(keyword)));
}

/** A shape without the conjunction that it is. */
export function withoutConjunction<Value>(shape: Keywords<Value>): Record<string, Value> {
  return without(shape, ...conjunctionWords);
}

const unionWords = keywordsThatMean('exclusive alternatives', 'alternatives');
const conjunctionWords = keywordsThatMean('conjunction');

function listUnder<Value>(shape: Keywords<Value>, keyword: string): readonly Value[] | undefined {
  const listed = shape[keyword];
  // The cast holds: what stands in a list is of the same sort of values.
  return Array.isArray(listed) ? (listed as readonly Value[]) : undefined;
}

function schemasAmong<Schema extends object>(schema: Schema, words: readonly string[]): Schema[] {
  // The casts hold: a schema is a map of keywords, and a map in one of these lists is a schema of the same sort.
  const shape = schema as Keywords<unknown>;
  return words
    .flatMap((word) => listUnder(shape, word) ?? [])
    .filter((one): one is Schema => typeof one === 'object' && one !== null && !Array.isArray(one));
}

/** What fits all of these schemas. */
export function fitsAll<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [conjunctionWord]: schemas };
}

/** What fits one of these schemas, or several. */
export function fitsAny<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [alternativesWord]: schemas };
}

/** What fits exactly one of these schemas. */
export function fitsOne<Schema>(schemas: readonly Schema[]): Record<string, readonly Schema[]> {
  return { [exclusiveWord]: schemas };
}

/** Two alternatives of which one is null: how a resource that may be null is written out. */
export function orNull(schema: JsonMap): JsonMap {
  return fitsOne<Json>([schema, { type: 'null' }]);
}

/** What such alternatives allow besides null; nothing where a shape is none of them. */
export function besideNull(shape: JsonMap): JsonMap | undefined {
  const union = unionOf(shape);
  const [one, nothing] = union?.branches ?? [];
  const isNull = isMap(nothing) && nothing.type === 'null';
  return union?.isExclusive && union.branches.length === 2 && isNull && isMap(one) ? one : undefined;
}

/** A schema that stands directly inside another. */
interface InnerSchema {
  readonly keyword: string;
  /** Its name or number under the keyword, where that holds several. */
  readonly key?: string | number;
  readonly schema: Json;
}

/** Every schema directly inside another, in the order in which they are written. */
export function innerOf(shape: JsonMap): InnerSchema[] {
  const found: InnerSchema[] = [];
  for (const keyword of Object.keys(shape)) {
    const holding = holdingOf(keyword);
    const value = shape[keyword] as Json;
    if (holding === 'schema') found.push({ keyword, schema: value });
    else if (holding === 'schemas' && Array.isArray(value))
      for (const [key, schema] of (value as readonly Json[]).entries()) found.push({ keyword, key, schema });
    else if (holding === 'schema map' && isMap(value))
      for (const [key, schema] of Object.entries(value)) found.push({ keyword, key, schema });
  }
  return found;
}

/**
 * The value of a keyword with each schema in it put through a function; a value that holds none as it is. `key` is the name or
 * number of a schema among several.
 */
export function mapInner<Value>(
  keyword: string,
  value: Value,
  one: (inner: Value, key?: string | number) => Value,
  withOld = false,
): Value {
  const holding = holdingOf(keyword, withOld);
  if (holding === 'schema') return one(value);
  // The casts hold: what is made has the form of what was given, and is of the same sort of values.
  if (holding === 'schemas' && Array.isArray(value)) return value.map((inner, index) => one(inner, index)) as Value;
  if (holding !== 'schema map' || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const map: Record<string, Value> = Object.create(null);
  for (const [name, inner] of Object.entries(value)) map[name] = one(inner, name);
  return map as Value;
}

/**
 * Whether a shape, or one at any depth inside it, is such. What it names elsewhere is not gone into, so this ends where the
 * document does, whose depth its reader bounds.
 */
export function someInside(shape: Json | undefined, isSuch: (shape: JsonMap) => boolean): boolean {
  if (!isMap(shape)) return false;
  if (isSuch(shape)) return true;
  for (const keyword of Object.keys(shape)) {
    const holding = holdingOf(keyword);
    if (holding === undefined) continue;
    const value = shape[keyword];
    // Everything that holds several is a list or a map of them.
    if (holding === 'schema' ? someInside(value, isSuch) : someAmong(value, isSuch)) return true;
  }
  return false;
}

function someAmong(several: Json | undefined, isSuch: (shape: JsonMap) => boolean): boolean {
  if (typeof several !== 'object' || several === null) return false;
  return Object.values(several).some((one: Json) => someInside(one, isSuch));
}

/** Shows a shape, and every one at any depth inside it, to a function. */
export function eachInside(shape: Json | undefined, see: (shape: JsonMap) => void): void {
  someInside(shape, (one) => {
    see(one);
    return false;
  });
}

/** Finds what a reference names; undefined where there is none. */
type Resolve<Schema> = (ref: string) => Schema | undefined;

/**
 * A schema and all that it is made of, itself first: what its reference names, what it has to fit as well, and its alternatives, each
 * with what that is made of. Each stands there once, and there is an end where schemas name each other in a circle.
 */
export function inForce<Schema extends object>(schema: Schema, resolve: Resolve<Schema>): Schema[] {
  const found = new Set<Schema>();
  gather(schema, resolve, found);
  return [...found];
}

const schemasMost = 1000;

function gather<Schema extends object>(schema: Schema, resolve: Resolve<Schema>, found: Set<Schema>): void {
  if (found.has(schema) || found.size >= schemasMost) return;
  found.add(schema);
  const named = namedBy(schema, resolve);
  if (named) gather(named, resolve, found);
  for (const part of [...conjunctsOf(schema), ...alternativesOf(schema)]) gather(part, resolve, found);
}

/** What the reference of a schema names. */
function namedBy<Schema extends object>(schema: Schema, resolve: Resolve<Schema>): Schema | undefined {
  const ref = '$ref' in schema ? schema.$ref : undefined;
  return typeof ref === 'string' ? resolve(ref) : undefined;
}
