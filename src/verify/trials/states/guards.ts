import type { Endpoint } from '../../../parts/endpoints.ts';
import { type Expression, entriesOf } from '../../../parts/fact.ts';
import { allMachines, type Machine, machinesOf, type Transition } from '../../../parts/states.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { callersFor } from '../../make/callers-for.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { factsOfMachine, fireable } from '../../make/transitions.ts';
import { openToFire, stateOf, stateOfAim, stateSent, walkTo } from '../../make/walk.ts';
import { isOfRow, type PartAlone, partsAlone, type StateExcluded, statesExcluded } from '../../model/guards.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { block, blockAsImagined, claimBlocked, openRequest } from './conditions.ts';

/** A condition of which something else fails each time: every state of another machine that it excludes, and every part of it alone. */
export const guards: Trial = {
  name: 'states/guards',
  part: 'states',
  about:
    'A transition is refused in each state of another machine that its condition excludes, and where one part of it alone fails.',
  noise: 'quiet',
  *cases(model) {
    for (const { machine, transition, update } of guarded(model)) {
      const facts = factsOfMachine(machine);
      for (const excluded of statesExcluded(model, machine, transition, true))
        yield caseWhere({ machine, transition, update }, excluded, false);
      for (const alone of update ? [] : partsBeside(model, machine, transition)) {
        const name = `${machine.resource}, ${failsAlone(transition, alone)}`;
        yield { name, facts, run: (session) => partFails(session, machine, transition, alone) };
      }
    }
  },
};

/** The same in the states to which the clock alone leads. */
export const timedGuards: Trial = {
  ...guards,
  name: 'states/timed guards',
  movesClock: true,
  about:
    'A transition is refused in each state of another machine that its condition excludes, and to which the clock alone leads.',
  noise: 'loud',
  *cases(model) {
    for (const one of guarded(model))
      for (const excluded of excludedByClock(model, one.machine, one.transition)) yield caseWhere(one, excluded, true);
  },
};

/** A transition that callers fire, by an endpoint of its own or by an update that sends its state. */
interface Guarded {
  readonly machine: Machine;
  readonly transition: Transition;
  readonly update: Endpoint | undefined;
}

function* guarded(model: Model): Iterable<Guarded> {
  for (const one of fireable(model)) yield { ...one, update: undefined };
  for (const machine of allMachines(model.spec.states))
    for (const [name, transition] of entriesOf(machine.transitions)) {
      const [update] = model.endpointOfTransition(machine.resource, name) ? [] : model.updatesOf(machine.resource, transition);
      if (update && transition.to.length === 1) yield { machine, transition, update };
    }
}

function excludedByClock(model: Model, machine: Machine, transition: Transition): readonly StateExcluded[] {
  const isSame = (one: StateExcluded) => (other: StateExcluded) => one.other === other.other && one.state === other.state;
  const soon = statesExcluded(model, machine, transition, true);
  return statesExcluded(model, machine, transition, false).filter((one) => !soon.some(isSame(one)));
}

function caseWhere(one: Guarded, excluded: StateExcluded, byClock: boolean): Case {
  const { machine, transition } = one;
  return {
    name: `${machine.resource}, ${blockedWhere(transition, excluded)}`,
    facts: factsOfMachine(machine),
    run: (session) => blockWhere(session, one, { ...excluded, byClock }),
  };
}

/** The reason of the claims about a state of another machine. */
function blockedWhere({ name }: Transition, { other, state }: Pick<StateExcluded, 'other' | 'state'>): string {
  return `${name} blocked where ${other.field} is ${state}`;
}

/** The reason of the claims about a part of a condition that fails alone. */
function failsAlone({ name }: Transition, { part }: Pick<PartAlone, 'part'>): string {
  return `${name} blocked by ${part.source.trim()} alone`;
}

