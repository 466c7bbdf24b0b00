/** What compiling a document shares: its facts, its compilers, what an expression comes to or why it does not fit, and its older versions. */

import type { JsonMap } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { type EvaluationContext, Failed as FailedValue } from '../../parts/expressions/cel-value.ts';
import { compileExpression, type Read } from '../../parts/expressions/compile.ts';
import type { ExpressionUse, Scope } from '../../parts/expressions/scope.ts';
import { type Expression, entriesOf, entryOf, isStated, statedValue } from '../../parts/fact.ts';
import { type Ledger, ledgerOf } from '../../parts/facts/ledger.ts';
import { namedSchema, type SchemaUse, toJsonSchema, toNamingSchema } from '../../parts/schemas.ts';
import type { Shape } from '../../parts/shape.ts';
import type { Spec } from '../../parts/spec.ts';
import { expressionUsesNear, partOf } from '../../parts/uses/all.ts';
import type { Selection } from '../../parts/versioning.ts';
import { Carries } from '../../parts/versions/carries.ts';
import { type History, historyOf } from '../../parts/versions/carry.ts';
import { specInVersion } from '../../parts/versions/spec-in-version.ts';
import { createValidator, type Validator } from '../http/ajv.ts';
import type { Validate } from '../http/validation.ts';
import { describeValue, type Violation } from '../http/violation.ts';
import type { Refusal, Value } from './exchange.ts';
import { type OpenFacts, openFacts } from './open.ts';

/** What compiling a document into plans shares: its facts, and the compilers of expressions and validators. */
export interface Compilation {
  readonly spec: Spec;
  /** Drawn up when it is first asked for. */
  ledger(): Ledger;
  readonly facts: OpenFacts;
  readonly validator: Validator;
  /** The schema of a resource, by the name that other schemas have for it. */
  readonly named: (name: string) => JsonMap;
  /** The user that callers are taken for, until credentials say. */
  readonly user: string | undefined;
  /** The version that is spoken, where its shapes are not the stored ones. */
  readonly version: OlderVersion | undefined;
  /** The same, with what it reads. */
  readonly prepare: ReturnType<typeof compileExpressions>;
  /** Compiles an expression in the scope of an operation, or where it is only one. */
  expression(expression: Expression, operation?: string): Evaluate;
  /** A validator for a shape, compiled on its first use. */
  validate(shape: Shape, use: SchemaUse): Validate;
}

export function startCompilation(spec: Spec, user: string | undefined): Compilation {
  let ledger: Ledger | undefined;
  const facts = openFacts(spec);
  const schemas = new Map<string, JsonMap>();
  const named = (name: string): JsonMap => {
    const known = schemas.get(name) ?? namedSchema(spec, name);
    schemas.set(name, known);
    return known;
  };
  const validator = createValidator({ named });
  const prepare = compileExpressions(spec);
  return {
    spec,
    ledger() {
      ledger ??= ledgerOf(spec);
      return ledger;
    },
    facts,
    validator,
    named,
    user,
    version: undefined,
    prepare,
    expression: (expression, operation) => prepare(expression, operation).evaluate,
    validate: (shape, use) => validator.compile(() => toNamingSchema(spec, shape, use)),
  };
}

/** An expression in the scope of one operation, ready to run. */
export interface PreparedExpression {
  readonly source: string;
  readonly scope: Scope;
  /** Every path that it reads of its variables. */
  reads(): readonly Read[];
  readonly evaluate: Evaluate;
  /** Compiles it now, and gives what comes to its value, or to why there is none, with nothing in between. */
  compiled(): (scope: Readonly<Record<string, Value>>) => Value | FailedValue;
}

/**
 * Compiles the expressions of a document by their places, each in the scope of the operation that it is evaluated for; the
 * uses of a part are gone through once, on its first expression.
 */
function compileExpressions(spec: Spec): (expression: Expression, operation?: string) => PreparedExpression {
  const byPart = new Map<string, ReadonlyMap<string, ExpressionUse>>();
  const usesNear = (at: string): ReadonlyMap<string, ExpressionUse> => {
    const uses = byPart.get(partOf(at)) ?? new Map(expressionUsesNear(spec, at).map((use) => [use.at, use]));
    byPart.set(partOf(at), uses);
    return uses;
  };
  const known = new Map<string, PreparedExpression>();
  return (expression, operation) => {
    const use = usesNear(expression.at).get(expression.at);
    const scope = use?.scopes.find((candidate) => candidate.operation === operation) ?? use?.scopes[0];
    const key = `${expression.at}\n${scope?.operation ?? ''}`;
    const found = known.get(key);
    if (found) return found;
    const prepared = use && scope ? prepare(spec, { ...use, scope: scope.scope }) : nowhere(expression);
    known.set(key, prepared);
    return prepared;
  };
}

function prepare(spec: Spec, use: Parameters<typeof compileExpression>[1]): PreparedExpression {
  let compiled: ReturnType<typeof compileExpression> | undefined;
  return {
    source: use.source,
    scope: use.scope,
    reads() {
      compiled ??= compileExpression(spec, use);
      return compiled.reads;
    },
    compiled() {
      compiled ??= compileExpression(spec, use);
      // A scope holds JSON values, a clock and a follower by name, which is what a context is.
      return compiled.evaluate as ReturnType<PreparedExpression['compiled']>;
    },
    evaluate(scope) {
      compiled ??= compileExpression(spec, use);
      const value = compiled.evaluate(scope as EvaluationContext);
      return value instanceof FailedValue ? new EvaluationFailure(value.message) : value;
    },
  };
}

