/** What expressions of changes read, and the uses of these expressions. */

import { Failed, type Raw } from '../expressions/cel-value.ts';
import { compileExpression } from '../expressions/compile.ts';
import { type ExpressionUse, everywhere, scopeOf } from '../expressions/scope.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { isPlainMap } from '../source.ts';
import type { Spec } from '../spec.ts';
import type { Change } from '../versioning.ts';
import { olderValue, withOlderValues } from './carry.ts';

/** What expressions of changes may read besides the value. */
interface Moment {
  readonly version: string;
  now(): number;
}

/** How the values of one field go down below a change and up again. @throws {CannotCarry} where a value has no counterpart. */
export interface ValueChange {
  down(value: unknown): unknown;
  up(value: unknown): unknown;
}

/** A value that no change can carry; `path` is where it lies, in the words of the version that it comes from. */
export class CannotCarry extends Error {
  readonly path: string[] = [];
}

/** Compiles the values of changes, each of them once. */
export class ChangeValues {
  readonly #spec: Spec;
  readonly #moment: Moment;
  #uses: ReadonlyMap<string, ReturnType<typeof versioningUses>[number]> | undefined;

  constructor(spec: Spec, moment: Moment) {
    this.#spec = spec;
    this.#moment = moment;
  }

  of(change: Extract<Change, { kind: 'map' | 'enum' }>): ValueChange {
    if (change.kind === 'enum') return renamedValues(change.values);
    return { down: this.#expression(change.down), up: this.#expression(change.up) };
  }

  /** What a field is below the change that removed it; nothing where the change does not say. */
  ofRemoved({ down }: Extract<Change, { kind: 'remove' }>): (() => unknown) | undefined {
    if (!down) return undefined;
    const evaluate = this.#expression(down);
    return () => evaluate(undefined);
  }

  #expression(expression: Expression | undefined): (value: unknown) => unknown {
    if (!expression)
      return () => {
        throw new CannotCarry('Nothing says how this value is carried.');
      };
    this.#uses ??= new Map(versioningUses(this.#spec).map((use) => [use.at, use]));
    const use = this.#uses.get(expression.at);
    const scope = use?.scopes[0]?.scope;
    if (!use || !scope) throw new Error(`${expression.at} is no expression of a change.`);
    const compiled = compileExpression(this.#spec, { source: use.source, scope, expected: use.expected });
    const { version, now } = this.#moment;
    return (value) => {
      // What is carried is a JSON value.
      const result = compiled.evaluate({ value: value as Raw, version, operation: '', now: now() });
      if (result instanceof Failed) throw new CannotCarry(`${expression.source} came to nothing: ${result.message}.`);
      return result;
    };
  }
}

/** Renamed values, both ways; in a list, each of them. What is not renamed stays as it is. */
function renamedValues(values: Extract<Change, { kind: 'enum' }>['values']): ValueChange {
  const downward = new Map<unknown, unknown>();
  const upward = new Map<string, unknown>();
  for (const [old, value] of Object.entries(values)) {
    if (!downward.has(value)) downward.set(value, olderValue(old, value));
    upward.set(old, value);
  }
  const eachOf = (rename: (value: unknown) => unknown) => (value: unknown) =>
    Array.isArray(value) ? value.map(rename) : rename(value);
  return {
    down: eachOf((value) => (downward.has(value) ? downward.get(value) : value)),
    up: eachOf((value) => (isScalar(value) && upward.has(String(value)) ? upward.get(String(value)) : value)),
  };
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint';
}

/** The expressions of part 9: how values are carried to an older version and back. */
export function versioningUses(spec: Spec): ExpressionUse[] {
  return entriesOf(spec.versioning.changes).flatMap(([version, changes]) =>
    (statedValue(changes) ?? []).flatMap((change) => changeUses(spec, version, change)),
  );
}

function changeUses(spec: Spec, version: string, change: Change): ExpressionUse[] {
  if (change.kind !== 'map' && change.kind !== 'remove') return [];
  const field = `${change.resource}.${change.field}`;
  if (change.kind === 'remove') {
    return change.down ? [use(change.down, `what ${field} is before ${version}`, change.was ?? {})] : [];
  }
  const now = shapeAfter(spec, change);
  // What says no `was` changes its values and not their shape.
  const was = change.was ?? now;
  return [
    ...(change.down ? [use(change.down, `${field} carried down below ${version}`, was, now)] : []),
    ...(change.up ? [use(change.up, `${field} carried up to ${version}`, now, was)] : []),
  ];
}

function use({ at, source }: Expression, name: string, shape: Shape, value?: Shape): ExpressionUse {
  const scope = scopeOf({ ...everywhere, value: value && { shape: value } });
  return { at, source, name, role: 'value', expected: { shape }, failure: 'internal', scopes: [{ scope }] };
}

/** The shape that a field has after a change of it: what the first later change says it was, else the one that is stored. */
export function shapeAfter(spec: Spec, change: FieldChange): Shape {
  const all = entriesOf(spec.versioning.versions).flatMap(([version]) => {
    const changes = entryOf(spec.versioning.changes, version);
    return (changes && statedValue(changes)) ?? [];
  });
  const { resource } = change;
  let name = change.field;
  // The names that its values had, the oldest first.
  const named: Extract<Change, { kind: 'enum' }>[] = [];
  const asThen = (shape: Shape) => named.reduceRight((then, { values }) => withOlderValues(then, values), shape);
  for (const later of all.slice(all.indexOf(change) + 1)) {
    if (later.kind === 'endpoint' || later.resource !== resource) continue;
    const isAbove = later.kind === 'rename' && name.startsWith(`${later.field}.`);
    if (later.field !== name && !isAbove) continue;
    if (later.kind === 'rename') name = renamed(name, later.field, later.to);
    else if (later.kind === 'remove') return asThen(later.was ?? {});
    else if (later.kind === 'map' && later.was) return asThen(later.was);
    else if (later.kind === 'enum') named.push(later);
  }
  const [root = '', ...inside] = name.split('.');
  return asThen(inside.reduce((shape, step) => memberOf(spec, shape, step), memberOf(spec, { resource }, root)));
}

type FieldChange = Exclude<Change, { readonly kind: 'endpoint' }>;

/** A field inside another keeps what stands before its last word: `size.high` to `height` is `size.height`. */
function renamed(name: string, from: string, to: string): string {
  const parent = from.includes('.') && !to.includes('.') ? `${from.slice(0, from.lastIndexOf('.'))}.` : '';
  return parent + to + name.slice(from.length);
}

/** The shape of a member, through lists and values. */
function memberOf(spec: Spec, shape: Shape, name: string): Shape {
  if (typeof shape.resource === 'string') {
    const stated = entryOf(spec.resources.all, shape.resource);
    const field = stated && entryOf(stated.fields, name);
    return (field && statedValue(field.shape)) ?? {};
  }
  if (isPlainMap(shape.items)) return memberOf(spec, shape.items, name);
  const member = isPlainMap(shape.properties) ? shape.properties[name] : undefined;
  return isPlainMap(member) ? member : {};
}
