/** Whether a value surely is of a shape, asked in so many steps. */

import type { Json, JsonMap } from '../../document/document.ts';
import { isOfType, isSame } from '../../document/values.ts';
import { isMultiple } from '../../kinds/multiples.ts';
import { compilePattern } from '../patterns/pattern.ts';
import type { Shape } from '../shape.ts';
import { conjunctionOf, unionsOf } from '../shapes/branches.ts';
import { keywords } from '../shapes/keywords.ts';
import { isPlainMap } from '../source.ts';
import { formatOf } from './formats.ts';
import type { Fits } from './sampler.ts';
import type { WholeShapes } from './whole-shape.ts';

/** Tells what fits a shape, compiled once for each shape, and for each resource when it is first met. */
export class Fitting {
  readonly #whole: WholeShapes;
  readonly #known = new WeakMap<JsonMap, Fits>();
  readonly #resources = new Map<string, Fits>();
  readonly #budget: StepBudget;

  /** In answers a reference may be shown whole. */
  readonly #showsWhole: boolean;
  readonly #takesAny: boolean;

  constructor(
    whole: WholeShapes,
    { showsWhole = false, takesAny = false }: Pick<Manner, 'showsWhole' | 'takesAny'>,
    budget: StepBudget,
  ) {
    this.#whole = whole;
    this.#budget = budget;
    this.#showsWhole = showsWhole;
    this.#takesAny = takesAny;
  }

  of(shape: Json): Fits {
    if (!isPlainMap(shape)) return shape === false ? () => false : () => true;
    const known = this.#known.get(shape);
    if (known) return known;
    // A shape may hold itself: who asks for it meanwhile is told to ask again.
    let compiled: Fits | undefined;
    const later: Fits = (value) => {
      compiled ??= this.#compile(shape);
      const test = compiled;
      return this.#budget.step(false, () => test(value));
    };
    this.#known.set(shape, later);
    return later;
  }

  /** Whether what fits a shape can be told here, by the words at its top. */
  decides(shape: Shape): boolean {
    return !Object.keys(shape).some((keyword) => isBeyond(keyword));
  }