function nowhere({ source }: Expression): PreparedExpression {
  const why = 'it stands where nothing evaluates it';
  const failed = new EvaluationFailure(why);
  const uncompiled = new FailedValue('absent', why);
  return { source, scope: {}, reads: () => [], evaluate: () => failed, compiled: () => () => uncompiled };
}

/** An expression that could not be evaluated: what types cannot exclude fails closed. */
export class EvaluationFailure {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export function isFailed(value: Value): value is EvaluationFailure {
  return value instanceof EvaluationFailure;
}

/** Evaluates an expression over named JSON values; never throws. */
export type Evaluate = (scope: Readonly<Record<string, Value>>) => Value;
export type CompileExpression = (expression: Expression) => Evaluate;

type Names = Readonly<Record<string, Value>>;

/** What an expression was evaluated for. */
interface Evaluated {
  readonly expression: PreparedExpression;
  readonly operation: string;
  readonly names: Names;
}

/**
 * What is answered where an expression comes to nothing that is right. What it reads of the request is what is wrong, each at its place:
 * other values would have done. Where it reads nothing of it, the failure is ours, and `message` tells whoever runs the service.
 */
export function unfit(spec: Spec, { expression, operation, names }: Evaluated, message: string, expected: string): Refusal {
  const reads = expression.reads();
  const body = reads.flatMap(({ root, path }) => {
    const isSent = root === 'request' || (root === 'next' && path[0] !== undefined && isThere(names.request, path[0]));
    return isSent && names.request !== undefined
      ? [violation('body', pointer(path), valueAt(names.request, path), expected)]
      : [];
  });
  if (body.length > 0) return { when: 'request.invalid', violations: body };
  const parameters = reads.flatMap(({ root, path: [name] }) =>
    root === 'params' && name !== undefined
      ? [violation(placeOf(spec, operation, name), name, valueAt(names.params, [name]), expected)]
      : [],
  );
  if (parameters.length > 0) return { when: 'request.parameter', violations: parameters };
  return { when: 'internal', message };
}

function violation(place: Violation['in'], path: string, value: Value, expected: string): Violation {
  return { in: place, path, found: describeValue(value), expected };
}

function pointer(path: readonly string[]): string {
  return path.reduce<string>(below, '');
}

function isThere(value: Value, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name);
}

function valueAt(value: Value, path: readonly string[]): Value {
  let found = value;
  // What has a member of that name is an object.
  for (const name of path) found = isThere(found, name) ? (found as Names)[name] : undefined;
  return found;
}

/** Where a parameter of an operation stands; one that is not listed is the path's. */
function placeOf(spec: Spec, operation: string, name: string): Violation['in'] {
  const endpoint = entriesOf(spec.endpoints.all).find(([, one]) => one.operation === operation)?.[1];
  return (endpoint && entryOf(endpoint.parameters, name)?.in) ?? 'path';
}

/** What a map holds under a key, made at the first time that it is asked for; made values are never `undefined`. */
export function getOrMake<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key);
  if (found !== undefined) return found;
  const made = make();
  known.set(key, made);
  return made;
}

/** A version whose shapes are not the stored ones. */
export interface OlderVersion {
  /** Its place among the versions, the oldest 0. */
  readonly index: number;
  /** The document as it was. */
  readonly spec: Spec;
  /** What goes between its shapes and the stored ones. */
  readonly carries: Carries;
  /** A validator of one of its shapes, compiled on its first use. */
  validate(shape: Shape, use: SchemaUse): Validate;
}

/** The versions that a document lists. */
export interface Versions {
  readonly history: History;
  readonly selection: Selection | undefined;
  /** Nothing where a version has the stored shapes. */
  older(version: string): OlderVersion | undefined;
  /**
   * How values of a shape of this document go down to a version: events, whose subscribers are pinned. Nothing where they
   * are the same there; the version is of the list.
   * @throws {CannotCarry} where a value has no counterpart, out of the function that is given.
   */
  down(version: string, shape: Shape): ((value: Value) => Value) | undefined;
}

/** Reads the versions of a document; nothing where it states none. What a version needs is compiled when it is first asked for. */
export function compileVersionList(spec: Spec, validator: Validator, now: () => number): Versions | undefined {
  const history = historyOf(spec);
  if (!history) return undefined;
  const known = new Map<string, OlderVersion>();
  const older = (version: string): OlderVersion | undefined => {
    const index = history.versions.findIndex(({ name }) => name === version);
    const isNewest = history.levelOf(version) === history.newest && history.openAbove(version).length === 0;
    if (index < 0 || isNewest) return undefined;
    const found = known.get(version);
    if (found) return found;
    const made = compileOlder(spec, history, version, index, validator, now);
    known.set(version, made);
    return made;
  };
  return {
    history,
    selection: isStated(spec.versioning.select) ? statedValue(spec.versioning.select) : undefined,
    older,
    down(version, shape) {
      const carry = older(version)?.carries.expanding.shape(shape);
      return carry && ((value) => carry.down(value));
    },
  };
}

function compileOlder(
  spec: Spec,
  history: History,
  version: string,
  index: number,
  validator: Validator,
  now: () => number,
): OlderVersion {
  const carries = new Carries(spec, history, version, now);
  const older = specInVersion(spec, history, carries);
  return {
    index,
    spec: older,
    carries,
    validate(shape, use) {
      let compiled: Validate | undefined;
      return (value) => {
        compiled ??= validator.compile(toJsonSchema(older, shape, use));
        return compiled(value);
      };
    },
  };
}
