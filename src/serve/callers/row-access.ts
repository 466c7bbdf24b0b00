import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { showingOperations } from '../../parts/left-out.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import { pathWays } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { PreparedExpression } from '../exchange/compilation.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { valueAlong } from '../exchange/way.ts';
import { type Bindings, callerOf, hasScopes, holds, operationsOn, type Prepare, rulesOf, type UserPermission } from './rules.ts';

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
