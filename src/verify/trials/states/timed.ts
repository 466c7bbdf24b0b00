import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { followsOthers } from '../../../parts/followed.ts';
import { allMachines, type Machine, statesNamed, type Transition } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import { moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { callersFor } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { shortestWays } from '../../make/legs.ts';
import { lookAt } from '../../make/look.ts';
import { requestAbout } from '../../make/request-about.ts';
import { makeWhere } from '../../make/row-where.ts';
import { factsOfMachine } from '../../make/transitions.ts';
import { dueAt, dueIn, fireOnRow, statesOf } from '../../make/walk.ts';
import { ledByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { begunAnew, comeAgain, enteredAgain, enteredLater, enterLater, laterBy, waysBack, waysThere } from './entered-later.ts';
import { leaveInTime, moveAside, stayBehind, waysAside, waysOut } from './left-in-time.ts';
import { putOff, putOffBy, waysToPutOff } from './put-off.ts';
import { claimSetByClock, setByClock } from './set-by-clock.ts';

/** What the clock does, it does when it is due, and not before. */
export const timed: Trial = {
  name: 'states/timed',
  part: 'states',
  about: 'A transition of the clock comes when it is due, and not before.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    for (const machine of allMachines(model.spec.states)) {
      const { resource } = machine;
      for (const [, transition] of entriesOf(machine.transitions)) {
        if (!(transition.after ?? transition.atTime) || transition.to.some((target) => target.if)) continue;
        for (const state of transition.from === '*' ? statesOf(machine) : transition.from) {
          if (rivals(machine, transition, state)) continue;
          const name = `${transition.name} ${resource} from ${state}`;
          const times = setByClock(model, machine, transition).map(([{ name: field }]) => ({
            kind: 'allowed values',
            subject: `${resource}.${field}`,
          }));
          const facts = [...factsOfMachine(machine), ...times];
          const make = (session: Session) => dueRow(session, machine, state, transition);
          yield { name, facts, run: (session) => letTimePass(session, machine, { transition, state, make }) };
          if (transition.if) {
            yield {
              name: `${name}, held back`,
              facts,
              run: (session) => stayBehind(session, machine, { timed: transition, state }),
            };
            continue;
          }
          yield* betweenTimes(model, machine, { transition, state, make }, { name, facts });
          for (const leaving of waysOut(model, machine, transition, state)) {
            const left = `${name}, left by ${leaving.by.name}`;
            yield { name: left, facts: factsOfMachine(machine), run: (session) => leaveInTime(session, machine, leaving) };
          }
          yield* comingBack(model, machine, { transition, state, make }, { name, facts });
          for (const way of waysToPutOff(model, machine, transition, state)) {
            const late = (session: Session) => putOff(session, machine, { timed: transition, state }, way);
            const reason = putOffBy(transition, way);
            const run = (session: Session) => letTimePass(session, machine, { transition, state, make: late, reason });
            yield { name: `${name}, put off by ${way.by}`, facts, run };
          }
          for (const entering of enteredLater(model, machine, transition, state)) {
            const enter = (session: Session) => enterLater(session, machine, transition, entering);
            const reason = laterBy(transition, entering);
            const run = (session: Session) => letTimePass(session, machine, { transition, state, make: enter, reason });
            yield { name: `${name}, later by ${entering.name}`, facts, run };
          }
          for (const entering of waysInto(model, machine, state)) {
            const enter = (session: Session) => entered(session, machine, entering);
            const by = `${name} by ${entering.name}`;
            yield { name: by, facts, run: (session) => letTimePass(session, machine, { transition, state, make: enter }) };
          }
        }
      }
    }
  },
};

/** What enters the state anew, from there and from elsewhere: its time begins anew, and that of before is forgotten. */
function* comingBack(
  model: Model,
  machine: Machine,
  { transition, state }: Passing,
  { name, facts }: { readonly name: string; readonly facts: Case['facts'] },
): Iterable<Case> {
  for (const again of waysBack(model, machine, transition, state)) {
    const make = (session: Session) => enteredAgain(session, machine, again, { state, timed: transition });
    const reason = begunAnew(transition, again);
    const run = (session: Session) => letTimePass(session, machine, { transition, state, make, reason });
    yield { name: `${name}, begun anew by ${again.name}`, facts, run };
  }
  for (const way of waysThere(model, machine, transition, state)) {
    const make = (session: Session) => comeAgain(session, machine, way);
    const run = (session: Session) => letTimePass(session, machine, { transition, state, make });
    yield { name: `${name}, left by ${way.leaving.by.name} and entered again by ${way.entering.name}`, facts, run };
  }
}

