import type { Operation } from '../../parts/operations.ts';
import type { Engine } from '../engine.ts';
import { Refused, type Run, refused } from '../exchange.ts';

/** Gives a run that changes nothing a change of its own for the quota that its answer uses, where one counts the operation. */
export function compileSpending(run: Run, operation: Operation, engine: Engine): Run {
  const spend = engine.limits.spendOf(operation);
  if (!spend) return run;
  return async (exchange) => {
    const reply = await run(exchange);
    // A refusal uses none, whatever status it is given.
    if (exchange.refusedWith) return reply;
    try {
      await engine.store.change((rows) => {
        exchange.deadline?.apply();
        spend(rows, exchange, reply.status);
      });
      return reply;
    } catch (failure) {
      if (failure instanceof Refused) return refused(exchange, failure.refusal);
      throw failure;
    }
  };
}