/** The states of other machines that a transition's condition excludes, each looked at. */
export function excludedLooks(model: Model, machine: Machine, transition: Transition): readonly string[] {
  return statesExcluded(model, machine, transition, false).map((one) => blockedWhere(transition, one));
}

/** All that has to be looked at of a transition's condition, part by part. */
export function guardLooks(model: Model, machine: Machine, transition: Transition): readonly string[] {
  return [
    ...excludedLooks(model, machine, transition),
    ...partsBeside(model, machine, transition).map((one) => failsAlone(transition, one)),
  ];
}

/** The parts of a condition but those about the states of other machines. */
function partsBeside(model: Model, { resource }: Machine, transition: Transition): readonly PartAlone[] {
  const fields = machinesOf(model.spec.states, resource).map(({ field }) => field);
  const isOfStates = ({ part }: PartAlone) => fields.some((field) => isAbout(model, part, field));
  return partsAlone(model, transition).filter((one) => !isOfStates(one));
}

/** Whether a part reads a field of the row and nothing else. */
function isAbout({ expressions }: Model, part: Expression, field: string): boolean {
  const reads = expressions.readsOf(part, undefined);
  return reads.length > 0 && reads.every(({ root, path, follows }) => isOfRow(root) && path[0] === field && !follows);
}

interface Where extends StateExcluded {
  readonly byClock: boolean;
}

async function blockWhere(session: Session, { machine, transition, update }: Guarded, where: Where): Promise<void> {
  const endpoint = update ?? session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  for (const from of where.from) {
    const row = await inBoth(session, machine, transition, { ...where, from: [from] });
    if (!row) continue;
    const before = (await lookAt(session, row)).done;
    const [caller] = callersFor(session, endpoint, row);
    const headers = await session.preconditions(endpoint, row, caller);
    const firing = {
      caller,
      headers,
      ...(update ? { json: stateSent(update, machine, stateOfAim(undefined, transition)) } : { transition }),
    };
    const done = await session.send(await requestAbout(session, row, endpoint, firing));
    const control = () => openRequest(session, machine, transition, endpoint);
    const reason = blockedWhere(transition, where);
    const part = partsAlone(session.model, transition).find((one) => isAbout(session.model, one.part, where.other.field));
    return claimBlocked(session, row, { machine, transition, as: part?.as, reason, before, done, control });
  }
  throw new Untestable(`no ${machine.resource} could be brought to where ${where.other.field} is ${where.state}`);
}

/** A row that is in a state of each of the two machines, with all else that the condition asks of it; nothing where none can be brought there. */
async function inBoth(
  session: Session,
  machine: Machine,
  transition: Transition,
  { other, state, from: [from = ''], byClock }: Where,
): Promise<TrialRow | undefined> {
  const { resource } = machine;
  const isThere = async (row: TrialRow) => {
    await lookAt(session, row);
    return stateOf(row, machine) === from && stateOf(row, other) === state;
  };
  const row = await ifTestable(session.make(resource, { machine, state: from }));
  if (row) {
    // What else the condition asks for is to hold, where it asks for more.
    if (partsAlone(session.model, transition).length > 0) await ifTestable(openToFire(session, row, transition));
    await ifTestable(walkTo(session, row, state, { machine: other, byClock }));
    if (await isThere(row)) return row;
  }
  const another = await ifTestable(session.make(resource, { machine: other, state, byClock }));
  if (!another) return undefined;
  await ifTestable(walkTo(session, another, from, { machine, byClock }));
  return (await isThere(another)) ? another : undefined;
}

/** A row, and a request, of which one part of the condition alone fails: as they are imagined, else as they are drawn and shut by others. */
async function partFails(session: Session, machine: Machine, transition: Transition, alone: PartAlone): Promise<void> {
  const reason = failsAlone(transition, alone);
  const { as } = alone;
  if (await blockAsImagined(session, machine, transition, { fails: alone.alone, as, reason })) return;
  await block(session, machine, transition, { as, reason });
}