/** What is done to a row meanwhile, and does not restart its time: a change of it, and a transition of each other machine. */
function* betweenTimes(
  model: Model,
  machine: Machine,
  passing: Passing,
  { name, facts }: { readonly name: string; readonly facts: Case['facts'] },
): Iterable<Case> {
  const { transition, state } = passing;
  // A change may put off what is due at a time of the row.
  if (!transition.after) return;
  const [update] = model.endpointsThat('update', machine.resource).filter((one) => {
    const allowed = statesNamed(model.spec.states, machine, one.in ?? []);
    return allowed.length === 0 || allowed.includes(state);
  });
  if (update) {
    const meanwhile = (session: Session, row: TrialRow) => change(session, update, row);
    const run = (session: Session) => letTimePass(session, machine, { ...passing, meanwhile });
    yield { name: `${name}, changed in between`, facts, run };
  }
  for (const aside of waysAside(model, machine)) {
    const meanwhile = (session: Session, row: TrialRow) => moveAside(session, row, aside);
    const run = (session: Session) => letTimePass(session, machine, { ...passing, meanwhile });
    yield { name: `${name}, ${aside.name} in between`, facts, run };
  }
}

/** A row that the clock moves: one for which the condition of that holds, where it has one, brought by the clock to where it alone leads. */
export function dueRow(session: Session, machine: Machine, state: string, transition: Transition): Promise<TrialRow> {
  const { resource } = machine;
  const wanted = { machine, state, ...(isOfClock(session.model, machine, state) && { byClock: true }) };
  return transition.if ? makeWhere(session, resource, wanted, transition.if, true) : session.make(resource, wanted);
}

/** Whether no caller brings a row into a state. */
function isOfClock(model: Model, machine: Machine, state: string): boolean {
  return !shortestWays(model, machine).has(state);
}

/** Whether the clock may have done something else to the row by then. */
function rivals(machine: Machine, transition: Transition, state: string): boolean {
  return entriesOf(machine.transitions).some(
    ([, other]) => other !== transition && (other.after || other.atTime) && (other.from === '*' || other.from.includes(state)),
  );
}

/** The reason of a claim that a transition of the clock does not come before its time. */
export const notBefore = ({ name }: Transition): string => `${name} not before`;

/** Whether the clock brings about a transition at one time, so that it can be told that it is not before. */
export function isTimedAlone(machine: Machine, transition: Transition): boolean {
  const states = transition.from === '*' ? statesOf(machine) : transition.from;
  const isTimed = (transition.after ?? transition.atTime) !== undefined && !transition.to.some((target) => target.if);
  return isTimed && states.some((state) => !rivals(machine, transition, state));
}

/** Transitions of callers that lead into a state from another one: time counts from entering, however it was entered. */
function waysInto(model: Model, machine: Machine, state: string): Transition[] {
  return entriesOf(machine.transitions).flatMap(([name, transition]) => {
    const leads = transition.to.length === 1 && transition.to[0]?.state === state && !transition.if;
    const isAnother = transition.from !== '*' && !transition.from.includes(state);
    return leads && isAnother && model.endpointOfTransition(machine.resource, name) ? [transition] : [];
  });
}

async function entered(session: Session, machine: Machine, transition: Transition): Promise<TrialRow> {
  const endpoint = session.model.endpointOfTransition(machine.resource, transition.name);
  session.need(endpoint !== undefined && transition.from !== '*', 'no caller can fire it');
  const row = await session.make(machine.resource, { machine, state: transition.from[0] ?? '' });
  const done = await fireOnRow(session, row, endpoint, transition);
  session.need(isDone(done.value), `${transition.name} was answered ${done.value.status}`);
  return row;
}

/** A change of a row, which does not restart the time that it has been in its state. */
async function change(session: Session, endpoint: Endpoint, row: TrialRow): Promise<void> {
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller, headers, style: 'full' }));
  session.need(isDone(done.value), `${endpoint.key} was answered ${done.value.status}`);
}

/** A transition of the clock, the state that it leaves, and a row that has just entered that. */
interface Passing {
  readonly transition: Transition;
  readonly state: string;
  readonly make: (session: Session) => Promise<TrialRow>;
  /** What is claimed of its not coming too early, where that is no usual look. */
  readonly reason?: string;
  /** What is done halfway. */
  readonly meanwhile?: (session: Session, row: TrialRow) => Promise<void>;
}

/** What can be waited for where the clock cannot be moved. */
const waitMsMax = 5_000;

/** A row that has just entered the state, as it was shown then, and how long it is until it is taken out of it. @throws {Untestable} */
async function begin(session: Session, machine: Machine, { transition, make }: Passing) {
  const { model } = session;
  const { clock } = session.run;
  const source = transition.after?.source ?? transition.atTime?.source ?? '';
  const isShort = transition.after !== undefined && transition.after.ms <= waitMsMax;
  session.need(clock.advance !== undefined || isShort, `the clock cannot be moved, and ${source} is long`);
  session.need(!endsWithin(model, session, 2 * (transition.after?.ms ?? 0)), 'the tokens that were given end before that');
  const row = await make(session);
  const before = (await lookAt(session, row)).done;
  // What is made along with something else is known by what showed it.
  const made = row.made ?? before;
  session.need(idIn(model, made.value) !== undefined, `rows of ${machine.resource} are given, not made`);
  const dueMs = dueIn(session, row, transition);
  session.need(dueMs !== undefined && dueMs > 0, `when ${transition.name} is due is not shown`);
  session.need(!endsWithin(model, session, 2 * dueMs), 'the tokens that were given end before that');
  return { source, row, made, before, dueMs };
}

