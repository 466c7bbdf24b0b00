import type { Expression } from '../../../parts/fact.ts';
import { machinesOf } from '../../../parts/states.ts';
import { isSamePerson, type TrialCaller } from '../../exchange/callers.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { imagine } from '../../make/imagined.ts';
import type { Door } from '../../make/knocking.ts';
import { stage } from '../../make/staged.ts';
import { openToFire, statesOf } from '../../make/walk.ts';
import type { Session } from '../../session/session.ts';

/** So many rows are made for a rule that reads a row. */
const rowsMost = 2;

/** A row of which a rule allows an operation to somebody, brought about as the rule reads it, and open to that; nothing where none can be made. */
export async function rowLettingIn(session: Session, door: Door, caller: TrialCaller): Promise<TrialRow | undefined> {
  for (const rule of session.model.access.rules(door.operation, caller) ?? []) {
    const row = rule.if && (await rowWhere(session, door, caller, rule.if));
    if (row) return row;
  }
  return undefined;
}

/** A row of which no rule allows an operation to somebody, in a state in which it might be done; nothing where none can be made. */
export async function rowShuttingOut(session: Session, door: Door, caller: TrialCaller): Promise<TrialRow | undefined> {
  const rules = session.model.access.rules(door.operation, caller) ?? [];
  const conditions = rules.flatMap((rule) => (rule.if ? [rule.if] : []));
  const [first] = conditions;
  if (!first || conditions.length < rules.length) return undefined;
  const source = `!(${conditions.map((one) => `(${one.source})`).join(' || ')})`;
  return rowWhere(session, door, caller, { source, at: first.at });
}

async function rowWhere(
  session: Session,
  { operation, endpoint }: Door,
  caller: TrialCaller,
  condition: Expression,
): Promise<TrialRow | undefined> {
  const { resource = '', transition } = operation;
  let tries = 0;
  for (const { slots, met } of imagine(session, endpoint, { rule: { if: condition }, as: caller })) {
    if (++tries > rowsMost) return undefined;
    const row = (await ifTestable(stage(session, endpoint, slots, { scene: met, resource })))?.row;
    if (row && transition) await ifTestable(openToFire(session, row, transition));
    if (row) return row;
  }
  return undefined;
}

/** So many rows are moved on to come to one. */
const movedMost = 6;

/** A row that was moved on, and nothing was done to since: of which machine, in which state, given to whom. */
export interface MovedRow {
  readonly row: TrialRow;
  readonly state: string;
  readonly named: TrialCaller;
}

/**
 * A row that became what is wanted by what was done to it, by others or by themselves: whoever takes a pane out holds it. What was moved on
 * for another operation serves this one as well, and is taken from those where it is to be changed.
 */
export async function rowAfterActs(
  session: Session,
  { operation, endpoint }: Door,
  caller: TrialCaller,
  { isWanted, moved }: { readonly isWanted: (row: TrialRow) => Promise<boolean>; readonly moved: Set<MovedRow> },
): Promise<TrialRow | undefined> {
  const { resource = '' } = operation;
  const from = operation.transition?.from ?? endpoint.in;
  const isOpen = (state: string) => from === undefined || from === '*' || from.includes(state);
  const taken = (one: MovedRow): TrialRow => {
    if (endpoint.method !== 'GET') moved.delete(one);
    return one.row;
  };
  for (const one of [...moved]) if (isOpen(one.state) && (await isWanted(one.row))) return taken(one);
  const others = session.model.callers.filter((one) => !isSamePerson(one, caller));
  const like = others.filter(({ user }) => user === caller.user);
  let tries = 0;
  for (const machine of machinesOf(session.model.spec.states, resource))
    for (const state of statesOf(machine).filter(isOpen))
      for (const named of [caller, ...like.slice(0, 1)]) {
        if ([...moved].some((one) => one.state === state && one.named === named)) continue;
        if (++tries > movedMost) return undefined;
        const row = await ifTestable(session.make(resource, { machine, state, named }));
        if (!row) continue;
        const one: MovedRow = { row, state, named };
        moved.add(one);
        if (await isWanted(row)) return taken(one);
      }
  return undefined;
}

/** A row that a rule lets somebody read, if one can be made. */
export async function readableRow(session: Session, resource: string, caller: TrialCaller): Promise<readonly TrialRow[]> {
  const { model } = session;
  const [endpoint] = model.endpointsThat('read', resource);
  const row = endpoint && (await rowLettingIn(session, { operation: model.operationOf(endpoint), endpoint }, caller));
  return row ? [row] : [];
}

/** One row of everybody who can make one, with everything in it. */
export async function rowsOfMakers(session: Session, resource: string): Promise<TrialRow[]> {
  const { model } = session;
  const rows: TrialRow[] = [];
  const ways = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  const mayMake = (caller: TrialCaller) => ways.some((way) => model.access.allows(model.operationOf(way), caller) !== 'no');
  // What comes of others, as an entry in a book, nobody makes.
  const makers = ways.length === 0 ? model.callers : model.callers.filter(mayMake);
  for (const caller of makers.slice(0, makersMost)) {
    const row = await ifTestable(session.make(resource, { caller, style: 'whole', mayBeLent: true }));
    if (row) rows.push(row);
  }
  return rows;
}

const makersMost = 6;
