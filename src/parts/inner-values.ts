/** What the service makes for a row by itself: its fields, and fields inside its values. */

import type { JsonMap } from '../document/document.ts';
import { isSame } from '../document/values.ts';
import type { Draw } from '../kinds/generators/kind.ts';
import { readTemplate } from '../kinds/generators/template.ts';
import { type Expression, entriesOf, statedValue } from './fact.ts';
import type { Field, Resource, Unique } from './resources.ts';
import type { Shape } from './shape.ts';
import { constantsOf, fitsBranch, levelOf, reaching, resourcesIn } from './shape-level.ts';
import type { Spec } from './spec.ts';

/** The changes in which a field of a value is set: it is there anew, or is another than it was. */
export const changesOfValues: readonly string[] = ['create', 'write'];

/** A field of a value that the service makes. */
export interface InnerField {
  /** The value that it is a field of. */
  readonly resource: string;
  readonly field: Field;
  readonly generated: Generated | undefined;
}

/** How what the service makes inside a value is made; `path` leads from the row to the value around it. */
export interface Making {
  generate(field: InnerField, path: readonly (string | number)[]): unknown;
  /** What sets it; undefined or null where that is nothing. */
  set(field: InnerField, expression: Expression, value: Members, path: readonly (string | number)[]): unknown;
}

type Members = Readonly<Record<string, unknown>>;

/** A value with what the service makes in it, which what was there `before` has already; neither is touched. */
export type CompleteValue = (value: unknown, before: unknown, path: readonly (string | number)[], making: Making) => unknown;

/** Compiles it for a shape; nothing where the service makes nothing inside its values. */
export function compileInnerValues(spec: Spec, shape: Shape): CompleteValue | undefined {
  const completer = completers.get(spec) ?? new Completer(spec);
  completers.set(spec, completer);
  return completer.ofShape(shape);
}

/** The fields of a value that the service makes; none of a resource with rows of its own. */
function innerFieldsOf(resource: Resource): readonly InnerField[] {
  if (resource.identifier.standing !== 'none') return [];
  return entriesOf(resource.fields).flatMap(([, field]): InnerField[] => {
    const made = generatedOf(resource, field);
    const generated = made && 'wrong' in made ? undefined : made;
    const isMade = generated || field.default || changesOfValues.some((change) => field.set[change]);
    return isMade ? [{ resource: resource.name, field, generated }] : [];
  });
}

class Completer {
  readonly #spec: Spec;
  readonly #byResource = new Map<string, CompleteValue>();
  /** The resources in which, at any depth, something is made. */
  readonly #making: ReadonlySet<string>;

  constructor(spec: Spec) {
    this.#spec = spec;
    this.#making = reaching(spec, (resource) => innerFieldsOf(resource).length > 0);
  }

