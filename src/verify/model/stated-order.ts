import { statedValue } from '../../parts/fact.ts';
import { type OrderWord, wholeOrder } from '../../parts/refusal-order.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';

/** The steps of the stated order of refusals; nothing where none is promised. */
export function statedOrder({ spec }: Model): readonly OrderWord[] | undefined {
  const named = statedValue(spec.errors.order);
  return named && wholeOrder(named);
}

/**
 * Whether a request in which more than one thing is wrong may have been refused for another one than for what this step asks: no order is
 * promised, or something that a request about nothing in particular has wrong comes before it.
 */
export function mayBeRefusedBefore(model: Model, step: 'caller' | 'user', { status }: Pick<TrialExchange, 'status'>): boolean {
  if (status < 400 || status >= 500) return false;
  const order = statedOrder(model);
  return order === undefined || order.slice(0, order.indexOf(step)).some((word) => aboutWhatIsSent.has(word));
}

const aboutWhatIsSent: ReadonlySet<OrderWord> = new Set<OrderWord>(['accept', 'body', 'parameters', 'row']);