  #compile(shape: Shape): Fits {
    if (!this.decides(shape)) return () => false;
    if (this.#takesAny && isBareObject(shape)) return () => true;
    const tests: Fits[] = [];
    const { ref, resource } = shape;
    if (typeof resource === 'string') tests.push(this.#ofResource(resource));
    const type = shape.type ?? (typeof ref === 'string' ? this.#whole.identifierType(ref) : undefined);
    if (type !== undefined) tests.push(typeTest(type, shape.nullable === true));
    tests.push(...compileScalar(shape), ...compileMembers(shape, (inner) => this.of(inner)), ...this.#branches(shape));
    if (typeof shape.format === 'string') {
      const format = formatOf(shape.format);
      if (format) tests.push((value) => !isOfType(value, format.type) || format.test(value as string | number | bigint));
    }
    if (typeof ref === 'string' && this.#showsWhole) {
      const whole = this.#ofResource(ref);
      return (value) => tests.every((test) => test(value)) || whole(value);
    }
    if (tests.length === 1) return tests[0] as Fits;
    return (value) => {
      for (const test of tests) if (!test(value)) return false;
      return true;
    };
  }

  #ofResource(name: string): Fits {
    const known = this.#resources.get(name) ?? this.of(this.#whole.ofResource(name));
    this.#resources.set(name, known);
    return known;
  }

  #branches(shape: Shape): Fits[] {
    const tests: Fits[] = conjunctionOf(shape).map((part) => this.of(part));
    for (const { branches, isExclusive } of unionsOf(shape)) {
      const each = branches.map((branch) => (isBareObject(branch) ? typeTest('object', false) : this.of(branch)));
      if (isExclusive) tests.push((value) => each.filter((fits) => fits(value)).length === 1);
      else tests.push((value) => each.some((fits) => fits(value)));
    }
    if (shape.not !== undefined) {
      // What fits is known for sure, what does not is not: the shape that is forbidden must be one of plain words.
      const not = this.of(shape.not);
      tests.push(isPlain(shape.not) ? (value) => !not(value) : () => false);
    }
    return tests;
  }
}

/** Whether a shape says that a value is an object, and nothing else: as generators write what may be anything. */
export function isBareObject(shape: Json): boolean {
  if (!isPlainMap(shape) || shape.type !== 'object') return false;
  return Object.entries(shape).every(([word, value]) => bareWords.has(word) || (word === 'properties' && isEmptyMap(value)));
}

const isEmptyMap = (value: Json | undefined): boolean => isPlainMap(value) && Object.keys(value).length === 0;

const bareWords: ReadonlySet<string> = new Set(['type', 'description', 'title', 'example', 'examples', 'default', 'nullable']);

function typeTest(type: Json, isNullable: boolean): Fits {
  const words = (Array.isArray(type) ? type : [type]).filter((word: Json): word is string => typeof word === 'string');
  if (isNullable) words.push('null');
  return (value) => words.some((word) => isOfType(value, word));
}

/** Keywords that assert something and are not looked at here. */
function isBeyond(keyword: string): boolean {
  if (keyword === '$dynamicRef' || keyword.startsWith('dependent') || keyword.startsWith('unevaluated')) return true;
  const meaning = keywords.get(keyword)?.means;
  return meaning === 'reference' || meaning === 'condition' || meaning === 'consequence';
}

/** Whether a shape says nothing but types, values, required members and bounds, all of which are decided exactly. */
function isPlain(shape: Json): boolean {
  const words = ['type', 'enum', 'const', 'required', 'minimum', 'maximum', 'minLength', 'maxLength', 'description', 'title'];
  return isPlainMap(shape) && Object.keys(shape).every((key) => words.includes(key));
}

type Of = (shape: Json) => Fits;

/** The tests of lists and objects that a shape asks for; each passes what it is not about. */
function compileMembers(shape: Shape, of: Of): Fits[] {
  return [...ofLists(shape, of), ...ofObjects(shape, of)];
}

function ofLists(shape: Shape, of: Of): Fits[] {
  const tests: Fits[] = [];
  const list = (test: (value: readonly unknown[]) => boolean) => tests.push((value) => !Array.isArray(value) || test(value));
  const { minItems, maxItems } = shape;
  if (typeof minItems === 'number') list((value) => value.length >= minItems);
  if (typeof maxItems === 'number') list((value) => value.length <= maxItems);
  if (shape.uniqueItems === true)
    list((value) => value.every((one, at) => !value.slice(0, at).some((other) => isSame(one, other))));
  const first = Array.isArray(shape.prefixItems) ? shape.prefixItems.map(of) : [];
  if (first.length > 0) list((value) => first.every((fits, at) => at >= value.length || fits(value[at])));
  if (shape.items !== undefined) {
    const item = of(shape.items);
    list((value) => value.every((one, at) => at < first.length || item(one)));
  }
  if (shape.contains !== undefined) {
    const contained = of(shape.contains);
    const least = typeof shape.minContains === 'number' ? shape.minContains : 1;
    const most = typeof shape.maxContains === 'number' ? shape.maxContains : Number.POSITIVE_INFINITY;
    list((value) => {
      const count = value.filter((one) => contained(one)).length;
      return count >= least && count <= most;
    });
  }
  return tests;
}

function ofObjects(shape: Shape, of: Of): Fits[] {
  const tests: Fits[] = [];
  const object = (test: (value: Readonly<Record<string, unknown>>) => boolean) =>
    // An object that is no list.
    tests.push((value) => !isObject(value) || test(value));
  const { minProperties, maxProperties } = shape;
  const required = Array.isArray(shape.required) ? shape.required.filter((name) => typeof name === 'string') : [];
  const members = Object.entries(isPlainMap(shape.properties) ? shape.properties : {}).map(
    ([name, inner]) => [name, of(inner)] as const,
  );
  const patterns = Object.entries(isPlainMap(shape.patternProperties) ? shape.patternProperties : {}).map(
    ([pattern, inner]) => [compilePattern(pattern), of(inner)] as const,
  );
  if (required.length > 0) object((value) => required.every((name) => Object.hasOwn(value, name)));
  if (members.length > 0) object((value) => members.every(([name, fits]) => !Object.hasOwn(value, name) || fits(value[name])));
  if (typeof minProperties === 'number') object((value) => Object.keys(value).length >= minProperties);
  if (typeof maxProperties === 'number') object((value) => Object.keys(value).length <= maxProperties);
  if (shape.propertyNames !== undefined) {
    const named = of(shape.propertyNames);
    object((value) => Object.keys(value).every((name) => named(name)));
  }
  for (const [pattern, fits] of patterns)
    object((value) => Object.entries(value).every(([name, inner]) => pattern?.test(name) === false || fits(inner)));
  const { additionalProperties } = shape;
  if (additionalProperties !== undefined && additionalProperties !== true) {
    const rest = of(additionalProperties);
    const known = new Set(members.map(([name]) => name));
    object((value) =>
      Object.entries(value).every(
        ([name, inner]) => known.has(name) || patterns.some(([pattern]) => pattern?.test(name)) || rest(inner),
      ),
    );
  }
  return tests;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The tests of values, numbers and texts that a shape asks for; each passes what it is not about. */
function compileScalar(shape: Shape): Fits[] {
  const tests: Fits[] = [];
  if (shape.const !== undefined) tests.push((value) => isSame(value, shape.const));
  if (Array.isArray(shape.enum)) {
    const listed: readonly Json[] = shape.enum;
    const words: ReadonlySet<unknown> = new Set(listed.filter((one) => typeof one === 'string'));
    const others = listed.filter((one) => typeof one !== 'string');
    tests.push((value) => words.has(value) || others.some((one) => isSame(value, one)));
  }
  number(tests, shape.minimum, (value, bound) => value >= bound);
  number(tests, shape.maximum, (value, bound) => value <= bound);
  number(tests, shape.exclusiveMinimum, (value, bound) => value > bound);
  number(tests, shape.exclusiveMaximum, (value, bound) => value < bound);
  number(tests, shape.multipleOf, isMultiple);
  const { minLength, maxLength, pattern } = shape;
  if (typeof minLength === 'number') tests.push((value) => typeof value !== 'string' || lengthOf(value) >= minLength);
  if (typeof maxLength === 'number') tests.push((value) => typeof value !== 'string' || lengthOf(value) <= maxLength);
  if (typeof pattern === 'string') {
    const compiled = compilePattern(pattern);
    tests.push((value) => typeof value !== 'string' || (compiled?.test(value) ?? false));
  }
  return tests;
}

function number(tests: Fits[], bound: Json | undefined, holds: (value: number | bigint, bound: number) => boolean): void {
  if (typeof bound !== 'number') return;
  tests.push((value) => (typeof value !== 'number' && typeof value !== 'bigint') || holds(value, bound));
}

/** In characters, not in halves of them. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _character of text) length += 1;
  return length;
}

/**
 * Bounds what one question costs, however often shapes name each other: so many steps in all, and so many within each other. A
 * question that is asked while another is answered is part of it.
 */
export class StepBudget {
  readonly #stepsMost: number;
  #left = 0;
  #depth = 0;

  constructor(stepsMost: number) {
    this.#stepsMost = stepsMost;
  }

  /** What a step comes to; `beyond` where there is no work left for it. */
  step<Value>(beyond: Value, take: () => Value): Value {
    const isQuestion = this.#depth === 0;
    if (isQuestion) this.#left = this.#stepsMost;
    if (this.#depth >= depthMost) this.#left = 0;
    if (this.#left <= 0) return beyond;
    this.#left -= 1;
    this.#depth += 1;
    try {
      const value = take();
      // An answer for which steps were missing is none, whatever was made of those that were there.
      return isQuestion && this.#left <= 0 ? beyond : value;
    } finally {
      this.#depth -= 1;
    }
  }
}

const depthMost = 300;

/**
 * How values are made, which is one maker's only difference from another. `ordinary`: as a service would show them, each by the chance of
 * its place. `smallest`: as short as bounds let them be, always the same, without chance, and null only where nothing else is.
 */
export interface Manner {
  readonly size: 'ordinary' | 'smallest';
  /** In answers a reference may be the thing itself. */
  readonly showsWhole?: boolean;
  /** What is said to be an object, of which nothing else is known, may be any value. */
  readonly takesAny?: boolean;
  /** Resources are what a caller may send of them, not the rows that are kept. */
  readonly isSent?: boolean;
}
