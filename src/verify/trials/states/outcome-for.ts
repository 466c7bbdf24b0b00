import type { Machine, Transition } from '../../../parts/states.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { outcomeOf } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { followedIn } from '../../model/row-known.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';

/**
 * What has to come of a transition, by the row, and what it refers to, as they were shown before: a state, `blocked`, or unknown, as where time in between
 * may have changed it; nothing where it was in another state.
 */
export function outcomeFor(
  model: Model,
  { machine, transition }: { readonly machine: Machine; readonly transition: Transition },
  {
    exchange,
    was,
    beside = [],
  }: { readonly exchange: TrialExchange; readonly was: TrialExchange; readonly beside?: readonly TrialExchange[] },
): string | undefined {
  const fields = rowWith(model, was, idIn(model, exchange));
  if (!fields || (transition.from !== '*' && !transition.from.includes(String(fields[machine.field])))) return undefined;
  const firing = {
    operation: exchange.endpoint?.operation ?? '',
    row: fields,
    caller: exchange.caller,
    request: exchange.sent.json,
    unseen: model.unseenBy(machine.resource, model.readerOf(was)),
    ...(beside.length > 0 && { follow: followedIn(model, beside) }),
  };
  const [first, last] = [exchange.fromMs, exchange.toMs].map((nowMs) =>
    outcomeOf(model.expressions, transition, { ...firing, nowMs }),
  );
  return first === last ? first : 'unknown';
}
