import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { allMachines, type Machine, type Transition } from '../../../parts/states.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { callersFor, contextOfRow } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { shortestWays } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { factsOfMachine, fireable } from '../../make/transitions.ts';
import { stateOf, walkTo } from '../../make/walk.ts';
import { outcomeOf } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { writesFields } from '../../model/own-body.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { changesOf, type RowChange } from '../resources/changes.ts';
import { changeRow, changingOf } from '../resources/changing.ts';
import { claimBlocked } from './conditions.ts';
import { carryOut } from './fired.ts';

/** Something that is done to a row: a change of it, or a transition, of a caller or of the clock. */
type Act =
  | { readonly name: string; readonly endpoint: Endpoint; readonly change: RowChange }
  | { readonly name: string; readonly transition: Transition; readonly isClocks: boolean };

/** How a row came to be as it is makes no difference to what can be done with it: every change and transition after every other. */
export const sequences: Trial = {
  name: 'states/sequences',
  part: 'states',
  about: 'A change or a transition does the same whichever other one came before it.',
  noise: 'quiet',
  cases: (model) => casesOf(model, false),
};

/** The same with the transitions of the clock among them. */
export const timedSequences: Trial = {
  ...sequences,
  name: 'states/timed sequences',
  movesClock: true,
  about: 'A change or a transition does the same whatever came before it, before or after time has gone by.',
  noise: 'loud',
  cases: (model) => casesOf(model, true),
};

function* casesOf(model: Model, withClock: boolean) {
  for (const machine of allMachines(model.spec.states)) {
    const acts = actsOn(model, machine, withClock);
    if (acts.length < 2 || (withClock && !acts.some((act) => 'isClocks' in act && act.isClocks))) continue;
    for (let first = 0; first < Math.min(acts.length, rowsMost); first++) {
      // Each row begins with another of them, and prefers others after that.
      const own = [...acts.slice(first), ...acts.slice(0, first)];
      const name = `${machine.key}, ${own[0]?.name} first`;
      yield { name, facts: factsOfMachine(machine), run: (session: Session) => actOn(session, machine, own) };
    }
    yield* emptied(model, machine, acts, withClock);
  }
}

function actsOn(model: Model, machine: Machine, withClock: boolean): Act[] {
  const resource = model.resource(machine.resource);
  const moves = [...fireable(model)].filter((one) => one.machine === machine);
  const conditions = moves.flatMap(({ transition }) => transition.if?.source ?? '').join(' ');
  const changes = ['update', 'replace']
    .flatMap((verb) => model.endpointsThat(verb, machine.resource))
    .flatMap((endpoint): Act[] => {
      if (!resource || endpoint.identity || !writesFields(model, endpoint)) return [];
      const all = changesOf(model, endpoint, resource).filter(({ fields }) => fields.length === 1);
      const asked = (one: RowChange) => conditions.includes(`.${one.fields[0]}`);
      // One that no condition asks for, and what conditions ask for set and taken away.
      const [plain] = all.filter((one) => !asked(one));
      return [...(plain ? [plain] : []), ...all.filter(asked).slice(0, 4)].map((change) => ({
        name: `${endpoint.key} ${change.says}`,
        endpoint,
        change,
      }));
    });
  const clocks = withClock
    ? entriesOf(machine.transitions).filter(([, { after, if: guard, to }]) => after && !guard && to.length === 1)
    : [];
  return [
    ...changes,
    ...moves.map(({ transition }) => ({ name: transition.name, transition, isClocks: false })),
    ...clocks.map(([name, transition]) => ({ name, transition, isClocks: true })),
  ];
}

const rowsMost = 6;
const actsMost = 8;

/** Goes on from act to act for as long as there is one that has not come after the last. */
async function actOn(session: Session, machine: Machine, acts: readonly Act[]): Promise<void> {
  const seen = new Set<string>();
  const row = await session.make(machine.resource, { style: 'whole' });
  const isOurs = row.made !== undefined || !session.model.seeds.isNeeded(machine.resource);
  session.need(isOurs, `rows of ${machine.resource} are given, not made`);
  await lookAt(session, row);
  let last: Act | undefined;
  for (let count = 0; count < actsMost; count++) {
    const act = nextAct(machine, acts, row, last, seen);
    if (!act) break;
    seen.add(pairOf(last, act, lackingOf(acts, row)));
    if (await ifTestable(carryOutAct(session, machine, row, act))) last = act;
  }
  session.need(last !== undefined, `nothing could be done with a ${machine.resource}`);
}

