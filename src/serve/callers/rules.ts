import type { Permission } from '../../parts/authentication.ts';
import { type Expression, entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, resourceOfEffect } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Evaluate, PreparedExpression } from '../exchange/compilation.ts';
import type { Caller, Value } from '../exchange/exchange.ts';

/** Prepares an expression in the scope of one operation. */
export type Prepare = (expression: Expression, operation?: string) => PreparedExpression;

/** A permission as it concerns one user in one operation. */
export interface UserPermission {
  /** Its place in the document, and the operation in whose scope its condition is read. */
  readonly key: string;
  readonly scopes: readonly string[];
  /** Nothing = it holds whoever asks for what. */
  readonly condition: PreparedExpression | undefined;
  /** Whether it is decided once the body was found right: it reads the body, or the row as it would be stored. */
  readonly isLate: boolean;
  readonly readsRow: boolean;
  /** The fields that it shows; all where none are named. */
  readonly fields: readonly string[] | undefined;
  /** The code of a refusal that it asks for. */
  readonly orElse: string | undefined;
}

/** The rules that allow an operation to a user, in document order; no user = nobody is known. */
export function rulesOf(
  spec: Spec,
  operations: readonly Operation[],
  user: string | undefined,
  prepare: Prepare,
): UserPermission[] {
  const { permissions } = spec.authentication;
  // `permissions: none`: every known caller may do everything.
  if (permissions.standing === 'none') return user === undefined ? [] : [{ ...unconditional, key: permissions.at }];
  return (statedValue(permissions) ?? []).flatMap((permission) => {
    const operation = operations.find((candidate) => namesOperation(permission.allow, candidate));
    return operation && isFor(permission, user) ? [compileRule(permission, operation, prepare)] : [];
  });
}

const unconditional = { fields: undefined, scopes: [], condition: undefined, isLate: false, readsRow: false, orElse: undefined };

function isFor({ to }: Permission, user: string | undefined): boolean {
  return to === 'anyone' || (user !== undefined && to.includes(user));
}

function compileRule(
  { at, scopes, fields, if: condition, else: orElse }: Permission,
  operation: Operation,
  prepare: Prepare,
): UserPermission {
  const prepared = condition && prepare(condition, operation.name);
  const roots = new Set(prepared?.reads().map(({ root }) => root));
  return {
    key: `${at}\n${operation.name}`,
    scopes,
    fields,
    condition: prepared,
    isLate: !isLooking(operation) && (roots.has('next') || roots.has('request')),
    readsRow: roots.has('resource'),
    orElse,
  };
}

/** Reading and listing take no body and store nothing, so that all of a rule can be decided at once. */
function isLooking({ endpoint }: Operation): boolean {
  const verb = endpoint && statedValue(endpoint.does)?.verb;
  return verb === 'read' || verb === 'list';
}

/** Whether a condition holds; one that cannot be evaluated does not. */
export function holds(condition: { readonly evaluate: Evaluate }, scope: Readonly<Record<string, Value>>): boolean {
  return condition.evaluate(scope) === true;
}

/** All of a rule's scopes must be the caller's. */
export function hasScopes(caller: Caller | undefined, scopes: readonly string[]): boolean {
  return scopes.length === 0 || (caller !== undefined && scopes.every((scope) => caller.scopes.includes(scope)));
}

/** The operations of a resource with one of these verbs. */
export function operationsOn(spec: Spec, resource: string, verb: string): Operation[] {
  return entriesOf(spec.endpoints.all).flatMap(([, endpoint]) => {
    const effect = statedValue(endpoint.does);
    return effect?.verb === verb && resourceOfEffect(effect) === resource
      ? [{ name: endpoint.operation, resource, endpoint }]
      : [];
  });
}

/** What a request brings to its rules: request, params, caller, now, operation, version, follow. */
export type Bindings = Readonly<Record<string, Value>>;

export function callerOf(scope: Bindings): Caller | undefined {
  // Whoever makes a scope puts the exchange's caller in it, or nobody.
  return scope.caller as Caller | undefined;
}
