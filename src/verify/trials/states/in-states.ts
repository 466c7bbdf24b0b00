import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { type Machine, machinesOf, statesNamed } from '../../../parts/states.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged } from '../../make/transitions.ts';
import { statesOf } from '../../make/walk.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** An update, replacement or deletion that is for some states alone is refused in the others, and changes nothing there. */
export const inStates: Trial = {
  name: 'states/in states',
  part: 'states',
  about: 'What may be changed in some states alone is refused in the others.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const resource = resourceOfEffect(statedValue(endpoint.does));
      for (const machine of machinesOf(model.spec.states, resource ?? '')) {
        const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
        const facts = [{ kind: 'states', subject: machine.key }];
        for (const state of allowed.length === 0 ? [] : statesOf(machine)) {
          if (!allowed.includes(state))
            yield {
              name: `${endpoint.key} in ${state}`,
              facts,
              run: async (session) => {
                const row = await session.make(machine.resource, { machine, state });
                await attempt(session, endpoint, { row, machine, state });
              },
            };
        }
      }
    }
  },
};

/** Asks for a change of a row that is in a state in which it may not be changed so. */
export async function attempt(
  session: Session,
  endpoint: Endpoint,
  { row, machine, state }: { readonly row: TrialRow; readonly machine: Machine; readonly state: string },
): Promise<void> {
  const { model } = session;
  const { resource } = row;
  const before = (await lookAt(session, row)).done;
  const asking = async (one: TrialRow): Promise<RequestPlan> => {
    const [caller] = callersFor(session, endpoint, one);
    session.need(caller !== undefined, `nobody may call ${endpoint.key}`);
    const headers = await session.preconditions(endpoint, one, caller);
    return requestAbout(session, one, endpoint, { caller, headers, style: 'full' });
  };
  const done = await session.send(await asking(row));
  const fact = { kind: 'states', subject: machine.key };
  const isSo = (exchange: TrialExchange, was?: TrialExchange) =>
    was !== undefined && rowWith(model, was, idIn(model, exchange))?.[machine.field] === state;
  const what = `${endpoint.key} in ${state}`;
  claimRefused(session, done, {
    by: { when: 'transition.illegal.state' },
    fact,
    reason: `${endpoint.key} refused`,
    what,
    isSo,
    isOvertaken: (exchange, ...was) => movedByClock(model, machine, exchange, ...was),
    control: async () =>
      asking(
        await session.make(resource, { machine, state: statesNamed(model.spec.states, machine, endpoint.in ?? [])[0] ?? state }),
      ),
    beside: [before],
    at: `${endpoint.at}/in`,
  });
  await claimUnchanged(session, row, { before, attempt: done, fact });
}
