import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { allMachines, type Machine, statesNamed, type Transition } from '../../../parts/states.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged, factsOfMachine, fireable } from '../../make/transitions.ts';
import { dueIn, shortestWays, statesOf } from '../../make/walk.ts';
import { movedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { carryOut, refuseFiring } from './fired.ts';
import { dueRow } from './timed.ts';

/** An update, replacement or deletion that is for some states alone is refused in the others, and changes nothing there. */
export const inStates: Trial = {
  name: 'states/in states',
  part: 'states',
  about: 'What may be changed in some states alone is refused in the others.',
  noise: 'quiet',
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      const facts = [{ kind: 'states', subject: machine.key }];
      for (const { endpoint, states } of restrictedAt(model, machine)) {
        for (const state of states)
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
  },
};

/** The endpoints that are for some states of a machine alone, with the others. */
export function restrictedAt(
  model: Model,
  machine: Machine,
): readonly { readonly endpoint: Endpoint; readonly states: readonly string[] }[] {
  return model.endpoints.flatMap((endpoint) => {
    if (resourceOfEffect(statedValue(endpoint.does)) !== machine.resource) return [];
    const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
    const states = allowed.length === 0 ? [] : statesOf(machine).filter((state) => !allowed.includes(state));
    return states.length > 0 ? [{ endpoint, states }] : [];
  });
}

/** Asks for a change of a row that is in a state in which it may not be changed so. */
async function attempt(
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

/** What can be done in the states that only the clock leads to. */
export const afterTime: Trial = {
  name: 'states/after time',
  part: 'states',
  about: 'In a state that the clock alone leads to, the legal transitions are taken and the others refused.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      const ways = shortestWays(model, machine);
      for (const [, timed] of entriesOf(machine.transitions)) {
        const [target, ...others] = timed.to;
        const from = timed.from === '*' ? undefined : timed.from.find((state) => ways.has(state));
        const isAlone = target && !target.if && others.length === 0;
        if (!(timed.after ?? timed.atTime) || !isAlone || from === undefined || ways.has(target.state)) continue;
        const passing = { timed, from, state: target.state };
        yield {
          name: `${machine.key} in ${target.state}`,
          facts: factsOfMachine(machine),
          run: (session) => tryAll(session, model, machine, passing),
        };
      }
    }
  },
};

interface Passing {
  readonly timed: Transition;
  readonly from: string;
  readonly state: string;
}

/** What can be waited for where the clock cannot be moved. */
const waitMsMax = 5_000;

function sourceOf({ after, atTime }: Transition): string {
  return after?.source ?? atTime?.source ?? '';
}

/** One row for each attempt is made before the time goes by, which it does once. */
async function tryAll(session: Session, model: Model, machine: Machine, { timed, from, state }: Passing): Promise<void> {
  const { resource } = machine;
  const { clock } = session.run;
  const isShort = timed.after !== undefined && timed.after.ms <= waitMsMax;
  session.need(clock.advance !== undefined || isShort, `the clock cannot be moved, and ${sourceOf(timed)} is long`);
  session.need(!endsWithin(model, session, 2 * (timed.after?.ms ?? 0)), 'the tokens that were given end before that');
  const own = [...fireable(model)].filter((one) => one.machine === machine).map(({ transition }) => transition);
  const changes = ['update', 'replace', 'delete']
    .flatMap((verb) => model.endpointsThat(verb, resource))
    .filter((endpoint) => {
      const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
      return allowed.length > 0 && !allowed.includes(state);
    });
  const fired: { readonly transition: Transition; readonly row: TrialRow }[] = [];
  for (const transition of own) fired.push({ transition, row: await dueRow(session, machine, from, timed) });
  const changed: { readonly endpoint: Endpoint; readonly row: TrialRow }[] = [];
  for (const endpoint of changes) changed.push({ endpoint, row: await dueRow(session, machine, from, timed) });
  const due = [...fired, ...changed].map(({ row }) => dueIn(session, row, timed));
  session.need(
    due.every((ms) => ms !== undefined),
    `when ${timed.name} is due is not shown`,
  );
  const dueMs = Math.max(0, ...due);
  session.need(!endsWithin(model, session, 2 * dueMs), 'the tokens that were given end before that');
  await session.wait(dueMs + Math.min(dueMs / 4, 60_000));
  for (const { transition, row } of fired) {
    const isLegal = transition.from === '*' || transition.from.includes(state);
    await (isLegal ? carryOut : refuseFiring)(session, row, { machine, transition, state });
  }
  for (const { endpoint, row } of changed) await attempt(session, endpoint, { row, machine, state });
}
