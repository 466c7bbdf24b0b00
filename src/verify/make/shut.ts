import { derivationsOf } from '../../parts/derived/derivations.ts';
import { entryOf } from '../../parts/fact.ts';
import { conditionsOfTransition, machineOn, machinesOf, type Transition } from '../../parts/states.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { targetTaken } from '../model/access.ts';
import type { Follow } from '../model/expectation.ts';
import type { Session } from '../session/session.ts';
import { leadsTo } from './legs.ts';
import { lookAt } from './look.ts';
import { followShown } from './seen.ts';
import { stateOf, statesOf, walkTo } from './walk.ts';

/** So many rows that refer to it are made for a condition that is to fail by what is derived of them. */
const providedMost = 4;

/**
 * Brings about that a transition of a row is blocked, where its condition reads what callers bring about beside the row: the state of a row
 * that it refers to, or what is derived of rows that refer to it.
 */
export async function shutByOthers(session: Session, row: TrialRow, transition: Transition, operation: string): Promise<void> {
  for (const [field, member] of readsThrough(session, transition, operation)) {
    if (await shutByState(session, { row, transition, operation }, field, member)) return;
  }
  await shutByDerived(session, { row, transition, operation });
}

interface Shutting {
  readonly row: TrialRow;
  readonly transition: Transition;
  readonly operation: string;
}

/** What its conditions read of the rows that it refers to: the reference, and the member of what that leads to. */
function readsThrough({ model }: Session, transition: Transition, operation: string): [field: string, member: string][] {
  return conditionsOfTransition(transition)
    .flatMap((one) => model.expressions.readsOf(one, operation))
    .flatMap(({ root, path: [field, ...more], follows: [member, ...further] = [] }): [string, string][] => {
      const isDirect = (root === 'next' || root === 'resource') && more.length === 0 && further.length === 0;
      return isDirect && field !== undefined && member !== undefined ? [[field, member]] : [];
    });
}

/** Moves a row that is referred to into a state in which the condition fails. */
async function shutByState(session: Session, shutting: Shutting, field: string, member: string): Promise<boolean> {
  const { row } = shutting;
  const { spec } = session.model;
  const target = entryOf(session.model.resource(row.resource)?.fields, field)?.ref;
  const machine = target === undefined ? undefined : machineOn(spec.states, target, member);
  const id = row.known[field];
  if (target === undefined || !machine || id === undefined) return false;
  const other: TrialRow = { resource: target, id, known: {}, caller: row.caller, shown: undefined, fields: undefined };
  await ifTestable(lookAt(session, other));
  const now = stateOf(other, machine);
  const found = statesOf(machine).filter((state) => {
    if (now === undefined || state === now || !leadsTo(session, machine, now, state)) return false;
    const follow: Follow = (resource, key, unique) =>
      resource === target ? { ...other.fields, [member]: state } : followShown(session)(resource, key, unique);
    return isShut(session, shutting, follow);
  });
  for (const state of found) {
    const isThere = await ifTestable(walkTo(session, other, state, { machine }).then(() => true));
    if (isThere) return true;
  }
  return false;
}

/** Makes rows that refer to it, in each of their states, until the condition fails. */
async function shutByDerived(session: Session, shutting: Shutting): Promise<void> {
  const { row, transition, operation } = shutting;
  const { model } = session;
  const reads = conditionsOfTransition(transition).flatMap((one) => model.expressions.readsOf(one, operation));
  const read = new Set(reads.flatMap(({ root, path, follows }) => (root !== 'request' && !follows ? (path[0] ?? []) : [])));
  const derived = derivationsOf(model.spec)
    .of(row.resource)
    .filter(({ field }) => read.has(field.name));
  for (const { from, by } of derived.flatMap(({ aggregates }) => aggregates)) {
    const states = machinesOf(model.spec.states, from).flatMap((machine) =>
      statesOf(machine).map((state) => ({ machine, state })),
    );
    for (const wanted of [{}, ...states].slice(0, providedMost)) {
      await ifTestable(session.make(from, { parents: { [by]: row }, for: row.caller, ...wanted }));
      await lookAt(session, row);
      if (isShut(session, shutting, followShown(session))) return;
    }
  }
}

function isShut({ model, run }: Session, { row, transition, operation }: Shutting, follow: Follow): boolean {
  const taken = targetTaken(model.expressions, transition, {
    operation,
    row: row.fields ?? {},
    unseen: model.unseenIn(row.resource, row.caller, row.fields),
    request: {},
    caller: row.caller,
    nowMs: run.clock.toService(Date.now()),
    follow,
  });
  return taken === 'blocked';
}
