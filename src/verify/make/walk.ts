import { sentAs } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { fieldNaming, transitionOf } from '../../parts/followed.ts';
import { type Machine, machineIn, machinesOf, machineWith, statesNamed, type Transition } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { briefly, isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done, HeldPlace } from '../exchange/step.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { ifTestable, NoRoom, Untestable } from '../exchange/untestable.ts';
import type { Aim } from '../model/access.ts';
import type { Model } from '../model/model.ts';
import { rowIn, type ShownFields, showsResource } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { bringOn } from './brought.ts';
import { callersFor } from './callers-for.ts';
import { staysWithin } from './ends.ts';
import { leadsTo, legKey, wayFor } from './legs.ts';
import { lookAt } from './look.ts';
import { sentAhead } from './looking-ahead.ts';
import { changedRow, firedRow } from './newcomers.ts';
import { leadsFrom, openTo, readOf } from './opened.ts';
import { requestAbout } from './request-about.ts';
import { sparedByErrors } from './spared-by-errors.ts';
import { giveBack, placeFor } from './ways.ts';

const attemptsMax = 4;

/** Whether the clock may help, and of which machine the state is, where that is not told by its name. */
interface Walk {
  readonly byClock?: boolean | undefined;
  readonly machine?: Machine | undefined;
  readonly named?: TrialCaller | undefined;
  /** The places that are held for the row. */
  readonly held?: HeldPlace[];
  readonly ahead?: ShownFields | undefined;
  /** How many ways are tried after others were refused. */
  readonly attempts?: number;
}

/** Fires transitions until a row is in a state, by the shortest way that the machine allows, and lets time go by for those of the clock where it may. @throws {Untestable} */
export async function walkTo(session: Session, row: TrialRow, state: string, walk: Walk = {}): Promise<void> {
  const machine = walk.machine ?? machineIn(session.model.spec.states, row.resource, state);
  if (!machine) throw new Untestable(`${row.resource} has no machine`);
  const isOver = beginWalk(session, row, machine);
  try {
    await walkOn(session, row, machine, { ...walk, state });
  } finally {
    isOver();
  }
}

/** The rows that each case brings somewhere, and how often it brought one anywhere. */
const walks = new WeakMap<Session, { readonly under: Set<string>; count: number }>();
const walksMost = 200;

/** Notes that a row is brought somewhere, whichever way it is known, and gives what ends that. @throws {Untestable} where it is already: what it waits for would wait for it */
function beginWalk(session: Session, row: TrialRow, { field }: Machine): () => void {
  const own = walks.get(session) ?? { under: new Set<string>(), count: 0 };
  walks.set(session, own);
  const key = JSON.stringify([row.resource, field, resolve(row.id, session.run)]);
  if (own.under.has(key)) throw new Untestable(`a ${row.resource} waits for what waits for it`);
  own.count += 1;
  session.need(own.count <= walksMost, `more than ${walksMost} rows would have to be brought somewhere`);
  own.under.add(key);
  return () => own.under.delete(key);
}

async function walkOn(
  session: Session,
  row: TrialRow,
  machine: Machine,
  { state, byClock = false, named, held = [], ahead, attempts = attemptsMax }: Walk & { readonly state: string },
): Promise<void> {
  const tried = new Set<string>();
  for (let steps = 0; steps < 12; steps++) {
    const now = stateOf(row, machine);
    giveBack(held);
    // What the row is to be in the end stays free for it on the way there.
    const { places } = session.run;
    const place = row.fields && places?.hold(places.countedIn([changedRow(row, { [machine.field]: state })]));
    if (place) held.push(place);
    if (now === undefined) throw new Untestable(`the state of a ${row.resource} is not shown`);
    if (now === state) return;
    const [next, ...legs] = wayFor(session, machine, now, state, { tried, byClock });
    if (!next) throw new Untestable(`no caller can bring a ${row.resource} from ${now} to ${state}`);
    if (!next.endpoint) {
      if (next.brings) await bringOn(session, row, next.brings, { leadsTo, walkTo, fireOnRow });
      else await letClockMove(session, row, next.transition);
      if (stateOf(row, machine) !== next.to) tried.add(legKey(now, next));
      continue;
    }
    const done = await fireOnRow(session, row, next.endpoint, next.transition, next.to, {
      named,
      held,
      sent: sentAhead(session, row, next.transition, { wanted: ahead, legs }),
    });
    if (stateOf(row, machine) !== next.to) tried.add(legKey(now, next));
    if (!isDone(done.value) && tried.size > attempts) {
      throw new Untestable(
        `${next.transition.name} of a ${row.resource} in ${now} was answered ${done.value.status}${briefly(done.value)}`,
      );
    }
  }
  throw new Untestable(`a ${row.resource} did not come to ${state}`);
}

