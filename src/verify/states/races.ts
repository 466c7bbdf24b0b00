import type { Machine, Transition } from '../../parts/states.ts';
import { callersFor } from '../make/callers-for.ts';
import { requestAbout } from '../make/request-about.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';
import { factsOf, fireable } from './transitions.ts';

const atOnce = 4;

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
        facts: factsOf(machine),
        run: (session) => race(session, machine, transition),
      };
    }
  },
};

/** Whether a row is no longer in a state that allows a transition, once it was fired. */
function leaves({ from, to }: Transition): boolean {
  return from !== '*' && to.every(({ state }) => !from.includes(state));
}

async function race(session: Session, machine: Machine, transition: Transition): Promise<void> {
  const { model } = session;
  const endpoint = model.endpointOfTransition(machine.resource, transition.name);
  const [state] = transition.from === '*' ? [] : transition.from;
  session.need(
    endpoint !== undefined && state !== undefined && endpoint.ifMatch !== 'required',
    'it cannot be fired several times at once',
  );
  const row = await session.make(machine.resource, { state });
  const [caller] = callersFor(session, endpoint, row);
  const request = await requestAbout(session, row, endpoint, { caller, transition });
  const fired = await session.together(
    Array.from({ length: atOnce }, () => ({ ...request, headers: withoutKey(request.headers, endpoint.idempotency?.header) })),
  );
  session.claim({
    ...{
      fact: { kind: 'transitions', subject: machine.resource },
      reason: `${transition.name} at once`,
      at: transition.at,
      of: fired,
      tries: 8,
    },
    judge(...exchanges: readonly Exchange[]) {
      const winners = exchanges.filter(isDone).length;
      if (winners === 0) return moot('none was carried out');
      return winners === 1
        ? undefined
        : {
            promised: `of ${atOnce} times ${transition.name} at once, one is carried out`,
            seen: `${winners}: ${exchanges.map(({ status }) => status).join(', ')}`,
          };
    },
  });
}

/** With one idempotency key all of them would be one. */
function withoutKey<T>(headers: Readonly<Record<string, T>>, name: string | undefined): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}
