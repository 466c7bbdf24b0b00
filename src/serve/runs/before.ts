import type { Engine } from '../engine.ts';
import { type Exchange, type Fields, type Refusal, Refused } from '../exchange.ts';
import type { BeforeHandlers } from '../handlers.ts';
import type { Collected } from './collected.ts';
import { handlerContext } from './handler-context.ts';

/**
 * Runs what stands in front of a stated operation: it may fail, or change what would be stored. What it writes besides
 * goes with the change in a handler alone, so writes here are refused by name.
 */
export async function runBefore(
  engine: Engine,
  exchange: Exchange,
  before: BeforeHandlers[string],
  resource: Fields | undefined,
  next: Fields,
): Promise<{ readonly next: Fields; readonly collected: Collected } | { readonly refusal: Refusal }> {
  const draft = structuredClone(next);
  const { context, collected } = handlerContext(engine, exchange, resource && structuredClone(resource), draft);
  try {
    await before(context);
  } catch (failure) {
    if (failure instanceof Refused) return { refusal: failure.refusal };
    throw failure;
  }
  if (collected.writes.length > 0 || collected.emitted.length > 0) {
    throw new Error(
      `The handler before "${exchange.plan.operation.name}" wrote to the store; it may change next or fail, and nothing else.`,
    );
  }
  return { next: draft, collected };
}
