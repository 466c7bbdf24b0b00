import type { FollowingEffect } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { followedOf, followingName } from '../../parts/followed.ts';
import { type Machine, machineAt, stateOfDeleted, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowsShown, rowWith } from '../model/row-shown.ts';
import { beginningLooks, choiceLooks } from '../trials/states/choices.ts';
import { begunAnew, enteredLater, laterBy, waysBack } from '../trials/states/entered-later.ts';
import { followingInTime } from '../trials/states/followed-in-time.ts';
import { excludedLooks, guardLooks } from '../trials/states/guards.ts';
import { restrictedAt } from '../trials/states/in-states.ts';
import { isRefusedByUpdate } from '../trials/states/moved.ts';
import { putOffBy, waysToPutOff } from '../trials/states/put-off.ts';
import { comparedIn, sentAsThere } from '../trials/states/sent-edges.ts';
import { isTimedAlone, notBefore } from '../trials/states/timed.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** Each state, in a row that was shown. */
export function looksAtStates(model: Model, { subject }: LedgerFact): Obligation[] {
  const machine = machineAt(model.spec.states, subject);
  const states = (machine && statedValue(machine.states)) ?? [];
  const shown = states.map((state) => ({
    name: state,
    isMetBy: ({ exchanges }: HeldClaim) =>
      exchanges.some((one) => rowsShown(model, one)?.rows.some((row) => row[machine?.field ?? ''] === state)),
  }));
  if (!machine) return shown;
  const begun = beginningLooks(model, machine).map((reason) => looksFor(reason));
  return [...shown, ...looksAtElsewhere(model, machine), ...begun];
}

/** What may be done in some states alone, refused in each of the others. */
function looksAtElsewhere(model: Model, machine: Machine): Obligation[] {
  return restrictedAt(model, machine).flatMap(({ endpoint, states }) =>
    states.map((state) => ({
      name: `${endpoint.key}, refused in ${state}`,
      isMetBy: ({ claim, exchanges }: HeldClaim) =>
        claim.reason === `${endpoint.key} refused` &&
        exchanges.some((one) => rowsShown(model, one)?.rows.some((row) => row[machine.field] === state)),
    })),
  );
}

/** Each transition from each of its states, and one refused elsewhere. */
export function looksAtTransitions(model: Model, { subject }: LedgerFact): Obligation[] {
  const machine = machineAt(model.spec.states, subject);
  if (!machine) return [];
  return entriesOf(machine.transitions).flatMap(([, transition]) => {
    const endpoint = model.endpointOfTransition(machine.resource, transition.name);
    if (endpoint) {
      const sent = comparedIn(model, machine, transition).map((one) => looksFor(sentAsThere(transition, one)));
      const parts = [...guardLooks(model, machine, transition), ...choiceLooks(model, machine, transition)];
      const guarded = parts.map((reason) => looksFor(reason));
      return [...looksAtFiring(model, machine, transition), ...sent, ...guarded, ...looksAtFollowing(transition, endpoint)];
    }
    const updates = model.updatesOf(machine.resource, transition);
    if (updates.length > 0) {
      const excluded = transition.to.length === 1 ? excludedLooks(model, machine, transition) : [];
      const moved = updates.flatMap((update) => looksAtMoving(model, machine, transition, update));
      return [...moved, ...excluded.map((reason) => looksFor(reason))];
    }
    // What nobody fires, and follows from changes alone, is seen with them.
    const isFollowing = followedOf(model.spec).some(({ acts }) =>
      acts.some(({ does }) => isFiredBy(does, machine.resource, transition)),
    );
    const isOwn = transition.by !== undefined || transition.after !== undefined || transition.atTime !== undefined;
    if (isFollowing && !isOwn) return [];
    const fired = looksAtClock(model, machine, transition);
    const isDue = transition.after !== undefined || transition.atTime !== undefined;
    const again = looksAtAgain(model, machine, transition);
    const follows = followingInTime(model, transition).map((reason) => looksFor(reason));
    const early = isTimedAlone(machine, transition) ? [looksFor(notBefore(transition))] : [];
    const held = isDue && transition.if ? [looksFor(`${transition.name} held back`)] : again;
    return [fired, ...early, ...held, ...follows];
  });
}

/** With each transition of a state into itself its time begins anew, and what is due at a time of the row comes when that was set to last. */
function looksAtAgain(model: Model, machine: Machine, timed: Transition): Obligation[] {
  if (timed.from === '*' || timed.to.some((target) => target.if)) return [];
  const ways = timed.from.flatMap((state) => waysBack(model, machine, timed, state));
  const begun = [...new Set(ways)].map((again) => looksFor(begunAnew(timed, again)));
  const late = timed.from.flatMap((state) => waysToPutOff(model, machine, timed, state));
  const entered = timed.from.flatMap((state) => enteredLater(model, machine, timed, state));
  const reasons = [...late.map((way) => putOffBy(timed, way)), ...entered.map((way) => laterBy(timed, way))];
  return [...begun, ...[...new Set(reasons)].map((reason) => looksFor(reason))];
}

