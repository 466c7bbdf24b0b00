import type { Json, JsonMap } from '../../document/document.ts';
import { entryOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { alternativesOf, fitsAll, unionOf, without } from '../shapes/branches.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import { Fitting, type Manner, StepBudget } from './fit.ts';
import { compileIdentifiers, type MakeIdentifier } from './formats.ts';
import { compileLeaf, compileSmallestLeaf, examplesIn, typeMade } from './leaves.ts';
import { compileListSampler, compileObject } from './members.ts';
import { isNumberedText, shapeAsNamed } from './named-in-paths.ts';
import { nullOrShown } from './nulls.ts';
import { type Chance, chanceOf, type Ground, nothing, type SampleBudget, type SampleMeans, type Sampler } from './sampler.ts';
import { admitsNull, Costs, WholeShapes, withoutNull } from './whole-shape.ts';

/** Makes values of shapes: compiled once for each shape, when it is first asked for, and pure. */
export class Samples {
  readonly fitting: Fitting;
  readonly #spec: Spec;
  readonly #manner: Manner;
  readonly #whole: WholeShapes;
  readonly #costs: Costs;
  readonly #known = new WeakMap<JsonMap, Map<string, Sampler>>();
  readonly #budget = new StepBudget(stepsMost);

  readonly #telling = new WeakMap<object, MakeIdentifier>();

  constructor(spec: Spec, manner: Manner = { size: 'ordinary' }) {
    this.#spec = spec;
    this.#manner = manner;
    this.#whole = new WholeShapes(spec, manner.isSent);
    this.#costs = new Costs(this.#whole);
    this.fitting = new Fitting(this.#whole, manner, this.#budget);
  }

  /** The sampler of a shape; the name of its field tells what a text without a format is like. */
  of(shape: Json, name = ''): Sampler {
    const stated = isPlainMap(shape) ? shape : shape === false ? impossible : anything;
    const byName = this.#known.get(stated) ?? new Map<string, Sampler>();
    this.#known.set(stated, byName);
    const known = byName.get(name) ?? this.#later(stated, name);
    byName.set(name, known);
    return known;
  }

  /** The sampler of a row of a resource. */
  ofResource(name: string): Sampler {
    return this.of(this.#whole.ofResource(name), name);
  }

  /** The members that a shape names, with their shapes. */
  membersOf(shape: Shape): Readonly<Record<string, Json>> {
    const { properties } = this.#whole.of(shape);
    return isPlainMap(properties) ? properties : {};
  }

  /** A shape with its resource or its parts written out at the top. */
  whole(shape: Shape): Shape {
    return this.#whole.of(shape);
  }

  /** Makes identifiers for a resource that does not say how; `like` is a row of it, if one is known. */
  identifiers(name: string, like: JsonMap = {}): MakeIdentifier {
    const resource = entryOf(this.#spec.resources.all, name);
    const called = (resource && statedValue(resource.identifier)?.field) ?? 'id';
    const field = resource && entryOf(resource.fields, called);
    const known = Object.hasOwn(like, called) ? [like[called] as Json] : [];
    const own = (field && statedValue(field.shape)) ?? { type: 'string' };
    const named = { spec: this.#spec, resource: name, identifier: called, whole: (one: Shape) => this.#whole.of(one) };
    const shape = this.#whole.of(shapeAsNamed(named, own));
    const fits = this.fitting.of(shape);
    const isNumbered = isNumberedText(named, shape, [...examplesIn(shape), ...known]);
    if (isNumbered && fits('1')) return (_chance, sequence) => String(sequence);
    const makers = this.#alternatives(shape).map((one) => compileIdentifiers(name, one, [...examplesIn(one), ...known], fits));
    return (chance, sequence) => {
      for (const make of makers) {
        const made = make(chance, sequence);
        if (made !== undefined) return made;
      }
      return undefined;
    };
  }

  /** Another text than the one that is shown, and like it, where by it one thing is told from all others: a `uuid` beside its identifier. */
  telling(stated: Shape, name: string, shown: Json | undefined, chance: Chance): string | undefined {
    let make = this.#telling.get(stated);
    if (make === undefined) {
      const shape = withoutNull(this.#whole.of(stated));
      const examples = [...examplesIn(shape), shown].filter((one) => typeof one === 'string');
      make = examples.length === 0 ? () => undefined : compileIdentifiers(name, shape, examples, this.fitting.of(shape));
      this.#telling.set(stated, make);
    }
    const made = make(chance, 1);
    return typeof made === 'string' ? made : undefined;
  }

  /** The branches of a union, each written out; a shape that is none is its own only one. */
  #alternatives(shape: Shape): Shape[] {
    return unionOf(shape) ? alternativesOf(shape).flatMap((branch) => this.#alternatives(this.#whole.of(branch))) : [shape];
  }

  /** A shape may hold itself, so nothing is compiled before it is needed. */
  #later(shape: JsonMap, name: string): Sampler {
    let compiled: Sampler | undefined;
    const get = (): Sampler => {
      compiled ??= this.#compile(shape, name);
      return compiled;
    };
    return {
      fits: this.fitting.of(shape),
      get cost() {
        return get().cost;
      },
      get isFixed() {
        return get().isFixed;
      },
      make: (ground, path) => get().make(ground, path),
      complete: (given, ground, path) => get().complete(given, ground, path),
    };
  }

  #compile(stated: Shape, name: string): Sampler {
    const shape = this.#whole.of(stated);
    const fits = this.fitting.of(stated);
    const cost = this.#costs.of(stated);
    const { make, complete } = this.#means(shape, name);
    const budget = this.#budget;
    const surely = (ground: Ground, path: string): unknown => budget.step<unknown>(nothing, () => makeOne(ground, path));
    const makeOne = (wished: Ground, path: string): unknown => {
      if (!Number.isFinite(cost) || !isWithin(wished.budget)) return nothing;
      const there = thingThere(stated, wished, path);
      if (there !== undefined && fits(there)) return there;
      const shown = wished.isFull ? make(wished, path) : nothing;
      if (shown !== nothing && fits(shown)) return shown;
      const ground = wished.isFull ? { ...wished, isFull: false } : wished;
      const first = make(ground, path);
      if (first === nothing || fits(first) || !this.fitting.decides(stated)) return first;
      for (let again = 1; again <= triesMost; again++) {
        const value = make({ ...ground, seed: `${ground.seed} ${again}` }, path);
        if (value !== nothing && fits(value)) return value;
      }
      return nothing;
    };
    return {
      fits,
      cost,
      isFixed: shape.const !== undefined || (Array.isArray(shape.enum) && shape.enum.length === 1),
      make: surely,
      complete(given, ground, path) {
        if (given !== undefined && fits(given)) return given;
        const meant = rowMeant(stated, given, ground);
        if (fits(meant)) return meant;
        const completed =
          meant === undefined || meant === null ? nothing : budget.step<unknown>(nothing, () => complete(meant, ground, path));
        if (completed !== nothing) return completed;
        const made = surely(ground, path);
        if (made !== nothing) ground.sampled(path);
        return made;
      },
    };
  }

  /** How a shape that is written out is made, and how a value that does not fit it is mended. */
  #means(shape: Shape, name: string): SampleMeans {
    const unmended = { complete: (): unknown => nothing };
    const { ref } = shape;
    if (admitsNull(shape)) {
      const means = this.#plain(withoutNull(shape), name);
      if (ownNames.test(name) && isText(shape)) return means;
      return nullOrShown(means, withoutNull(shape), name, this.#manner.size);
    }
    if (typeof ref === 'string') return { ...unmended, make: (ground, path) => ground.identifierOf(ref, path) ?? nothing };
    return this.#plain(shape, name);
  }

  #plain(shape: Shape, name: string): SampleMeans {
    const union = unionOf(shape);
    if (union) {
      const rest = without(shape, union.keyword);
      const hasRest = Object.keys(rest).some((key) => key !== 'description' && key !== 'title');
      const samplers = this.#inTurn(union.branches).map((branch) =>
        this.of(hasRest ? this.#together(rest, branch) : branch, name),
      );
      return chooseBranch(samplers, this.#manner.size === 'ordinary' ? 'shallowest' : 'first');
    }
    const of = (inner: Json, member: string) => this.of(inner, member);
    const type = typeMade(shape);
    if (type === 'object') return compileObject(shape, of);
    if (type === 'array') return compileListSampler(shape, of, name);
    if (this.#manner.size === 'smallest')
      return { complete: () => nothing, make: compileSmallestLeaf(shape, type, name, this.fitting.of(shape)) };
    const make = compileLeaf(shape, type, name, this.fitting.of(shape));
    return { complete: () => nothing, make: (ground, path) => make(chanceAt(ground, path)) };
  }

  /** Branches as they are tried: of what is smallest, null last. */
  #inTurn(branches: readonly Json[]): readonly Json[] {
    if (this.#manner.size === 'ordinary') return branches;
    const isNull = (branch: Json) => isPlainMap(branch) && branch.type === 'null';
    return branches.toSorted((a, b) => Number(isNull(a)) - Number(isNull(b)));
  }

  #together(rest: Shape, branch: Json): Json {
    return isPlainMap(branch) ? fitsAll([rest, branch]) : branch;
  }
}

/** What a thing is told from others by, and what its caller is: an answer that may leave them null tells them all the same. */
const ownNames = /^(?:id|uuid|guid|access_?token)$/i;

function isText({ type }: Shape): boolean {
  return type === 'string' || (Array.isArray(type) && type.includes('string'));
}

/** Takes one value off a budget; false where nothing is left. */
function isWithin(budget: SampleBudget | undefined): boolean {
  if (budget === undefined) return true;
  budget.left -= 1;
  return budget.left >= 0;
}

const anything: JsonMap = Object.freeze({});
const impossible: JsonMap = Object.freeze({ not: {} });
const triesMost = 12;
/** What takes more steps to make, or to hold to its shape, is not made: it would be no sample that anybody reads. */
const stepsMost = 200_000;

/** The chance of one place. */
function chanceAt({ seed }: Pick<Ground, 'seed'>, path: string): Chance {
  return chanceOf(`${seed}\n${path}`);
}

/** Makes the shallowest branch of a union, or the first that can be made, and mends a value in the branch that keeps most of it, then makes up least. */
function chooseBranch(branches: readonly Sampler[], made: 'shallowest' | 'first'): SampleMeans {
  let ranked: readonly Sampler[] | undefined;
  const rankedBranches = (): readonly Sampler[] => {
    const ending = branches.filter(({ cost }) => Number.isFinite(cost));
    return made === 'first' ? ending : ending.toSorted((a, b) => a.cost - b.cost);
  };
  return {
    make(ground, path) {
      ranked ??= rankedBranches();
      for (const branch of ranked) {
        const value = branch.make(ground, path);
        if (value !== nothing) return value;
      }
      return nothing;
    },
    complete(given, ground, path) {
      if (typeof given !== 'object' || given === null) return nothing;
      let best: { readonly value: unknown; readonly told: readonly string[]; readonly kept: number } | undefined;
      for (const branch of branches) {
        const told: string[] = [];
        const value = branch.complete(given, { ...ground, sampled: (place) => told.push(place) }, path);
        // A branch that had to make up the whole has kept nothing of what was given.
        if (value === nothing || told.includes(path)) continue;
        const kept = keptOf(given, value);
        if (!best || kept > best.kept || (kept === best.kept && told.length < best.told.length)) best = { value, told, kept };
      }
      if (!best) return nothing;
      for (const place of best.told) ground.sampled(place);
      return best.value;
    },
  };
}

/** How many members of what was given are still there as they were. */
function keptOf(given: object, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = new Map(Object.entries(value));
  return Object.entries(given).filter(([name, member]) => member !== undefined && members.get(name) === member).length;
}

/** Where a thing is to stand and its identifier is given, the thing; else what is given. */
function rowMeant({ resource }: Shape, given: unknown, ground: Ground): unknown {
  const isIdentifier = typeof given === 'string' || typeof given === 'number';
  return typeof resource === 'string' && isIdentifier ? (ground.rowOf?.(resource, given) ?? given) : given;
}

/** Where a thing of its own stands inside another, one that is there. */
function thingThere({ resource }: Shape, ground: Ground, path: string): unknown {
  if (typeof resource !== 'string' || path === '' || !ground.rowOf) return undefined;
  const id = ground.identifierOf(resource, path);
  return typeof id === 'string' || typeof id === 'number' ? ground.rowOf(resource, id) : undefined;
}