/** Lets the time go by until the clock moves a row on, and looks at it. @throws {Untestable} where nobody could be spoken for by then */
async function letClockMove(session: Session, row: TrialRow, transition: Transition): Promise<void> {
  const ms = (dueIn(session, row, transition) ?? 0) + 1_000;
  session.need(staysWithin(session.model, session, ms + 60_000), `by the time of ${transition.name} nothing would be as it was`);
  await session.waitTogether(ms);
  await lookAt(session, row);
}

/** The state that a row was last seen in. */
export function stateOf(row: TrialRow, machine: Machine): string | undefined {
  const value = row.fields?.[machine.field];
  return typeof value === 'string' ? value : undefined;
}

/** Who fires a transition, to whom it gives the row, and the places that are held for the row until then. */
interface Firing {
  readonly caller?: TrialCaller | undefined;
  readonly named?: TrialCaller | undefined;
  readonly held?: HeldPlace[];
  /** Members that are sent with it. */
  readonly sent?: ShownFields;
}

/** Fires one transition on a row, as somebody who may, once what it asks of the row is so; the row is as the answer shows it. */
export async function fireOnRow(
  session: Session,
  row: TrialRow,
  endpoint: Endpoint,
  transition: Transition,
  target?: Aim,
  { caller, named, held = [], sent }: Firing = {},
): Promise<Done<TrialExchange>> {
  await openToFire(session, row, transition, target);
  const machine = machineWith(session.model.spec.states, row.resource, transition.name);
  const able = caller ? [caller] : callersFor(session, endpoint, row);
  const then = { name: transition.name, state: stateOfAim(target, transition), machine };
  giveBack(held);
  const newcomers = (one: TrialCaller) => (row.fields ? [firedRow(session.model, row, then, one)] : []);
  const has = await placeFor(session, able, newcomers, { mayWait: true }).catch((error: unknown) => {
    // Who is to do it tries it all the same.
    if (!caller || !(error instanceof NoRoom)) throw error;
    return undefined;
  });
  const allowed = has?.one ?? able[0];
  try {
    const headers = await session.preconditions(endpoint, row, allowed);
    const isUpdate = statedValue(endpoint.does)?.verb === 'update';
    const request = await requestAbout(session, row, endpoint, {
      headers,
      caller: allowed,
      named,
      sent,
      ...(isUpdate && machine
        ? { json: stateSent(endpoint, machine, then.state) }
        : { transition, ...(target !== undefined && { target }) }),
    });
    const done = await session.send(request);
    // What is answered with an error may be kept nevertheless.
    if (!isDone(done.value) && transition.to.some(({ answer }) => answer !== undefined)) await lookAt(session, row);
    const fields = rowIn(done.value);
    if (isDone(done.value) && fields && machine && fields[machine.field] !== undefined) {
      const isWhole = showsResource(endpoint, row.resource, done.value.status);
      row.fields = isWhole ? fields : { ...row.fields, ...fields };
      if (isWhole) row.shown = done;
      // What is answered with a part of a row tells the rest of it to nobody.
      else await ifTestable(lookAt(session, row));
    }
    return done;
  } finally {
    has?.place();
  }
}

/** The state that a transition is to lead to. */
export function stateOfAim(aim: Aim | undefined, { to }: Transition): string {
  return typeof aim === 'string' ? aim : ((aim ?? to[0])?.state ?? '');
}

/** Brings about what a transition asks of a row before it is fired: states of its other machines, of what it is to move along, rows that refer to it, and what it has. */
export async function openToFire(session: Session, row: TrialRow, transition: Transition, target?: Aim): Promise<void> {
  const spared = sparedByErrors(session, row.resource, transition);
  await moveOthers(session, row, spared);
  await readyAlong(session, row, spared);
  await openTo(session, row, spared, { target, walking: { leadsTo, walkTo } });
}

