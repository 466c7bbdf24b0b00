import { entriesOf } from '../../parts/fact.ts';
import { machineOf } from '../../parts/states.ts';
import { lookAt } from '../make/look.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';

/** What is created begins in an initial state, and its state is not for callers to write. */
export const initial: Trial = {
  name: 'states/initial',
  part: 'states',
  about: 'What is created begins in an initial state, whatever state was sent.',
  noise: 'quiet',
  *cases(model) {
    for (const [resource] of entriesOf(model.spec.resources.all)) {
      const machine = machineOf(model.spec.states, resource);
      if (!machine || machine.initial.length === 0) continue;
      for (const style of ['plain', 'full'] as const) {
        yield {
          name: `${resource}, ${style}`,
          facts: [{ kind: 'states', subject: resource }],
          run: (session) => begin(session, model, resource, style),
        };
      }
    }
  },
};

async function begin(session: Session, model: Model, resource: string, style: 'plain' | 'full'): Promise<void> {
  const machine = machineOf(model.spec.states, resource);
  session.need(machine !== undefined, 'it has no machine');
  const row = await session.make(resource, { style });
  const { made } = row;
  session.need(made !== undefined, `rows of ${resource} are given, not made`);
  const after = await lookAt(session, row);
  const states = machine.initial.map(({ state }) => state);
  session.claim({
    fact: { kind: 'states', subject: resource },
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
