/** What is used up besides rates: quotas, and the places of requests that are under way at once. */

import { type CalendarWindow, compileCalendar } from '../../kinds/limits/calendar.ts';
import { type AtOnce, isLimitFor, type Quota } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { Transaction } from '../../store/store.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import { type Exchange, type Refusal, Refused } from '../exchange/exchange.ts';
import { retryAfter } from './rate-headers.ts';
import { type AddressOf, addressBits, addressName, compileWhom } from './whom.ts';

/** Uses quota for an answer of this status. @throws {Refused} `limit.quota` where one is used up. */
export type Spend = (rows: Transaction, exchange: Exchange, status: number) => void;

/** Compiles the quotas of a document; an operation that none counts has nothing to spend. */
export function compileQuotas(
  stated: readonly Quota[],
  addressOf: AddressOf,
  compile: CompileExpression,
): (operation: Operation) => Spend | undefined {
  const names = quotaNames(stated);
  const compiled = stated.map((quota, at) => ({
    quota,
    name: names[at]!,
    whom: compileWhom(quota, compile),
    // `check` refuses a document with any other word.
    windowOf: compileCalendar(quota.window as CalendarWindow, quota.zone),
  }));

  return (operation) => {
    const counting = compiled.filter(({ quota: { on } }) => on === undefined || namesOperation(on, operation));
    if (counting.length === 0) return undefined;
    return (rows, exchange, status) => {
      if (status < 200 || status > 299) return;
      const { nowMs, caller, call } = exchange;
      const asked = { caller, operation: operation.name, nowMs };
      let waitMs = -1;
      for (const { quota, name, whom, windowOf } of counting) {
        if (!isLimitFor(quota, caller) || whom.counts?.(asked) === false) continue;
        const { startMs, endMs } = windowOf(nowMs);
        const who = whom.nameOf(asked) ?? `address ${addressName(addressBits(addressOf(call)))}`;
        if (rows.addTo(`quota\n${name}\n${startMs}\n${who}`, 1, nowMs, endMs) > quota.limit)
          waitMs = Math.max(waitMs, endMs - nowMs);
      }
      if (waitMs !== -1) throw new Refused({ when: 'limit.quota', headers: retryAfter(waitMs) });
    };
  };
}

/** What is used is kept under what a quota counts, not under how much it allows, so that a limit can be raised within its window. */
function quotaNames(stated: readonly Quota[]): string[] {
  const seen = new Map<string, number>();
  return stated.map(({ per, by, if: condition, to, on, window, zone }) => {
    const own = by || condition ? [by?.source ?? null, condition?.source ?? null] : [];
    const name = JSON.stringify([per, to ?? null, on ?? null, window, zone, ...own]);
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name} ${count}`;
  });
}

/** How many requests are under way at once, of whom. */
interface UnderWay {
  /** Counts a request, in all of the limits or, where one refuses it, in none. */
  enter(exchange: Exchange): Refusal | undefined;
  /** It is answered, or nobody waits for its answer any more. */
  leave(exchange: Exchange): void;
}

/** Compiles the limits of requests under way; nothing where none are stated. */
export function compileUnderWay(
  stated: readonly AtOnce[],
  addressOf: AddressOf,
  compile: CompileExpression,
): UnderWay | undefined {
  if (stated.length === 0) return undefined;
  const limits = stated.map((rule) => ({ rule, whom: compileWhom(rule, compile), counts: new Map<string, number>() }));
  type Limit = (typeof limits)[number];
  const byOperation = new Map<Operation, readonly Limit[]>();
  const held = new WeakMap<Exchange, readonly (readonly [Limit, string])[]>();

  function limitsAt(operation: Operation): readonly Limit[] {
    const known = byOperation.get(operation);
    if (known) return known;
    const found = limits.filter(({ rule: { on } }) => on === undefined || namesOperation(on, operation));
    byOperation.set(operation, found);
    return found;
  }

  return {
    enter(exchange) {
      const { call, caller, nowMs, plan } = exchange;
      const asked = { caller, operation: plan.operation.name, nowMs };
      const taken: (readonly [Limit, string])[] = [];
      for (const limit of limitsAt(plan.operation)) {
        const { rule, whom, counts } = limit;
        if (!isLimitFor(rule, caller) || whom.counts?.(asked) === false) continue;
        const name = whom.nameOf(asked) ?? `address ${addressName(addressBits(addressOf(call)))}`;
        if ((counts.get(name) ?? 0) >= rule.limit) return { when: 'limit.rate', headers: { 'retry-after': '1' } };
        taken.push([limit, name]);
      }
      for (const [{ counts }, name] of taken) counts.set(name, (counts.get(name) ?? 0) + 1);
      if (taken.length > 0) held.set(exchange, taken);
      return undefined;
    },
    leave(exchange) {
      for (const [{ counts }, name] of held.get(exchange) ?? []) {
        const left = (counts.get(name) ?? 1) - 1;
        if (left === 0) counts.delete(name);
        else counts.set(name, left);
      }
      held.delete(exchange);
    },
  };
}
