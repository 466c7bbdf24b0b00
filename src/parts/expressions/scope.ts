/** What an expression can read at one place, and what it has to come to there. */

import type { Pointer } from '../../document/document.ts';
import { statedValue } from '../fact.ts';
import type { Shape } from '../shape.ts';
import { named } from '../source.ts';
import type { Spec } from '../spec.ts';
import { type CelType, timestamp } from './cel-type.ts';
import { maybeAbsent, typeOfShape } from './shape-type.ts';

/** What an expression can read at one place: each variable by its name. A map without a prototype. */
export type Scope = Readonly<Record<string, Variable>>;

export type Variable =
  | {
      readonly shape: Shape;
      /** Whether the whole may be absent, so that each of its fields has to be asked for with `has`. */
      readonly maybeAbsent?: true;
    }
  /** The time, which is handed over as such. */
  | { readonly clock: true };

/** A scope of the variables that are there. */
export function scopeOf(variables: Readonly<Record<string, Variable | undefined>>): Scope {
  return named(Object.entries(variables).flatMap(([name, variable]) => (variable ? [[name, variable] as const] : [])));
}

export function typeOfVariable(spec: Spec, variable: Variable): CelType {
  if ('clock' in variable) return timestamp;
  const type = typeOfShape(spec, variable.shape);
  return variable.maybeAbsent ? maybeAbsent(type) : type;
}

const text: Shape = { type: 'string' };

/** `now`, `operation` and `version`, which are everywhere. */
export const everywhere: Scope = scopeOf({ now: { clock: true }, operation: { shape: text }, version: { shape: text } });

const callerProperties = { id: text, user: text, scopes: { type: 'array', items: text }, claims: {}, key: text };
const callerRequired = ['id', 'user', 'scopes'];
const callerShape: Shape = { title: 'caller', type: 'object', properties: callerProperties, required: callerRequired };

/** A caller has every attribute that is stated: who has not is nobody. */
function callerShapeOf({ authentication }: Spec): Shape {
  const names = Object.keys(authentication.attributes);
  if (names.length === 0) return callerShape;
  const known = callerShapes.get(authentication) ?? {
    ...callerShape,
    properties: { ...callerProperties, ...named(names.map((name) => [name, text] as const)) },
    required: [...callerRequired, ...names],
  };
  callerShapes.set(authentication, known);
  return known;
}

const callerShapes = new WeakMap<Spec['authentication'], Shape>();

const rateShape: Shape = {
  title: 'rate',
  type: 'object',
  properties: {
    limit: { type: 'integer' },
    remaining: { type: 'integer' },
    reset: { type: 'integer' },
  },
  required: ['limit', 'remaining', 'reset'],
};

/**
 * What the strictest of the rates that counted a request says: how many, how many are left, and when more are, in seconds since 1970. Where
 * none did they come to nothing, and what is made of them is left out.
 */
export function rateVariable({ limits }: Spec): Readonly<Record<string, Variable>> {
  return statedValue(limits.rate)?.length ? { rate: { shape: rateShape } } : {};
}

/** What header fields of every answer read: nothing that came out, for there may be a refusal. */
export function tellingScope(spec: Spec): Scope {
  return scopeOf({
    ...everywhere,
    status: { shape: { type: 'integer' } },
    path: { shape: text },
    request_id: { shape: text },
    caller: callerVariable(spec, false),
    ...rateVariable(spec),
  });
}

/** The caller: known for certain, or to be asked for with `has`. */
export function callerVariable(spec: Spec, known: boolean): Variable {
  const shape = callerShapeOf(spec);
  return known ? { shape } : { shape, maybeAbsent: true };
}

/** What an expression has to come to: a value of a shape, or null too where it may be left out. */
export interface Expected {
  readonly shape: Shape;
  readonly optional?: boolean;
}

/** One expression of a document, and all that its place says of it. */
export interface ExpressionUse {
  readonly at: Pointer;
  readonly source: string;
  /** What it is, for messages: `the condition of the transition return of parcel`. */
  readonly name: string;
  /** Whether it is made of others, each of which is a use of its own. */
  readonly isMade?: boolean;
  /** A condition is asked again and again, so one that never changes is a mistake; a value may be constant. */
  readonly role: 'condition' | 'value';
  readonly expected: Expected;
  /** What an evaluation that comes to nothing means there. */
  readonly failure: 'refused' | 'blocked' | 'unknown caller' | 'unsent' | 'internal';
  /** The scope in each operation that it stands for; one without a name where no operation is concerned. */
  readonly scopes: readonly UseScope[];
}

export interface UseScope {
  readonly operation?: string;
  readonly scope: Scope;
}

/** What a condition has to come to. */
export const aBoolean: Expected = { shape: { type: 'boolean' } };
