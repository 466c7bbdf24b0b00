import { acceptedSets } from '../../parts/accepted.ts';
import { kindOfScheme, schemePrefix } from '../../parts/authentication.ts';
import { type ErrorCondition, narrowerOf } from '../../parts/conditions.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Caller, Fields, Refusal } from '../exchange/exchange.ts';
import type { RowAccess } from './row-access.ts';
import { type Bindings, callerOf, hasScopes, holds, type UserPermission } from './rules.ts';

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
