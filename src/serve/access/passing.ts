import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Spec } from '../../parts/spec.ts';
import type { Caller, Fields, Refusal } from '../exchange.ts';
import { callerOf, type Scope } from './asking.ts';
import { compileDenial, type Denial } from './denial.ts';
import type { Reading } from './reading.ts';
import { hasScopes, holds, type Rule } from './rules.ts';

/** What one user may do in one operation. */
export interface OperationAccess {
  /** Whether step 6 decides it all: no rule has a condition. */
  readonly isSimple: boolean;
  /** Step 6: no rule is for this caller. */
  forbids(caller: Caller | undefined): Refusal | undefined;
  /** Step 10: the rules over the row as it is; no row where the operation has none, or makes one. */
  enter(scope: Scope, row: Fields | undefined): Pass | { readonly refusal: Refusal };
  /** Takes as long over a row that stands for a missing one as over one that stays hidden. */
  pretend(scope: Scope, row: Fields): void;
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
  rules: readonly Rule[],
  reading: Reading | undefined,
): OperationAccess {
  if (namesOperation(spec.authentication.public, operation)) return freeAccess;
  const denial = compileDenial(spec, operation, rules);
  const isFree = rules.some(({ condition, scopes }) => !condition && scopes.length === 0);
  const isReadable = (scope: Scope, row: Fields | undefined) => !row || !reading || reading.allows(scope, row);
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
      const late: Rule[] = [];
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
function latePass(rules: readonly Rule[], scope: Scope, denial: Denial, isReadable: () => boolean): Pass {
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
