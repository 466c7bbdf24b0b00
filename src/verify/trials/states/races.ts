import type { Machine, Transition } from '../../../parts/states.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import { callersFor } from '../../make/callers-for.ts';
import { requestAbout } from '../../make/request-about.ts';
import { factsOfMachine, fireable } from '../../make/transitions.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** Of several of one transition at once that leaves the states it may be fired in, one wins. */
export const races: Trial = {
  name: 'states/races',
  part: 'states',
  about: 'Of several transitions at once that exclude each other, one is carried out.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition } of fireable(model)) {
      if (!leaves(transition)) continue;
      yield {
        name: `${transition.name} ${machine.resource}`,
        facts: factsOfMachine(machine),
        run: (session) => race(session, machine, [transition, transition, transition, transition]),
      };
      for (const { machine: other, transition: rival } of fireable(model)) {
        const isRival = other === machine && transition.name < rival.name && excludeEachOther(transition, rival);
        if (!isRival) continue;
        yield {
          name: `${transition.name} and ${rival.name} ${machine.resource}`,
          facts: factsOfMachine(machine),
          run: (session) => race(session, machine, [transition, rival, transition, rival]),
        };
      }
    }
  },
};

/** Whether of two transitions from one state each leaves the states in which the other may be fired. */
function excludeEachOther(one: Transition, other: Transition): boolean {
  const isShared = one.from !== '*' && other.from !== '*' && one.from[0] === other.from[0];
  const leavesFor = (first: Transition, second: Transition) => first.to.every(({ state }) => !second.from.includes(state));
  return isShared && leaves(other) && leavesFor(one, other) && leavesFor(other, one);
}

/** Whether a row is no longer in a state that allows a transition, once it was fired. */
function leaves({ from, to }: Transition): boolean {
  return from !== '*' && to.every(({ state }) => !from.includes(state));
}

async function race(session: Session, machine: Machine, rivals: readonly Transition[]): Promise<void> {
  const { model } = session;
  const [first] = rivals;
  const [state] = first === undefined || first.from === '*' ? [] : first.from;
  session.need(first !== undefined && state !== undefined, 'it cannot be fired several times at once');
  const row = await session.make(machine.resource, { machine, state });
  const requests: RequestPlan[] = [];
  for (const transition of rivals) {
    const endpoint = model.endpointOfTransition(machine.resource, transition.name);
    session.need(endpoint !== undefined && endpoint.ifMatch !== 'required', 'it cannot be fired several times at once');
    const [caller] = callersFor(session, endpoint, row);
    const request = await requestAbout(session, row, endpoint, { caller, transition });
    requests.push({ ...request, headers: withoutKey(request.headers, endpoint.idempotency?.header) });
  }
  const fired = await session.together(requests);
  const names = [...new Set(rivals.map(({ name }) => name))].join(' and ');
  session.claim({
    fact: { kind: 'transitions', subject: machine.key },
    reason: `${names} at once`,
    at: first.at,
    of: fired,
    tries: 8,
    judge(...exchanges: readonly TrialExchange[]) {
      const winners = exchanges.filter(isDone).length;
      if (winners === 0) return moot('none was carried out');
      return winners === 1
        ? undefined
        : {
            promised: `of ${rivals.length} times ${names} at once, one is carried out`,
            seen: `${winners}: ${exchanges.map(({ status }) => status).join(', ')}`,
          };
    },
  });
}

/** With one idempotency key all of them would be one. */
function withoutKey<T>(headers: Readonly<Record<string, T>>, name: string | undefined): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}
