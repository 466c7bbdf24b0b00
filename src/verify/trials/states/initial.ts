import { allMachines, type Machine } from '../../../parts/states.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { lookAt } from '../../make/look.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';

/** What is created begins in an initial state, and its state is not for callers to write. */
export const initial: Trial = {
  name: 'states/initial',
  part: 'states',
  about: 'What is created begins in an initial state, whatever state was sent.',
  noise: 'quiet',
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      if (machine.initial.length === 0) continue;
      for (const style of ['plain', 'full'] as const) {
        yield {
          name: `${machine.key}, ${style}`,
          facts: [{ kind: 'states', subject: machine.key }],
          run: (session) => begin(session, model, machine, style),
        };
      }
    }
  },
};

async function begin(session: Session, model: Model, machine: Machine, style: 'plain' | 'full'): Promise<void> {
  const { resource } = machine;
  const row = await session.make(resource, { style });
  const { made } = row;
  session.need(made !== undefined, `rows of ${resource} are given, not made`);
  const after = await lookAt(session, row);
  const states = machine.initial.map(({ state }) => state);
  session.claim({
    fact: { kind: 'states', subject: machine.key },
    reason: 'initial',
    at: `${machine.at}/initial`,
    of: [made, after.done] as const,
    judge(exchange: TrialExchange, seen: TrialExchange) {
      const shown = isDone(exchange) ? rowWith(model, seen, idIn(model, exchange)) : undefined;
      const state = shown?.[machine.field];
      if (state === undefined) return moot('the state is not shown');
      return states.includes(String(state))
        ? undefined
        : { promised: `a ${resource} begins as ${states.join(' or ')}`, seen: String(state) };
    },
  });
}
