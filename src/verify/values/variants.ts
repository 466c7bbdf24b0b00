import * as fc from 'fast-check';
import type { Json, JsonMap } from '../../document/document.ts';
import { isSame, jsonTypeOf } from '../../document/values.ts';
import { formatNamed } from '../../kinds/formats/all.ts';
import { standardFormatNamed } from '../../kinds/formats/standard.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { compilePattern } from '../../parts/patterns/pattern.ts';
import { branchesOf } from '../../parts/shapes/branches.ts';
import { conjunctionWord, isUnion } from '../../parts/shapes/keywords.ts';
import { asText } from '../exchange/as-text.ts';
import { distinctItems, itemsMost } from './items.ts';
import { boundsOf } from './scalars.ts';

/** Values at the edges of a shape, each of which it admits: every allowed one, the bounds, null. */
export function* edgesOf(shape: JsonMap): Iterable<Variant> {
  const types = typesOf(shape);
  if (types.includes('null')) yield { label: 'of null', value: null, kind: 'types' };
  if (Array.isArray(shape.enum)) {
    for (const value of shape.enum as readonly Json[])
      yield { label: `of ${JSON.stringify(value)}`, value, kind: 'allowed values' };
    return;
  }
  if ('const' in shape) return;
  for (const type of types) {
    if (type === 'integer' || type === 'number') yield* numberEdges(shape, type);
    if (type === 'string') yield* textEdges(shape);
    if (type === 'boolean') for (const value of [true, false]) yield { label: `of ${value}`, value, kind: 'allowed values' };
    if (type === 'array') yield* listEdges(shape);
  }
}

function* numberEdges(shape: JsonMap, type: 'integer' | 'number'): Iterable<Variant> {
  const { min, max, step } = boundsOf(shape, type);
  const fits = (value: number) => step === 0 || Math.abs(value / step - Math.round(value / step)) < 1e-9;
  const isBound = (words: readonly string[]) => words.some((word) => typeof shape[word] === 'number');
  if (isBound(['minimum', 'exclusiveMinimum']) && fits(min)) yield { label: `of ${min}`, value: min, kind: 'allowed values' };
  if (isBound(['maximum', 'exclusiveMaximum']) && fits(max)) yield { label: `of ${max}`, value: max, kind: 'allowed values' };
}

function* textEdges(shape: JsonMap): Iterable<Variant> {
  if (shape.pattern !== undefined || (shape.format !== undefined && shape.format !== 'password')) return;
  const { minLength, maxLength } = shape;
  if (typeof minLength === 'number' && minLength <= 10_000) yield lengthVariant(minLength, 'allowed values');
  if (typeof maxLength === 'number' && maxLength <= 10_000) {
    yield lengthVariant(maxLength, 'allowed values');
    // JSON Schema counts characters, not the units that they are kept in.
    if (maxLength > 0)
      yield { label: `of ${maxLength} characters beyond the basic plane`, value: '😀'.repeat(maxLength), kind: 'allowed values' };
  }
}

function lengthVariant(length: number, kind: Variant['kind']): Variant {
  return { label: `of ${length} characters`, value: 'x'.repeat(length), kind };
}

/** Letters, and characters beyond the basic plane, of which a text at an edge may as well be. */
const letters = [...'abcdefghijklmnopqrstuvwxyz'];
const beyond = [...'😀😁😂😃😄😅😆😇😈😉😊😋😌😍😎😏'];

const isRun = (value: Json): value is string => typeof value === 'string' && /^(.)\1*$/u.test(value);
const isBeyond = (text: string) => [...text].some((one) => one.length > 1);

/** The same edge by a value that hardly any row has: a text of one length is as good as another. */
export function unlikeEdge(edge: Variant, chance: { pick<T>(values: readonly T[]): T | undefined }): Variant {
  const { value } = edge;
  if (!isRun(value)) return edge;
  return { ...edge, value: [...value].map((one) => chance.pick(isBeyond(value) ? beyond : letters) ?? one).join('') };
}

/** Whether a value lies at the edge of another. */
export function isAtEdgeOf(edge: Json, value: Json): boolean {
  if (isSame(edge, value)) return true;
  if (!isRun(edge) || typeof value !== 'string') return false;
  return [...edge].length === [...value].length && isBeyond(edge) === [...value].every((one) => one.length > 1);
}

