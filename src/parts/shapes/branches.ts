/** What a schema is put together of, and how schemas are put together. */

import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { alternativesWord, conjunctionWord, exclusiveWord, keywords, keywordsThatMean, type Meaning } from './keywords.ts';

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
