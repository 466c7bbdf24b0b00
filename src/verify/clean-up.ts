import type { Json } from '../document/document.ts';
import { isMap } from '../document/values.ts';
import type { Endpoint } from '../parts/endpoints.ts';
import { entriesOf } from '../parts/fact.ts';
import { identifierParameter } from '../parts/payload.ts';
import { machineIn } from '../parts/states.ts';
import { type Budget, Spent } from './exchange/budget.ts';
import { isDone } from './exchange/exchange.ts';
import type { TrialRow } from './exchange/row.ts';
import { Missing } from './exchange/symbol.ts';
import { Untestable } from './exchange/untestable.ts';
import { callersFor } from './make/callers-for.ts';
import { lookAt } from './make/look.ts';
import { type Made, type MadeRow, madeKey } from './make/made.ts';
import { pathValues } from './make/request-about.ts';
import { stateOf, walkTo } from './make/walk.ts';
import type { Model } from './model/model.ts';
import type { Leftover } from './report.ts';
import type { Session } from './session/session.ts';
import { subscribersOf } from './trials/events/subscribing.ts';
import { NoValue } from './values/scalars.ts';

/** Rows may hold others that are older or younger: what stays is tried again for as long as anything goes. */
const passesMax = 4;
const beside = 8;
/** Who has not answered so often in a row is asked no more. */
const troublesMax = 40;

/** Rows of one run alone, of one resource, or those that are meant. */
export interface OnlyRows {
  readonly owner?: unknown;
  readonly resource?: string;
  readonly among?: (row: MadeRow) => boolean;
  /** Whether anything more may be asked: what else there is to do has the time otherwise. */
  readonly mayGoOn?: () => boolean;
}

/**
 * Removes what was made, or what one run made, where the document has a way, through the states that a deletion asks for; says what stays.
 * Nothing is asked for a row that another one holds for as long as that one stays, nor, but in the end, for one that was refused before and is
 * held by nothing less since.
 */
export async function cleanUp(made: Made, start: () => Session, only: OnlyRows = {}): Promise<Leftover[]> {
  const whys = new Map<MadeRow, string>();
  const { model, run } = start();
  const isEnd = run.errand === 'last';
  // What goes with another row is left to it once: a deletion that takes others along is one request.
  const left = new Set<MadeRow>();
  for (let pass = 0, before = Number.POSITIVE_INFINITY; pass < passesMax; pass++) {
    const queue = made.left.filter((row) => row.isRemovable && isAmong(row, only));
    if (queue.length >= before) break;
    const held = holdersIn(made.left, model);
    const going = new Set(queue.map(madeKey));
    const along = queue.filter((row) => !left.has(row) && row.goesWith.some((key) => going.has(key)));
    for (const row of along) left.add(row);
    before = along.length > 0 ? Number.POSITIVE_INFINITY : queue.length;
    const isLeft = new Set(along);
    const whyNot = async (row: MadeRow): Promise<string> => {
      if (only.mayGoOn?.() === false) return 'others were to be looked at first';
      if (isLeft.has(row)) return 'it goes with what it refers to';
      const holder = held.get(madeKey(row))?.find((one) => made.has(one));
      if (holder) return `a ${holder.resource} refers to it`;
      const known = made.staysFor(row) ?? (isEnd ? undefined : made.refusedBefore(row));
      if (known !== undefined) return known;
      const session = start();
      if (session.run.client.troublesInARow >= troublesMax) return 'the service no longer answers';
      return (await remove(row, made, session)) ?? '';
    };
    await Promise.all(
      Array.from({ length: beside }, async () => {
        for (let row = queue.shift(); row; row = queue.shift()) whys.set(row, await whyNot(row));
      }),
    );
  }
  const staying = new Map<string, { count: number; why: string }>();
  for (const row of made.left) {
    const known = staying.get(row.resource);
    const why = whys.get(row) ?? 'the document has no operation that deletes one';
    staying.set(row.resource, { count: (known?.count ?? 0) + 1, why: known?.why ?? why });
  }
  return [...staying].map(([resource, { count, why }]) => ({ resource, count, why }));
}

/** How much of what trials have may go on taking away what was made before there is more to look at. */
const shareForRoom = 0.04;

/** Removes what was made so far, for as long as that is worth it to those who go through what is there. */
export async function makeRoom(made: Made, budget: Pick<Budget, 'used'>, start: () => Session): Promise<void> {
  const until = budget.used + shareForRoom;
  await cleanUp(made, start, { mayGoOn: () => budget.used < until });
}

/** Removes those that a run subscribed, whatever for: each is told of everything that comes later, which costs the service more than all else. */
export async function removeSubscribers(made: Made, start: () => Session, owner: unknown): Promise<void> {
  const session = start();
  const resource = subscribersOf(session.model)?.resource;
  if (resource !== undefined && made.hasOf(resource, owner)) await cleanUp(made, start, { owner, resource });
}

function isAmong(row: MadeRow, { owner, resource, among }: OnlyRows): boolean {
  return (
    (owner === undefined || row.owner === owner) &&
    (resource === undefined || row.resource === resource) &&
    among?.(row) !== false
  );
}

/** The rows that keep others from being removed, by what they refer to, as far as their creations show it: their children hold for them. */
function holdersIn(rows: readonly MadeRow[], model: Model): ReadonlyMap<string, readonly MadeRow[]> {
  const holders = new Map<string, MadeRow[]>();
  for (const row of rows)
    for (const key of heldBy(model, row.resource, { ...row.path, ...row.fields }))
      holders.set(key, [...(holders.get(key) ?? []), row]);
  return holders;
}

