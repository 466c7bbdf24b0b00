import type { Exchange, Refusal, Reply } from '../exchange.ts';

/** The answer of a refusal in its stated shape. */
export function refused(exchange: Exchange, refusal: Refusal): Reply {
  const reply = exchange.plan.refusals.answer(exchange.plan.lower?.(refusal, exchange) ?? refusal, {
    path: exchange.call.path,
    requestId: exchange.requestId(),
    caller: exchange.caller,
    tellsProse: true,
  });
  if (refusal.when === 'internal' && refusal.message !== undefined)
    exchange.view.onFailure(new Error(refusal.message), exchange.requestId());
  exchange.refusedWith = refusal;
  return reply;
}
