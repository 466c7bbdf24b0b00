import type { Exchange, Refusal, Reply } from '../exchange.ts';

/** The answer of a refusal in its stated shape. It may be asked for in a body that is run again: `reportRefusal` is for once. */
export function refused(exchange: Exchange, refusal: Refusal): Reply {
  const reply = exchange.plan.refusals.answer(exchange.plan.lower?.(refusal, exchange) ?? refusal, {
    path: exchange.call.path,
    requestId: exchange.requestId(),
    caller: exchange.caller,
    tellsProse: true,
  });
  exchange.refusedWith = refusal;
  return reply;
}

/** Notes down a refusal that is a failure of ours, once the exchange is over. */
export function reportRefusal({ refusedWith, view, requestId }: Exchange): void {
  if (refusedWith?.when === 'internal' && refusedWith.message !== undefined)
    view.onFailure(new Error(refusedWith.message), requestId());
}