/** Children of children are gone into so far. */
const childrenMost = 8;

/** What a row keeps from being removed, by itself and by the children that are shown in it. */
function heldBy(model: Model, resource: string, shown: Readonly<Record<string, Json>>, depth = 0): string[] {
  const stated = model.resource(resource);
  return (stated ? entriesOf(stated.fields) : []).flatMap(([name, { ref, onDelete, children }]) => {
    const value = shown[name];
    if (children !== undefined)
      return Array.isArray(value) && depth < childrenMost
        ? value.filter((child) => isMap(child)).flatMap((child) => heldBy(model, children.resource, child, depth + 1))
        : [];
    if (ref === undefined || onDelete !== 'restrict') return [];
    // What is referred to may be shown whole.
    const id = isMap(value) ? value[model.identifierField(ref)] : value;
    return typeof id === 'string' || typeof id === 'number' ? [madeKey({ resource: ref, id })] : [];
  });
}

/** Why a row stays; nothing where it is gone. */
async function remove(given: MadeRow, made: Made, session: Session): Promise<string | undefined> {
  const { model } = session;
  const row: TrialRow = { ...given, known: given.path, shown: undefined, fields: given.fields };
  let why = 'nobody who can be spoken for may delete it';
  const ways = model.endpointsThat('delete', given.resource);
  const way = waysTried(made, session, row, ways);
  if (way.failures >= failuresMost) return way.why;
  let isReached = false;
  // What was seen of it last is most often so: it is looked at only where that did not do.
  for (const [endpoint, isSeen] of ways.flatMap((way) =>
    way.in ? [[way, false] as const, [way, true] as const] : [[way, true] as const],
  )) {
    try {
      if (!(await reachState(session, row, endpoint, isSeen))) continue;
      isReached = true;
      way.failures = 0;
      const path = { ...pathValues(model, endpoint, row), [identifierParameter(endpoint) ?? '']: given.id };
      const callers = callersFor(session, endpoint, row).slice(0, 2);
      if (callers.length === 0 && ways.length === 1 && isSeen) made.leave(given, why);
      for (const caller of callers) {
        const headers = await session.preconditions(endpoint, row, caller);
        const { value } = await session.send(model.request(endpoint, { path, caller, headers }));
        if (isDone(value) || value.status === 404 || value.status === 410) {
          made.forget(given);
          return undefined;
        }
        why = `${endpoint.key} was answered ${value.status}`;
        if (!model.refusals.isHurried(value)) made.refuse(given, why, resourcesHolding(model, given.resource));
      }
    } catch (error) {
      if (![Untestable, Missing, NoValue, Spent].some((known) => error instanceof known)) throw error;
      why = error instanceof Error ? error.message : String(error);
    }
  }
  if (!isReached) Object.assign(way, { failures: way.failures + 1, why });
  return why;
}

/** So many rows in a row are tried to be brought from a state to one in which they may be deleted; what none of them did the next will not. */
const failuresMost = 3;

/** How often it has come to nothing, one after the other, to bring rows of a state to one in which they may be deleted. */
interface Way {
  failures: number;
  why: string;
}

const triedIn = new WeakMap<Made, Map<string, Way>>();

/** What is known of rows that were last seen in the same states; in the end all is tried anew. */
function waysTried(made: Made, { model, run }: Session, row: TrialRow, ways: readonly Endpoint[]): Way {
  const all = triedIn.get(made) ?? new Map<string, Way>();
  triedIn.set(made, all);
  const machines = ways.flatMap((way) => machineIn(model.spec.states, row.resource, way.in?.[0]) ?? []);
  const key = [run.errand, row.resource, ...machines.map((machine) => stateOf(row, machine))].join('\n');
  const way = all.get(key) ?? { failures: 0, why: '' };
  all.set(key, way);
  return way;
}

/** The resources whose rows may keep one of this from being removed, and those whose rows take such a one along. */
function resourcesHolding(model: Model, resource: string): string[] {
  const referring = (to: string, isMeant: (onDelete: string | undefined) => boolean): string[] =>
    entriesOf(model.spec.resources.all).flatMap(([name, { fields }]) =>
      entriesOf(fields).some(([, { ref, onDelete }]) => ref === to && isMeant(onDelete)) ? [name] : [],
    );
  const holding = new Set(referring(resource, (onDelete) => onDelete !== 'cascade'));
  for (const name of holding) {
    const stated = model.resource(name);
    for (const [, { ref, onDelete }] of stated ? entriesOf(stated.fields) : [])
      if (ref !== undefined && onDelete === 'cascade') holding.add(ref);
  }
  return [...holding];
}

/** Brings a row to a state in which it may be deleted, and says whether it is there; without looking only where its state is known. */
async function reachState(session: Session, row: TrialRow, { in: states }: Endpoint, isSeen: boolean): Promise<boolean> {
  const machine = machineIn(session.model.spec.states, row.resource, states?.[0]);
  if (!states || !machine) return true;
  if (!isSeen && stateOf(row, machine) === undefined) return false;
  if (isSeen)
    await lookAt(session, row).catch((error: unknown) => {
      if (!(error instanceof Untestable)) throw error;
    });
  let why: unknown;
  if (states.includes(stateOf(row, machine) ?? '')) return true;
  for (const state of states) {
    try {
      // What was seen of it last need not be so any more: before another way is tried it is looked at.
      await walkTo(session, row, state, isSeen ? {} : { attempts: 0 });
      return true;
    } catch (error) {
      why = error;
    }
  }
  if (!isSeen && why instanceof Untestable) return false;
  throw why;
}