function isFiredBy(does: FollowingEffect | undefined, resource: string, { name }: Transition): boolean {
  return does?.verb === 'transition' && does.resource === resource && does.transition === name;
}

/** Each act that follows from it. */
function looksAtFollowing({ following = [] }: Transition, { operation }: Endpoint): Obligation[] {
  return following.flatMap(({ does }): Obligation[] => {
    if (!does) return [];
    const reason = `${followingName(does)} follows ${operation}`;
    return [{ name: reason, isMetBy: ({ claim }) => claim.reason === reason }];
  });
}

function looksAtFiring(model: Model, machine: Machine, transition: Transition): Obligation[] {
  const states = statedValue(machine.states) ?? [];
  const resource = model.resource(machine.resource);
  const deleted = resource && stateOfDeleted(model.spec, resource);
  const from = transition.from === '*' ? states.filter((state) => !isLast(machine, state)) : transition.from;
  const fired = from.map(
    (state): Obligation => ({
      name: `${transition.name} from ${state}`,
      isMetBy: ({ claim, exchanges }) =>
        state === deleted
          ? claim.reason === `${transition.name} from ${state}`
          : exchanges.some((one) => isDone(one) && isFiring(one, transition) && wasIn(model, machine, one, exchanges, state)),
    }),
  );
  fired.push(...looksAtTargets(model, machine, transition));
  if (states.every((state) => transition.from === '*' || transition.from.includes(state))) return fired;
  const elsewhere: Obligation = {
    name: `${transition.name} refused in a wrong state`,
    isMetBy: ({ exchanges }) => exchanges.some((one) => one.status >= 400 && one.status < 500 && isFiring(one, transition)),
  };
  return [...fired, elsewhere];
}

/** Where it may lead to several, each of them: seen in the row afterwards, or as the error that it is answered with. */
function looksAtTargets(model: Model, machine: Machine, transition: Transition): Obligation[] {
  if (transition.to.length < 2) return [];
  const led = (one: TrialExchange, state: string, seen: readonly TrialExchange[]) => {
    const id = idIn(model, one);
    return seen.some((later) => later.fromMs >= one.fromMs && rowWith(model, later, id)?.[machine.field] === state);
  };
  const names = new Map<string, Obligation>();
  for (const { state, answer } of transition.to) {
    const name = answer === undefined ? `${transition.name} to ${state}` : `${transition.name} answered with ${answer}`;
    names.set(name, {
      name,
      isMetBy: ({ exchanges }) =>
        exchanges.some((one) => {
          if (!isFiring(one, transition)) return false;
          return answer === undefined ? isDone(one) && led(one, state, exchanges) : model.refusals.codeIn(one) === answer;
        }),
    });
  }
  return [...names.values()];
}

/** What an update that sends a state is: the transition from each of its states, and refused in one of the others. */
function looksAtMoving(model: Model, machine: Machine, transition: Transition, { key }: Endpoint): Obligation[] {
  const from = transition.from === '*' ? [] : transition.from;
  const isAt = (one: TrialExchange) => one.endpoint?.key === key;
  const moved = from.map(
    (state): Obligation => ({
      name: `${transition.name} from ${state} by ${key}`,
      isMetBy: ({ claim, exchanges }) => claim.reason === `${transition.name} from ${state}` && exchanges.some(isAt),
    }),
  );
  const elsewhere: Obligation = {
    name: `${transition.name} refused in a wrong state by ${key}`,
    isMetBy: ({ claim, exchanges }) => claim.reason.startsWith(`${transition.name} refused from `) && exchanges.some(isAt),
  };
  return isRefusedByUpdate(model, machine, transition) ? [...moved, elsewhere] : moved;
}

function isLast(machine: Machine, state: string): boolean {
  return entriesOf(machine.transitions).every(([, { from }]) => from === '*' || !from.includes(state));
}

function isFiring({ endpoint }: TrialExchange, { name }: Transition): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  return effect?.verb === 'transition' && effect.transition === name;
}

function wasIn(model: Model, machine: Machine, fired: TrialExchange, seen: readonly TrialExchange[], state: string): boolean {
  const id = idIn(model, fired);
  return seen.some((one) => one !== fired && rowWith(model, one, id)?.[machine.field] === state);
}

/** What the clock or the service fires is seen in the row alone. */
function looksAtClock(model: Model, machine: Machine, { name, to, by }: Transition): Obligation {
  const targets = to.map(({ state }) => state);
  return {
    name: `${name}, by the ${by ?? 'clock'}`,
    isMetBy: ({ claim, exchanges }) =>
      claim.reason.startsWith(`${name} `) &&
      exchanges.some((one) => rowsShown(model, one)?.rows.some((row) => targets.includes(asText(row[machine.field])))),
  };
}
