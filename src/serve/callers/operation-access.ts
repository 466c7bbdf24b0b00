/** What one user may do: in one operation, and which rows of a resource it may read there. */

import { acceptedSets, kindOfScheme, schemePrefix } from '../../parts/authentication.ts';
import { type ErrorCondition, narrowerOf } from '../../parts/conditions.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import { showingOperations } from '../../parts/left-out.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathWays, type WayStep } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { PreparedExpression } from '../exchange/compilation.ts';
import type { Caller, Fields, Refusal, Value } from '../exchange/exchange.ts';
import { type Bindings, callerOf, hasScopes, holds, operationsOn, type Prepare, rulesOf, type UserPermission } from './rules.ts';

/** What one user may do in one operation. */
export interface OperationAccess {
  /** Whether step 6 decides it all: no rule has a condition. */
  readonly isSimple: boolean;
  /** Step 6: no rule is for this caller. */
  forbids(caller: Caller | undefined): Refusal | undefined;
  /** Step 10: the rules over the row as it is; no row where the operation has none, or makes one. */
  enter(scope: Bindings, row: Fields | undefined): Pass | { readonly refusal: Refusal };
  /** Takes as long over a row that stands for a missing one as over one that stays hidden. */
  pretend(scope: Bindings, row: Fields): void;
}

/** A request that rules may still stop at step 12. */
export interface Pass {
  /** What is refused meanwhile: as long as no rule has let it pass, a row that must stay hidden is as good as missing. */
  conceal(refusal: Refusal): Refusal;
  /** Step 12: the rules over the body and the row as it would be stored. */
  settle(next?: () => Fields): Refusal | undefined;
}

/** Nothing stops it. */
export const freePass: Pass = { conceal: (refusal) => refusal, settle: () => undefined };

/** An operation in which nothing is asked. */
export const freeAccess: OperationAccess = {
  isSimple: true,
  forbids: () => undefined,
  enter: () => freePass,
  pretend: () => {},
};

export function compilePassing(
  spec: Spec,
  operation: Operation,
  rules: readonly UserPermission[],
  reading: RowAccess | undefined,
): OperationAccess {
  if (namesOperation(spec.authentication.public, operation)) return freeAccess;
  const denial = compileDenial(spec, operation, rules);
  const isFree = rules.some(({ condition, scopes }) => !condition && scopes.length === 0);
  const isReadable = (scope: Bindings, row: Fields | undefined) => !row || !reading || reading.allows(scope, row);
  return {
    isSimple: rules.every(({ condition }) => !condition),
    forbids(caller) {
      if (isFree) return undefined;
      for (const rule of rules) if (hasScopes(caller, rule.scopes)) return undefined;
      return denial.outright(caller);
    },
    enter(scope, row) {
      if (isFree) return freePass;
      const caller = callerOf(scope);
      const own = row ? { ...scope, resource: row } : scope;
      const late: UserPermission[] = [];
      for (const rule of rules) {
        if (!hasScopes(caller, rule.scopes)) continue;
        if (!rule.condition) return freePass;
        if (rule.isLate) late.push(rule);
        else if (holds(rule.condition, own)) return freePass;
      }
      const readable = () => isReadable(scope, row);
      return late.length === 0 ? { refusal: denial.of(caller, readable()) } : latePass(late, own, denial, readable);
    },
    pretend(scope, row) {
      const own = { ...scope, resource: row };
      for (const { condition, isLate } of rules) if (condition && !isLate) holds(condition, own);
      reading?.allows(scope, row, true);
    },
  };
}

/** Rules that are decided at step 12 are all that can still let a request pass. */
function latePass(rules: readonly UserPermission[], scope: Bindings, denial: Denial, isReadable: () => boolean): Pass {
  const caller = callerOf(scope);
  return {
    conceal: (refusal) => (isReadable() ? refusal : denial.of(caller, false)),
    settle(next) {
      const own = next ? { ...scope, next: next() } : scope;
      for (const { condition } of rules) if (condition && holds(condition, own)) return undefined;
      return denial.of(caller, isReadable());
    },
  };
}

/** How one operation is refused where no rule lets a caller do it. */
interface Denial {
  /** Step 6: no rule is for this user, or each needs scopes that the caller does not have. */
  outright(caller: Caller | undefined): Refusal;
  /** No rule holds; what the caller may not read is as good as missing. */
  of(caller: Caller | undefined, isReadable: boolean): Refusal;
}

