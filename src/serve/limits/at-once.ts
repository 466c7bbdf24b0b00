import { type AtOnce, isLimitFor } from '../../parts/limits.ts';
import { namesOperation, type Operation } from '../../parts/operations.ts';
import type { CompileExpression } from '../exchange/compilation.ts';
import type { Exchange, Refusal } from '../exchange/exchange.ts';
import { type AddressOf, addressBits, addressName } from './address.ts';
import { compileWhom } from './whom.ts';

/** How many requests are under way at once, of whom. */
export interface UnderWay {
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