/** What a condition asks for is taken away of a row that had it, and then the transition is fired, in the states in which it may be. */
function* emptied(model: Model, machine: Machine, acts: readonly Act[], withClock: boolean) {
  const ways = shortestWays(model, machine);
  for (const act of acts) {
    for (const other of acts) {
      if (!('change' in act) || !act.change.says.endsWith('removed') || !('transition' in other) || other.transition.from === '*')
        continue;
      const { if: condition, from: states } = other.transition;
      const from = states.find((state) => ways.has(state)) ?? states[0];
      const isAsked = condition?.source.includes(`.${act.change.fields[0]}`) === true;
      if (!isAsked || from === undefined || ways.has(from) === withClock) continue;
      const run = async (session: Session) => {
        const row = await session.make(machine.resource, { style: 'whole' });
        session.need(await carryOutAct(session, machine, row, act), `${act.name} was refused`);
        await walkTo(session, row, from, { byClock: withClock, machine });
        await carryOutAct(session, machine, row, other);
      };
      yield { name: `${machine.resource}, ${act.name}, then ${other.name}`, facts: factsOfMachine(machine), run };
    }
  }
}

function pairOf(last: Act | undefined, next: Act, lacking: string): string {
  return `${last?.name ?? ''} > ${next.name} without ${lacking}`;
}

/** The fields that conditions ask for and the row has not: what can be done with it differs by them. */
function lackingOf(acts: readonly Act[], row: TrialRow): string {
  const sources = acts.flatMap((act) => ('transition' in act && act.transition.if ? act.transition.if.source : []));
  const names = sources.flatMap((source) => [...source.matchAll(/\bresource\.(\w+)/g)].map(([, name = '']) => name));
  return [...new Set(names)].filter((name) => row.fields?.[name] === undefined || row.fields[name] === null).join(', ');
}

/** What is done next: what has not come after the last one yet, else what has something new after it. */
function nextAct(
  machine: Machine,
  acts: readonly Act[],
  row: TrialRow,
  last: Act | undefined,
  seen: ReadonlySet<string>,
): Act | undefined {
  const state = stateOf(row, machine);
  if (state === undefined) return undefined;
  const lacking = lackingOf(acts, row);
  const legal = acts.filter((act) => isLegal(act, state));
  const fresh = legal.filter((act) => !seen.has(pairOf(last, act, lacking)));
  // What leads somewhere from which less is possible comes last.
  const rank = (act: Act) => (act === last ? 1 : 0) + ('transition' in act && !leadsOn(acts, act) ? 2 : 0);
  return fresh.sort((one, other) => rank(one) - rank(other))[0];
}

function isLegal(act: Act, state: string): boolean {
  if ('change' in act) return act.endpoint.in === undefined || act.endpoint.in.includes(state);
  return act.transition.from === '*' || act.transition.from.includes(state);
}

function leadsOn(acts: readonly Act[], { transition }: Extract<Act, { readonly transition: Transition }>): boolean {
  return transition.to.some(({ state }) => acts.some((act) => isLegal(act, state)));
}

/** Does one thing; whether the row was changed. @throws {Untestable} */
async function carryOutAct(session: Session, machine: Machine, row: TrialRow, act: Act): Promise<boolean> {
  if ('change' in act) {
    const members = await act.change.members(session, row);
    const before = (await lookAt(session, row)).done;
    const changing = await changingOf(session, act.endpoint, row);
    return members !== undefined && (await changeRow(session, changing, members, before, act.change.fields[0])) !== undefined;
  }
  const { transition } = act;
  const state = stateOf(row, machine) ?? '';
  if (act.isClocks) {
    const ms = (transition.after?.ms ?? 0) + 1_000;
    session.need(
      session.run.clock.advance !== undefined && !endsWithin(session.model, session, ms),
      'the clock cannot be moved so far',
    );
    await session.wait(ms);
    await lookAt(session, row);
    return stateOf(row, machine) !== state;
  }
  const step = session.script.length;
  if (await isBlocked(session, row, transition)) await fireBlocked(session, machine, row, transition);
  else await carryOut(session, row, { machine, transition, state });
  return session.script.length > step && stateOf(row, machine) !== undefined;
}

async function isBlocked(session: Session, row: TrialRow, transition: Transition): Promise<boolean> {
  const endpoint = session.model.endpointOfTransition(row.resource, transition.name);
  const known = contextOfRow(session, row);
  if (!endpoint || !known || transition.if === undefined) return false;
  const [caller] = callersFor(session, endpoint, row);
  const plan = await requestAbout(session, row, endpoint, { caller, transition });
  const json = plan.body && 'value' in plan.body ? resolve(plan.body.value, session.run) : undefined;
  const firing = {
    operation: endpoint.operation,
    row: row.fields ?? {},
    unseen: known.unseen?.resource ?? new Set<string>(),
    request: json,
    caller,
    nowMs: session.run.clock.toService(Date.now()),
  };
  return outcomeOf(session.model.expressions, transition, firing) === 'blocked';
}

async function fireBlocked(session: Session, machine: Machine, row: TrialRow, transition: Transition): Promise<void> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined, 'no caller can fire it');
  const before = (await lookAt(session, row)).done;
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller, headers, transition }));
  await claimBlocked(session, row, { machine, transition, before, done });
}
