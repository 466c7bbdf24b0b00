import { Failed } from '../expressions/cel-value.ts';
import { compileExpression } from '../expressions/compile.ts';
import type { Raw } from '../expressions/frame.ts';
import type { Expression } from '../fact.ts';
import type { Spec } from '../spec.ts';
import type { Change } from '../versioning.ts';
import { olderValue } from './older-values.ts';
import { versioningUses } from './uses.ts';

/** What expressions of changes may read besides the value. */
export interface Moment {
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