function compileDenial(spec: Spec, operation: Operation, rules: readonly UserPermission[]): Denial {
  const scopes = [...new Set(rules.flatMap((rule) => rule.scopes))];
  const prefix = bearerPrefix(spec, operation);
  const orElse = (caller: Caller | undefined, strict: boolean): Refusal | undefined => {
    const code = rules.find((rule) => rule.orElse !== undefined && (!strict || hasScopes(caller, rule.scopes)))?.orElse;
    return code === undefined ? undefined : refusalOf(spec, operation, code);
  };
  return {
    outright(caller) {
      const own = orElse(caller, false);
      if (own) return own;
      if (rules.length === 0) return { when: 'caller.forbidden.user' };
      if (prefix === undefined || caller?.key !== undefined) return { when: 'caller.forbidden.scope' };
      const challenge = `${prefix} error="insufficient_scope", scope="${scopes.join(' ')}"`;
      return { when: 'caller.forbidden.scope', headers: { 'www-authenticate': challenge } };
    },
    of: (caller, isReadable) => orElse(caller, true) ?? { when: isReadable ? 'caller.forbidden.row' : 'resource.missing' },
  };
}

/** How tokens are presented, where any are accepted in `Authorization` (RFC 6750 section 3.1). */
function bearerPrefix({ authentication }: Spec, { endpoint }: Operation): string | undefined {
  const accepted = new Set(acceptedSets(authentication, endpoint).flat());
  const bearer = entriesOf(authentication.schemes).find(
    ([name, scheme]) =>
      kindOfScheme(scheme)?.proof?.by === 'token' &&
      statedValue(scheme.carrier)?.toLowerCase() === 'authorization' &&
      accepted.has(name),
  );
  return bearer && schemePrefix(bearer[1])?.trim();
}

/** A code that also answers for what is missing must look just like it, its message too. */
function refusalOf(spec: Spec, operation: Operation, code: string): Refusal {
  const same = (['resource.missing', 'caller.forbidden', ...narrowerOf('caller.forbidden')] as const).find(
    (when) => codeOf(spec, operation, when) === code,
  );
  return same ? { when: same } : { code };
}

/** The code that answers a condition at an operation: the one that names it before the one for all. */
function codeOf(spec: Spec, operation: Operation, when: ErrorCondition): string | undefined {
  const candidates = entriesOf(spec.errors.codes).flatMap(([name, { rules }]) =>
    rules.filter((rule) => statedValue(rule.when)?.includes(when)).map(({ on }) => ({ name, on })),
  );
  const named = candidates.find(({ on }) => on !== undefined && namesOperation(on, operation));
  return (named ?? candidates.find(({ on }) => on === undefined))?.name;
}

/** Whether one user may read the rows of one resource. */
export interface RowAccess {
  /** Whether there is nothing to ask: everybody of this user reads all of them. */
  readonly isFree: boolean;
  /** Whether a read rule holds for a row. `whole` = ask every rule, so that it takes as long whatever comes out. */
  allows(scope: Bindings, row: Fields, whole?: boolean): boolean;
}

/** Rows that everybody may read. */
export const freeReading: RowAccess = { isFree: true, allows: () => true };

/** The fields of a row that its reader is shown, by the rules that show it that row; nothing = all of them. */
export type FieldsShown = (scope: Bindings, row: Fields) => ReadonlySet<string> | undefined;

/** Compiles them for one user; nothing where no rule that shows it rows leaves fields out. */
export function compileFieldsShown(
  spec: Spec,
  resource: string,
  user: string | undefined,
  prepare: Prepare,
): FieldsShown | undefined {
  const field = statedValue(entryOf(spec.resources.all, resource)?.identifier)?.field ?? 'id';
  const operations = showingOperations(spec, resource);
  if (operations.some((operation) => isPublic(spec, operation))) return undefined;
  const ways = operations.flatMap((operation) =>
    rulesOf(spec, [operation], user, prepare).map((rule) => wayOf(rule, operation, spec, prepare)),
  );
  if (ways.every(({ rule }) => rule.fields === undefined)) return undefined;
  return (scope, row) => {
    const caller = callerOf(scope);
    const shown = new Set([field]);
    for (const way of ways) {
      if (!hasScopes(caller, way.rule.scopes) || !isOpen(way, scope, row, field)) continue;
      if (!way.rule.fields) return undefined;
      for (const name of way.rule.fields) shown.add(name);
    }
    return shown;
  };
}