/** Values that a shape does not admit, each for one reason. */
export function* breaksOf(shape: JsonMap): Iterable<Variant> {
  const types = typesOf(shape);
  if (types.length === 0) return;
  const foreign = foreigners.find(({ type }) => !types.some((one) => one === type || (one === 'number' && type === 'integer')));
  if (foreign) yield { label: `of ${JSON.stringify(foreign.value)}`, value: foreign.value, kind: 'types' };
  const number = types.find((type) => type === 'integer' || type === 'number');
  if (number !== undefined && !types.includes('string')) {
    const { min, max } = boundsOf(shape, number === 'integer' ? 'integer' : 'number');
    const text = asText(Math.min(Math.max(min, 1), max));
    yield { label: `of ${JSON.stringify(text)}`, value: text, kind: 'types' };
  }
  if (types.includes('integer') && !types.includes('number')) yield { label: 'of 1.5', value: 1.5, kind: 'types' };
  if (!types.includes('null') && !types.includes('object'))
    yield { label: 'of []', value: types.includes('array') ? {} : [], kind: 'types' };
  if (Array.isArray(shape.enum)) {
    if (types.includes('string')) yield { label: 'of another word', value: 'none-of-these', kind: 'allowed values' };
    yield* inOtherLetters(shape.enum as readonly Json[]);
    return;
  }
  if ('const' in shape) return;
  for (const type of types) {
    if (type === 'integer' || type === 'number') yield* numberBreaks(shape, type);
    if (type === 'string') yield* textBreaks(shape);
    if (type === 'array') yield* listBreaks(shape);
  }
}

/** Values of another type that a lenient reader makes one of the right type of: as JSON they are wrong, as a text the same. */
export function* lenientBreaksOf(shape: JsonMap): Iterable<Variant> {
  const types = typesOf(shape);
  const takesNumbers = types.includes('integer') || types.includes('number');
  if (types.includes('string') && !takesNumbers && !Array.isArray(shape.enum) && !('const' in shape))
    yield { label: 'of 12345', value: 12_345, kind: 'types' };
  if (!types.includes('boolean') || takesNumbers) return;
  if (!types.includes('string')) yield { label: 'of "true"', value: 'true', kind: 'types' };
  yield { label: 'of 1', value: 1, kind: 'types' };
}

/** A value of each type that no lenient reader takes for another. */
const foreigners: readonly { readonly type: string; readonly value: Json }[] = [
  { type: 'object', value: { nf: 'x' } },
  { type: 'string', value: 'not-of-this-type' },
  { type: 'boolean', value: true },
];

function* numberBreaks(shape: JsonMap, type: 'integer' | 'number'): Iterable<Variant> {
  const kind = 'allowed values';
  const gap = type === 'integer' ? 1 : 0.5;
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = shape;
  if (typeof minimum === 'number') yield { label: `of ${minimum - gap}`, value: minimum - gap, kind };
  if (typeof exclusiveMinimum === 'number') yield { label: `of ${exclusiveMinimum}`, value: exclusiveMinimum, kind };
  if (typeof maximum === 'number') yield { label: `of ${maximum + gap}`, value: maximum + gap, kind };
  if (typeof exclusiveMaximum === 'number') yield { label: `of ${exclusiveMaximum}`, value: exclusiveMaximum, kind };
  if (typeof multipleOf === 'number' && type === 'integer' && multipleOf > 1) {
    const { min, max } = boundsOf(shape, type);
    const off = Math.ceil(min / multipleOf) * multipleOf + 1;
    if (off < max) yield { label: `of ${off}`, value: off, kind };
  }
  if (typeof multipleOf === 'number' && type === 'number') {
    const { min } = boundsOf(shape, type);
    const off = Number((Math.ceil(min / multipleOf) * multipleOf + multipleOf / 2).toPrecision(12));
    yield { label: `of ${off}`, value: off, kind };
  }
}

function* textBreaks(shape: JsonMap): Iterable<Variant> {
  const { minLength, maxLength, pattern, format } = shape;
  if (typeof minLength === 'number' && minLength > 0 && minLength <= 10_000) yield lengthVariant(minLength - 1, 'allowed values');
  if (typeof maxLength === 'number' && maxLength <= 10_000) yield lengthVariant(maxLength + 1, 'allowed values');
  if (typeof pattern === 'string') {
    const text = ['', '~~nf~~', ' ', '0', 'a'].find((one) => !matches(pattern, one) && fitsLength(shape, one));
    if (text !== undefined) yield { label: `of ${JSON.stringify(text)}`, value: text, kind: 'allowed values' };
    yield* aroundMatches(shape, pattern);
  }
  if (typeof format !== 'string') return;
  for (const bad of standardFormatNamed(format)?.nearMisses ?? formatBreaks(format))
    if (fitsLength(shape, bad)) yield { label: `of ${JSON.stringify(bad)}`, value: bad, kind: 'formats' };
}

/** A word of a list in letters of the other case, where that is none of its words. */
function* inOtherLetters(words: readonly Json[]): Iterable<Variant> {
  const others = words.flatMap((word) => (typeof word === 'string' ? otherLetters(word) : []));
  const other = others.find((word) => !words.includes(word));
  if (other !== undefined) yield { label: `of ${JSON.stringify(other)}`, value: other, kind: 'allowed values' };
}

function otherLetters(text: string): string[] {
  return [text.toUpperCase(), text.toLowerCase()].filter((one) => one !== text);
}

