/** What has to come of a transition that was sent, by what was shown of its row before. */
import type { Machine, Target, Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { targetTaken } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { followedIn, hasMade, rowKnown } from '../../model/row-known.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';

/**
 * What has to come of a transition, by the row, and what it refers to, as they were shown before: a state, `blocked`, or unknown, as where time in between
 * may have changed it; nothing where it was in another state.
 */
export function outcomeFor(model: Model, firing: Fired, seen: SeenBefore): string | undefined {
  const target = targetFor(model, firing, seen);
  return typeof target === 'object' ? target.state : target;
}

interface Fired {
  readonly machine: Machine;
  readonly transition: Transition;
}

/** The exchange that fires it, and those that showed what it goes by. */
interface SeenBefore {
  readonly exchange: TrialExchange;
  readonly was: TrialExchange;
  readonly beside?: readonly TrialExchange[];
  /** Nothing was changed since what it refers to was shown, so that what is derived of it is as it was. */
  readonly isLatest?: boolean | undefined;
}

/** The same as the target itself, since several of one transition may lead to one state. */
export function targetFor(
  model: Model,
  { machine, transition }: Fired,
  { exchange, was, beside = [], isLatest }: SeenBefore,
): Target | 'blocked' | 'unknown' | undefined {
  const id = idIn(model, exchange);
  const fields = rowWith(model, was, id);
  if (!fields || (transition.from !== '*' && !transition.from.includes(asText(fields[machine.field])))) return undefined;
  const { resource } = machine;
  const known = rowKnown(model, resource, {
    fields,
    unseen: model.unseenBy(resource, model.readerOf(was)),
    creation: id === undefined ? undefined : beside.find((one) => hasMade(model, one, resource, id)),
  });
  const firing = {
    operation: exchange.endpoint?.operation ?? '',
    row: known.fields,
    caller: exchange.caller,
    request: exchange.sent.json,
    unseen: known.unseen,
    ...(beside.length > 0 && { follow: followedIn(model, beside, isLatest) }),
  };
  const [first, last] = [exchange.fromMs, exchange.toMs].map((nowMs) =>
    targetTaken(model.expressions, transition, { ...firing, nowMs }),
  );
  return first === last ? first : 'unknown';
}
