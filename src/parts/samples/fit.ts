import type { Json, JsonMap } from '../../document/document.ts';
import { isOfType } from '../../document/json-type.ts';
import type { Shape } from '../shape.ts';
import { conjunctionOf, unionsOf } from '../shapes/branches.ts';
import { keywords } from '../shapes/keywords.ts';
import { isMap } from '../source.ts';
import { compileMembers } from './fit-members.ts';
import { compileScalar } from './fit-scalar.ts';
import { formatOf } from './formats.ts';
import type { WholeShapes } from './whole-shape.ts';

/** Whether a value surely is of a shape. Where a keyword is beyond these means, none is. */
export type Fits = (value: unknown) => boolean;

/** Tells what fits a shape, compiled once for each shape, and for each resource when it is first met. */
export class Fitting {
  readonly #whole: WholeShapes;
  readonly #known = new WeakMap<JsonMap, Fits>();
  readonly #resources = new Map<string, Fits>();

  /** In answers a reference may be shown whole. */
  readonly #showsWhole: boolean;

  constructor(whole: WholeShapes, showsWhole: boolean) {
    this.#whole = whole;
    this.#showsWhole = showsWhole;
  }

  of(shape: Json): Fits {
    if (!isMap(shape)) return shape === false ? () => false : () => true;
    const known = this.#known.get(shape);
    if (known) return known;
    // A shape may hold itself: who asks for it meanwhile is told to ask again.
    let compiled: Fits | undefined;
    const later: Fits = (value) => {
      compiled ??= this.#compile(shape);
      return compiled(value);
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
      const each = branches.map((branch) => this.of(branch));
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
  return isMap(shape) && Object.keys(shape).every((key) => words.includes(key));
}