/** Brings the rows that are to be moved along with a row, `then: { do: loose hawk, to: next.hawk }`, into states in which they may be: else the row is not moved either. */
async function readyAlong(session: Session, row: TrialRow, { following = [] }: Transition): Promise<void> {
  const { spec } = session.model;
  for (const { does, to, each, skips, if: condition } of following) {
    const along = does && transitionOf(spec, does);
    const machine = along && machineWith(spec.states, does.resource, along.name);
    const id = row.known[fieldNaming(to?.source) ?? ''];
    if (!machine || along.from === '*' || each || skips || condition || id === undefined) continue;
    const other: TrialRow = { resource: does.resource, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
    await ifTestable(lookAt(session, other));
    const now = stateOf(other, machine);
    const from = along.from.find((state) => now !== undefined && leadsTo(session, machine, now, state));
    if (now === undefined || from === undefined || along.from.includes(now)) continue;
    await ifTestable(walkTo(session, other, from, { machine }));
  }
}

/** The machines by which each row is being moved: what one waits for another does not wait for it. */
const moving = new WeakMap<TrialRow, Set<Machine>>();

/** Where a row has several machines, and a transition of one can be fired in some states of another alone, brings it to one of these. */
async function moveOthers(session: Session, row: TrialRow, transition: Transition): Promise<void> {
  const { states } = session.model.spec;
  const own = machineWith(states, row.resource, transition.name);
  const reads = readOf(session, transition);
  const others = machinesOf(states, row.resource).filter((one) => one !== own && reads.has(one.field));
  if (!own || others.length === 0) return;
  if (!row.fields) await ifTestable(lookAt(session, row));
  const known = moving.get(row) ?? new Set<Machine>();
  moving.set(row, known);
  for (const other of others) {
    const from = stateOf(row, other);
    const apart = [...reads].filter((name) => name !== other.field);
    const isBlocked = (state: string) =>
      leadsFrom(session, { row, transition }, { ...row.fields, [other.field]: state }, apart) === 'blocked';
    if (known.has(other) || from === undefined || !isBlocked(from)) continue;
    const state = statesOf(other).find((one) => !isBlocked(one) && leadsTo(session, other, from, one));
    if (state === undefined) continue;
    known.add(own);
    await ifTestable(walkTo(session, row, state, { machine: other })).finally(() => known.delete(own));
  }
}

/** The body of an update that is a transition: the state that it leads to, where the body has the row. */
export function stateSent(endpoint: Endpoint, { field }: Machine, state: string): Symbolic {
  const path = endpoint.takes?.path ?? [];
  const sent: Symbolic = bareMap({ ...sentAs<Symbolic>(endpoint, { [field]: state }) });
  return path.reduceRight<Symbolic>((inner, name) => bareMap({ [name]: inner }), sent);
}

/** The stated states of a machine. */
export function statesOf(machine: Machine): readonly string[] {
  return statedValue(machine.states) ?? [];
}

/** When the clock fires a transition on a row that was in its state then; nothing where that cannot be reckoned of what was shown. */
export function dueAt(model: Model, { after, atTime }: Transition, row: ShownFields, enteredMs: number): number | undefined {
  if (after) return enteredMs + after.ms;
  const evaluated = atTime && model.expressions.evaluate(atTime, undefined, { context: { resource: row } });
  const ms = typeof evaluated === 'object' ? Date.parse(asText(evaluated.value)) : Number.NaN;
  return Number.isFinite(ms) ? ms : undefined;
}

/** How long it is until then. */
export function dueIn({ model, run }: Session, row: TrialRow, transition: Transition): number | undefined {
  const nowMs = run.clock.toService(Date.now());
  const atMs = dueAt(model, transition, row.fields ?? {}, nowMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
}

/** Deletes a row, in a state in which it may be. @throws {Untestable} where nobody can. */
export async function remove(session: Session, row: TrialRow): Promise<Done<TrialExchange>> {
  const { model } = session;
  const [endpoint] = model.endpointsThat('delete', row.resource);
  session.need(endpoint !== undefined, `nothing deletes a ${row.resource}`);
  for (const machine of machinesOf(model.spec.states, row.resource)) {
    const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
    const [state] = allowed;
    if (state !== undefined && !allowed.includes(asText(row.fields?.[machine.field])))
      await walkTo(session, row, state, { machine });
  }
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  return session.send(await requestAbout(session, row, endpoint, { caller, headers }));
}
