import { entriesOf } from '../../parts/fact.ts';
import { type Machine, machineOf, type Transition } from '../../parts/states.ts';
import { endsWithin } from '../authentication/ends.ts';
import { lookAt } from '../make/look.ts';
import type { Row } from '../make/row.ts';
import { fire } from '../make/walk.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import { moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Trial } from '../trial.ts';

/** What the clock fires, it fires when its time has come: not before, and also where the state was entered again. */
export const timed: Trial = {
  name: 'states/timed',
  part: 'states',
  about: 'A transition that the clock fires is fired when its time has come, however its state was entered.',
  noise: 'loud',
  *cases(model) {
    for (const fired of firedByClock(model)) {
      const { machine, transition, state } = fired;
      const facts = [{ kind: 'transitions', subject: machine.resource }];
      const name = `${transition.name} ${machine.resource} from ${state}`;
      yield {
        name,
        facts,
        run: (session) => waitFor(session, fired, (own) => own.make(machine.resource, { state })),
      };
      for (const entering of waysInto(model, machine, state)) {
        const enter = (session: Session) => entered(session, machine, entering);
        yield {
          name: `${name} by ${entering.name}`,
          facts,
          run: (session) => waitFor(session, fired, enter),
        };
      }
    }
  },
};

/** How far off a clock may be. */
const sureMs = 3_000;

interface Fired {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly afterMs: number;
  readonly state: string;
}

/** Transitions after a while, without a condition, that lead to one state. */
function* firedByClock(model: Model): Iterable<Fired> {
  for (const [resource] of entriesOf(model.spec.resources.all)) {
    const machine = machineOf(model.spec.states, resource);
    for (const [, transition] of machine ? entriesOf(machine.transitions) : []) {
      const { after, from, to } = transition;
      if (!machine || after === undefined || transition.if || from === '*' || to.length !== 1 || to[0]?.if) continue;
      for (const state of from) yield { machine, transition, afterMs: after.ms, state };
    }
  }
}

/** Transitions of callers that lead into a state from another one. */
function waysInto(model: Model, machine: Machine, state: string): Transition[] {
  return entriesOf(machine.transitions).flatMap(([name, transition]) => {
    const leads = transition.to.length === 1 && transition.to[0]?.state === state && !transition.if;
    const isAnother = transition.from !== '*' && !transition.from.includes(state);
    return leads && isAnother && model.endpointOfTransition(machine.resource, name) ? [transition] : [];
  });
}

async function entered(session: Session, machine: Machine, transition: Transition): Promise<Row> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined && transition.from !== '*', 'no caller can fire it');
  const row = await session.make(machine.resource, { state: transition.from[0] ?? '' });
  const done = await fire(session, row, endpoint, transition);
  session.need(isDone(done.value), `${transition.name} was answered ${done.value.status}`);
  return row;
}

async function waitFor(session: Session, fired: Fired, make: (session: Session) => Promise<Row>): Promise<void> {
  const { machine, transition, afterMs, state: from } = fired;
  const { model } = session;
  session.need(session.run.clock.advance !== undefined, `it takes ${afterMs / 1000} s: say how the clock is moved with --clock`);
  session.need(!endsWithin(model, session, afterMs), 'the tokens that were given end before that');
  const row = await make(session);
  const { made } = row;
  session.need(made !== undefined, `rows of ${machine.resource} are given, not made`);
  const first = (await lookAt(session, row)).done;
  await session.wait(Math.floor(afterMs * 0.9));
  const before = (await lookAt(session, row)).done;
  await session.wait(Math.ceil(afterMs * 0.1) + 10_000);
  const after = (await lookAt(session, row)).done;
  const fact = { kind: 'transitions', subject: machine.resource };
  const stateIn = (seen: Exchange, creation: Exchange) => rowWith(model, seen, idIn(model, creation))?.[machine.field];
  const target = transition.to[0]?.state;
  session.claim({
    ...{ fact, reason: `${transition.name} too early`, at: transition.at, of: [made, first, before] as const },
    judge(creation: Exchange, begun: Exchange, seen: Exchange) {
      if (stateIn(begun, creation) !== from) return moot('it was in another state');
      if (seen.toMs >= creation.fromMs + afterMs - sureMs) return moot('the time may have come');
      const state = stateIn(seen, creation);
      return state === from
        ? undefined
        : { promised: `still ${from} before ${transition.after?.source} are over`, seen: String(state) };
    },
  });
  session.claim({
    ...{ fact, reason: `${transition.name} in time`, at: transition.at, of: [made, first, after] as const },
    judge(creation: Exchange, begun: Exchange, seen: Exchange) {
      if (stateIn(begun, creation) !== from) return moot('it was in another state');
      if (seen.fromMs <= begun.toMs + afterMs + sureMs) return moot('the time may not have come');
      const state = stateIn(seen, creation);
      return state === target ? undefined : { promised: `${target} after ${transition.after?.source}`, seen: String(state) };
    },
  });
}