  ofShape(shape: JsonMap): CompleteValue | undefined {
    if (![...resourcesIn(shape)].some((name) => this.#making.has(name))) return undefined;
    return typeof shape.resource === 'string' ? this.#ofResource(shape.resource) : this.#ofLevel(shape);
  }

  #ofLevel(shape: JsonMap): CompleteValue {
    const level = levelOf(this.#spec, shape);
    const members = level.members.flatMap(({ name, shape: inner }) => {
      const complete = this.ofShape(inner);
      return complete ? [{ name, complete }] : [];
    });
    const items = level.items && this.ofShape(level.items);
    const branches = level.branches.flatMap((branch) => {
      const complete = this.ofShape(branch);
      return complete ? [{ constants: constantsOf(this.#spec, branch), complete }] : [];
    });
    return (value, before, path, making) => {
      let whole = value;
      if (Array.isArray(value) && items) whole = completeItems(value, before, path, making, items);
      else if (isMembers(value)) whole = withMembers(value, before, path, making, members);
      for (const { constants, complete } of branches) {
        // A value of another branch is not what it was.
        const was = fitsBranch(before, constants) ? before : undefined;
        if (fitsBranch(whole, constants)) whole = complete(whole, was, path, making);
      }
      return whole;
    };
  }

  /** Compiled once a resource, when the first value of it comes, so that recursion ends. */
  #ofResource(name: string): CompleteValue {
    const known = this.#byResource.get(name);
    if (known) return known;
    let compiled: CompleteValue | undefined;
    const complete: CompleteValue = (value, before, path, making) => {
      compiled ??= this.#withOwn(name);
      return compiled(value, before, path, making);
    };
    this.#byResource.set(name, complete);
    return complete;
  }

  #withOwn(name: string): CompleteValue {
    const inside = this.#ofLevel({ resource: name });
    const resource = entriesOf(this.#spec.resources.all).find(([one]) => one === name)?.[1];
    const own = resource ? innerFieldsOf(resource) : [];
    if (own.length === 0) return inside;
    const names = new Set(own.map(({ field }) => field.name));
    return (value, before, path, making) => {
      const whole = inside(value, before, path, making);
      if (!isMembers(whole)) return whole;
      const was = isMembers(before) ? before : undefined;
      return was && isKept(whole, was, names) ? withKept(whole, was, names) : withOwn(whole, was, own, path, making);
    };
  }
}

const completers = new WeakMap<Spec, Completer>();

function withMembers(
  value: Members,
  before: unknown,
  path: readonly (string | number)[],
  making: Making,
  members: readonly { readonly name: string; readonly complete: CompleteValue }[],
): Members {
  const whole = copyOf(value);
  for (const { name, complete } of members) {
    if (value[name] === undefined || value[name] === null) continue;
    whole[name] = complete(value[name], isMembers(before) ? before[name] : undefined, [...path, name], making);
  }
  return whole;
}

/** So many comparisons find where the items of a list stood before; one that is not found by then is taken for a new one. */
const comparisonsMost = 1_000_000;

/** An item that was there before is that one, wherever it stands now; it is looked for at its own place first, then behind the one before it. */
function completeItems(
  items: readonly unknown[],
  before: unknown,
  path: readonly (string | number)[],
  making: Making,
  complete: CompleteValue,
): readonly unknown[] {
  const old: readonly unknown[] = Array.isArray(before) ? before : [];
  const taken = new Set<number>();
  let left = comparisonsMost;
  let behind = 0;
  const isThat = (item: unknown, at: number) => {
    const one = old[at];
    return !taken.has(at) && isMembers(one) && isMembers(item) && isWithin(item, one);
  };
  const placeOf = (item: unknown, index: number): number => {
    if (isThat(item, index)) return index;
    for (let tried = 0; tried < old.length && left > 0; tried++, left--) {
      const at = (behind + tried) % old.length;
      if (isThat(item, at)) return at;
    }
    return -1;
  };
  return items.map((item, index) => {
    const at = placeOf(item, index);
    taken.add(at);
    if (at >= 0) behind = at + 1;
    return complete(item, at < 0 ? undefined : old[at], [...path, index], making);
  });
}

/** Whether all that is said of a value was so before. */
function isWithin(value: Members, before: Members): boolean {
  return Object.entries(value).every(([name, entry]) => isSame(entry, before[name]));
}

/** Whether a value is what it was, but for what the service makes in it. */
function isKept(value: Members, before: Members, made: ReadonlySet<string>): boolean {
  const names = new Set([...Object.keys(value), ...Object.keys(before)]);
  return [...names].every((name) =>
    made.has(name) ? value[name] === undefined || isSame(value[name], before[name]) : isSame(value[name], before[name]),
  );
}

function withKept(value: Members, before: Members, names: ReadonlySet<string>): Members {
  const whole = copyOf(value);
  for (const name of names) if (whole[name] === undefined && before[name] !== undefined) whole[name] = before[name];
  return whole;
}

/** All that is set reads the value as it was sent, with what is generated in it. */
function withOwn(
  value: Members,
  before: Members | undefined,
  own: readonly InnerField[],
  path: readonly (string | number)[],
  making: Making,
): Members {
  const whole = copyOf(value);
  for (const one of own) {
    const { name, default: usual } = one.field;
    if (whole[name] !== undefined) continue;
    const generated = one.generated && (before?.[name] ?? making.generate(one, path));
    if (generated !== undefined) whole[name] = generated;
    else if (usual && !before) whole[name] = usual.value;
  }
  const scope = copyOf(whole);
  for (const one of own) {
    const { name, set } = one.field;
    const expression = (before ? undefined : set.create) ?? set.write;
    if (!expression) {
      // What is set where a value comes to be there stays, whatever becomes of the rest of it.
      if (Object.keys(set).length > 0 && whole[name] === undefined && before?.[name] !== undefined) whole[name] = before[name];
      continue;
    }
    const made = making.set(one, expression, scope, path);
    if (made === undefined || made === null) delete whole[name];
    else whole[name] = made;
  }
  return whole;
}

function copyOf(value: Members): Record<string, unknown> {
  return Object.assign(Object.create(null), value);
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** What the service makes for a field of a new row. */
export interface Generated {
  make(draw: Draw): string | number;
  /** What it makes, as a regular expression; of a counted integer none. */
  readonly pattern: string | undefined;
  /** Whether it is counted: one more for each row. */
  readonly counts: boolean;
  /** The fields of its row that it holds. */
  readonly fields: readonly string[];
  /** The number that a value of it was counted to; nothing where it is none of it. */
  numberIn(value: unknown): number | undefined;
}

/** What `generate: integer` makes: a number that is counted. */
const counted: Generated = {
  make: (draw) => draw.count?.() ?? 1,
  pattern: undefined,
  counts: true,
  fields: [],
  numberIn: (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined),
};

/** What is generated for a field, or what is wrong with how it is stated; nothing where nothing is. */
export function generatedOf(resource: Resource, field: Field): Generated | { readonly wrong: string } | undefined {
  if (field.generate === undefined) return undefined;
  if (field.generate === 'integer') return counted;
  const read = readTemplate(field.generate, { fields: fieldsBefore(resource, field) });
  if ('wrong' in read) return read;
  const { make, pattern, counts, fields, numberIn } = read.template;
  return { make, pattern, counts, fields, numberIn: (value) => (typeof value === 'string' ? numberIn(value) : undefined) };
}

/** The identifier, and what is generated above the field: none is made of what is made of itself. */
function fieldsBefore(resource: Resource, { name }: Field): string[] {
  const identifier = statedValue(resource.identifier)?.field;
  const names = entriesOf(resource.fields).map(([one]) => one);
  const above = entriesOf(resource.fields).slice(0, names.indexOf(name));
  const generated = above.flatMap(([one, { generate }]) => (generate === undefined || one === identifier ? [] : [one]));
  return identifier === undefined || identifier === name ? generated : [identifier, ...generated];
}

/**
 * The rules by which rows are told apart: those that are stated, and that what is counted is held by one row alone of those that it is
 * counted within, which follows.
 */
export function uniquesOf(resource: Resource): readonly Unique[] {
  const counted = entriesOf(resource.fields).flatMap(([name, field]): Unique[] => {
    const generated = generatedOf(resource, field);
    if (!generated || 'wrong' in generated || !generated.counts) return [];
    return [{ at: field.at, fields: field.within === undefined ? [name] : [field.within, name] }];
  });
  return counted.length === 0 ? resource.unique : [...resource.unique, ...counted];
}
