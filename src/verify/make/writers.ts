import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { machinesOf } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { ifTestable, Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';

/** A row, and somebody who may change it. */
export interface WrittenRow {
  readonly row: TrialRow;
  readonly caller: TrialCaller;
  /** All who may. */
  readonly callers: readonly TrialCaller[];
}

/** So many states are come to until one is found in which somebody may. */
const statesMost = 5;

/**
 * A row in a state in which one of some callers may change it by an endpoint: whoever has taken a case on may write its bench note, and nobody before that.
 * @throws {Untestable} where there is none
 */
export async function writtenBy(
  session: Session,
  endpoint: Endpoint,
  resource: string,
  { isMeant, ...wanted }: WantedRow & { isMeant(caller: TrialCaller): boolean },
): Promise<WrittenRow> {
  const [machine] = machinesOf(session.model.spec.states, resource);
  const states = endpoint.in ?? [undefined, ...(machine ? (statedValue(machine.states) ?? []) : [])];
  let why = `nobody who may ${endpoint.key} is let do that`;
  for (const state of states.slice(0, statesMost)) {
    const row = await ifTestable(session.make(resource, { ...wanted, ...(state !== undefined && { state }) }));
    const callers = row ? callersFor(session, endpoint, row) : [];
    const caller = callers.find((one) => isMeant(one));
    if (row && caller) return { row, caller, callers };
    if (!row) why = `no ${resource} could be made in ${state ?? 'any state'}`;
  }
  throw new Untestable(why);
}