/** What a pattern admits, with more before or after it, with less, and in other letters: a pattern that is meant for the whole says so. */
function* aroundMatches(shape: JsonMap, pattern: string): Iterable<Variant> {
  const match = sampleOf(pattern);
  if (match === undefined) return;
  const around = [`${match}~`, `~${match}`, ...otherLetters(match), match.slice(0, -1), `${match}${match.slice(-1)}`];
  for (const value of new Set(around)) {
    if (!matches(pattern, value) && fitsLength(shape, value))
      yield { label: `of ${JSON.stringify(value)}`, value, kind: 'allowed values' };
  }
}

function sampleOf(pattern: string): string | undefined {
  try {
    return fc.sample(fc.stringMatching(new RegExp(pattern, 'u')), { seed: 1, numRuns: 1 })[0];
  } catch {
    return undefined;
  }
}

function formatBreaks(format: string): readonly string[] {
  const own = formatNamed(format);
  if (own?.type !== 'string') return [];
  return own.nearMisses ?? ['not of this format', '~', ''].filter((text) => !own.test(text)).slice(0, 1);
}

function fitsLength({ minLength, maxLength }: JsonMap, text: string): boolean {
  const { length } = [...text];
  return (
    length >= (typeof minLength === 'number' ? minLength : 0) &&
    length <= (typeof maxLength === 'number' ? maxLength : Number.POSITIVE_INFINITY)
  );
}

function matches(pattern: string, text: string): boolean {
  // What nobody can say, or what is no pattern, is nothing to try.
  return compilePattern(pattern)?.test(text) ?? true;
}

/** The types that a shape names; none where it is a union, a resource or says nothing. */
function typesOf(shape: JsonMap): string[] {
  const { type, resource, ref } = shape;
  if (branchesOf(shape).length > 0 || (resource ?? ref)) return [];
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.map(String) : [];
}

/** A list with as few items as may be, and with as many. */
function* listEdges(shape: JsonMap): Iterable<Variant> {
  const { minItems, maxItems } = shape;
  if (minItems === undefined || minItems === 0) yield { label: 'of no items', value: [], kind: 'allowed values' };
  else if (typeof minItems === 'number') yield* listOf(shape, minItems);
  if (typeof maxItems === 'number' && maxItems > 0) yield* listOf(shape, maxItems);
}

/** A list that is longer is left out: what its body weighs may be refused before it is read. */
const lettersMost = 2000;

/** A list of so many items; none where there are not so many that differ and they have to. */
function* listOf({ items, uniqueItems }: JsonMap, count: number): Iterable<Variant> {
  const found = count > itemsMost ? [] : distinctItems(items, count);
  const isEnough = found.length === count || (found.length > 0 && uniqueItems !== true);
  const value = Array.from({ length: count }, (_, at) => found[at % found.length] ?? null);
  if (!isEnough || JSON.stringify(value).length > lettersMost) return;
  yield { label: `of ${count} ${count === 1 ? 'item' : 'items'}`, value, kind: 'allowed values' };
}

/** Lists that are too short, too long, or hold something twice. */
function* listBreaks(shape: JsonMap): Iterable<Variant> {
  const { minItems, maxItems, items, uniqueItems } = shape;
  const kind = 'allowed values';
  if (minItems === 1) yield { label: 'of no items', value: [], kind };
  else if (typeof minItems === 'number' && minItems > 1) yield* listOf(shape, minItems - 1);
  if (typeof maxItems === 'number') yield* listOf(shape, maxItems + 1);
  const [twice, ...others] = distinctItems(items, 3);
  if (uniqueItems !== true || twice === undefined) return;
  yield { label: 'of one item twice', value: [twice, twice], kind };
  // Who looks at neighbours alone does not see it.
  const isRoom = others.length > 1 && (typeof maxItems !== 'number' || maxItems > 3);
  if (isRoom) yield { label: 'of one item twice, with others between', value: [twice, ...others, twice], kind };
}

/** One value that is just inside or just outside of what a shape admits, and the kind of fact that says so. */
export interface Variant {
  /** For people and for the names of cases: `of 0`, `of 41 characters`. */
  readonly label: string;
  readonly value: Json;
  readonly kind: 'types' | 'formats' | 'allowed values';
}

/** The condition below `request.invalid` that a value of such a shape comes to; the general one where its shape has several forms. */
export function conditionOfBreak(shape: JsonMap, value: Json): ErrorCondition {
  const { type } = shape;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : [];
  const isScalar = types.length > 0 && types.every((one) => typeof one === 'string' && scalars.has(one));
  if (!isScalar || Object.keys(shape).some((word) => isUnion(word) || word === conjunctionWord || word === '$ref'))
    return 'request.invalid';
  const own = jsonTypeOf(value);
  const isOfType = types.includes(own) || (own === 'integer' && types.includes('number')) || isWhole(value, types);
  return isOfType ? 'request.invalid.value' : 'request.invalid.type';
}

const scalars: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'null']);

function isWhole(value: Json, types: readonly Json[]): boolean {
  return types.includes('integer') ? Number.isInteger(value) : types.includes('number') && typeof value === 'number';
}