/** Whether what is done to other rows may have led a row from one of some states to another: a certificate that expires stops its engine. */
function mayFollowOthers({ spec }: Model, machine: Machine, states: readonly string[], now: unknown): boolean {
  return entriesOf(machine.transitions).some(
    ([name, { from, to }]) =>
      to.some((target) => target.state === now) &&
      (from === '*' || from.some((state) => states.includes(state))) &&
      followsOthers(spec, machine.resource, name),
  );
}

/** When the clock brought a row into a state, where that alone does and the row shows it: a course has begun at its time. */
function enteredAtTime(
  model: Model,
  machine: Machine,
  state: string,
  { creation, was }: { readonly creation: TrialExchange; readonly was: TrialExchange },
): number | undefined {
  const ways = entriesOf(machine.transitions).filter(([, { to }]) => to.some((target) => target.state === state));
  const [way, ...others] = ways.map(([, transition]) => transition);
  if (!way?.atTime || others.length > 0 || machine.initial.some((one) => one.state === state)) return undefined;
  const dueMs = dueAt(model, way, rowWith(model, was, idIn(model, creation)) ?? {}, Number.NaN);
  return dueMs === undefined ? undefined : Math.max(dueMs, creation.fromMs);
}

async function letTimePass(session: Session, machine: Machine, passing: Passing): Promise<void> {
  const { transition, state, meanwhile, reason = notBefore(transition) } = passing;
  const { model } = session;
  const { source, row, made, before, dueMs } = await begin(session, machine, passing);
  // When the clock brought it there is not known: not before it was made, where that is.
  const isSince = isOfClock(model, machine, state);
  const sinceMs = (creation: TrialExchange, was: TrialExchange) =>
    enteredAtTime(model, machine, state, { creation, was }) ?? (row.made ? creation.fromMs : Number.NaN);
  const dueFor = (creation: TrialExchange, was: TrialExchange, enteredMs: number) =>
    dueAt(model, transition, rowWith(model, was, idIn(model, creation)) ?? {}, enteredMs) ?? Number.NaN;
  const marginMs = Math.min(dueMs / 4, 60_000);
  const halfMs = meanwhile ? dueMs / 2 : 0;
  if (meanwhile) {
    await session.wait(halfMs);
    await meanwhile(session, row);
  }
  const early = await session.wait(dueMs - halfMs - marginMs);
  const still = (await lookAt(session, row)).done;
  const late = await session.wait(2 * marginMs);
  const after = (await lookAt(session, row)).done;
  const whenDue = transition.after ? `${source} have gone by` : `it is ${source}`;
  const targets = transition.to.map((target) => target.state);
  const stateIn = (creation: TrialExchange, seen: TrialExchange) => rowWith(model, seen, idIn(model, creation))?.[machine.field];
  const fact = { kind: 'transitions', subject: machine.key };
  session.claim({
    fact,
    reason,
    at: transition.after?.at ?? transition.atTime?.at ?? transition.at,
    of: [made, before, early, still] as const,
    judge(creation: TrialExchange, was: TrialExchange, _waited: null, seen: TrialExchange) {
      if (!isDone(creation) || stateIn(creation, was) !== state || !isDone(seen)) return moot('it was not in that state');
      const now = stateIn(creation, seen);
      if (now !== state && mayFollowOthers(model, machine, [state, ...targets], now))
        return moot('something else may have led to it');
      // How long it took to get there is not known to the second.
      if (!(seen.toMs < dueFor(creation, was, isSince ? sinceMs(creation, was) : was.fromMs))) return moot('it took too long');
      return now === state ? undefined : { promised: `${state} until ${whenDue}`, seen: asText(now) };
    },
  });
  session.claim({
    fact,
    reason: `${transition.name} in time`,
    at: transition.after?.at ?? transition.atTime?.at ?? transition.at,
    of: [made, before, early, late, after] as const,
    judge(creation: TrialExchange, was: TrialExchange, _early: null, _late: null, seen: TrialExchange) {
      if (!isDone(creation) || stateIn(creation, was) !== state || !isDone(seen)) return moot('it was not in that state');
      if (!(seen.fromMs >= dueFor(creation, was, was.toMs))) return moot('not so much time has gone by');
      const now = stateIn(creation, seen);
      const isThere = typeof now === 'string' && targets.includes(now);
      if (!isThere && mayFollowOthers(model, machine, [state, ...targets], now)) return moot('something else may have led to it');
      if (!isThere && ledByClock(machine, targets).has(asText(now))) return moot('its time there may be over too');
      return isThere ? undefined : { promised: `${targets.join(' or ')} once ${whenDue}`, seen: asText(now) };
    },
  });
  claimSetByClock(session, machine, transition, { made, before, early, late, after });
}
