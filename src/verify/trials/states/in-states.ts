import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { allMachines, type Machine, statesNamed, type Transition } from '../../../parts/states.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { endsWithin } from '../../make/ends.ts';
import { shortestWays } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { claimUnchanged, factsOfMachine, fireable } from '../../make/transitions.ts';
import { dueIn, statesOf } from '../../make/walk.ts';
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

/** So many users ask for the same. */
const usersMost = 3;

/** Asks for a change of a row that is in a state in which it may not be changed so, as one of each user that may change it elsewhere. */
async function attempt(session: Session, endpoint: Endpoint, stage: InState): Promise<void> {
  const { row } = stage;
  const byUser = new Map<string, TrialCaller>();
  for (const caller of callersFor(session, endpoint, row)) if (!byUser.has(caller.user)) byUser.set(caller.user, caller);
  session.need(byUser.size > 0, `nobody may call ${endpoint.key}`);
  for (const caller of [...byUser.values()].slice(0, usersMost)) await attemptAs(session, endpoint, stage, caller);
}

/** A row, and the state of one of its machines that it is in. */
interface InState {
  readonly row: TrialRow;
  readonly machine: Machine;
  readonly state: string;
}

async function attemptAs(
  session: Session,
  endpoint: Endpoint,
  { row, machine, state }: InState,
  caller: TrialCaller,
): Promise<void> {
  const { model } = session;
  const { resource } = row;
  const before = (await lookAt(session, row)).done;
  const asking = async (one: TrialRow): Promise<RequestPlan> => {
    const askers = callersFor(session, endpoint, one);
    const asker = askers.find(({ user }) => user === caller.user) ?? askers[0];
    const headers = await session.preconditions(endpoint, one, asker);
    return requestAbout(session, one, endpoint, { caller: asker, headers, style: 'full' });
  };
  const done = await session.send(await asking(row));
  const fact = { kind: 'states', subject: machine.key };
  const isSo = (exchange: TrialExchange, was?: TrialExchange) =>
    was !== undefined && rowWith(model, was, idIn(model, exchange))?.[machine.field] === state;
  claimRefused(session, done, {
    by: { when: 'transition.illegal.state' },
    fact,
    reason: `${endpoint.key} refused`,
    what: `${endpoint.key} in ${state}`,
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
  // What was found in a list may have been shown in part.
  for (const { row } of [...fired, ...changed])
    if (dueIn(session, row, timed) === undefined) await ifTestable(lookAt(session, row));
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