/** Takes out of a row, in place, what its reader is not shown. */
export function keepShown(row: Fields, shown: ReadonlySet<string> | undefined): void {
  if (shown) for (const name of Object.keys(row)) if (!shown.has(name)) delete row[name];
}

/** One rule of one operation that shows rows. */
interface Way {
  readonly rule: UserPermission;
  readonly operation: string;
  /** The path's parameters as they would be for a row. */
  readonly params: ((row: Fields, scope: Bindings) => Readonly<Record<string, Value>>) | undefined;
  /** Whose row it is that the operation reads, where its path does not say. */
  readonly identity: PreparedExpression | undefined;
}

/** A caller may read what a rule of a read operation shows it; where a resource has none, what one of a list shows it. */
export function compileReading(spec: Spec, resource: string, user: string | undefined, prepare: Prepare): RowAccess {
  const reads = operationsOn(spec, resource, 'read');
  const operations = reads.length > 0 ? reads : operationsOn(spec, resource, 'list');
  const field = statedValue(entryOf(spec.resources.all, resource)?.identifier)?.field ?? 'id';
  if (operations.some((operation) => isPublic(spec, operation))) return freeReading;
  const ways = operations.flatMap((operation) =>
    rulesOf(spec, [operation], user, prepare).map((rule) => wayOf(rule, operation, spec, prepare)),
  );
  const isFree = ways.some(({ rule, identity }) => !rule.condition && !identity && rule.scopes.length === 0);
  return {
    isFree,
    allows(scope, row, whole = false) {
      if (isFree && !whole) return true;
      const caller = callerOf(scope);
      let isAllowed = false;
      for (const way of ways) {
        if (!hasScopes(caller, way.rule.scopes)) continue;
        isAllowed = isOpen(way, scope, row, field) || isAllowed;
        if (isAllowed && !whole) return true;
      }
      return isAllowed;
    },
  };
}

function isPublic(spec: Spec, operation: Operation): boolean {
  return namesOperation(spec.authentication.public, operation) && !operation.endpoint?.identity;
}

function wayOf(rule: UserPermission, operation: Operation, spec: Spec, prepare: Prepare): Way {
  // Every operation here is an endpoint's.
  const endpoint = operation.endpoint as Endpoint;
  const roots = new Set([...(rule.condition?.reads() ?? [])].map(({ root }) => root));
  return {
    rule,
    operation: operation.name,
    params: roots.has('params') ? paramsFor(spec, endpoint) : undefined,
    identity: endpoint.identity && prepare(endpoint.identity, operation.name),
  };
}

function isOpen({ rule, operation, params, identity }: Way, scope: Bindings, row: Fields, field: string): boolean {
  if (!rule.condition && !identity) return true;
  const own = { ...scope, request: undefined, next: undefined, params: params?.(row, scope), operation, resource: row };
  if (identity) {
    const id = identity.evaluate(own);
    if ((typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') || String(id) !== String(row[field]))
      return false;
  }
  return !rule.condition || holds(rule.condition, own);
}

/** The request that would read this row says nothing but its path. */
function paramsFor(spec: Spec, endpoint: Endpoint): NonNullable<Way['params']> {
  const ways = [...pathWays(spec, endpoint, identifierParameter(endpoint))];
  return (row, scope) => {
    // Whoever makes a scope puts into it what follows references.
    const follow = scope.follow as (resource: string, id: Value) => Fields | undefined;
    return Object.fromEntries(ways.map(([name, way]) => [name, valueAlong(way, row, follow)]));
  };
}

/** The value at the end of a way of references from a row; nothing where one of them leads nowhere. */
export function valueAlong(
  way: readonly WayStep[],
  row: Fields,
  follow: (resource: string, id: Value) => Fields | undefined,
): Value {
  let at: Fields | undefined = row;
  for (const [index, { field, target }] of way.entries()) {
    const value: Value = at?.[field];
    if (index === way.length - 1 || value === undefined || value === null) return value;
    at = target === undefined ? undefined : follow(target, value);
  }
  return undefined;
}
