import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import { type Machine, machinesOf } from '../../parts/states.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { wayFor } from './legs.ts';
import { counts, type RowsThatCount } from './places.ts';
import { remove, walkTo } from './walk.ts';

/** The states of each machine in which a row counts no more, those first to which it is the fewest steps. */
export function* statesLeft(
  start: () => Session,
  limit: RowsThatCount,
  fields: ShownFields | undefined,
): Iterable<{ readonly machine: Machine; readonly state: string }> {
  const { model } = start();
  for (const machine of limit.while ? machinesOf(model.spec.states, limit.of) : []) {
    const session = start();
    const from = asText(fields?.[machine.field] ?? machine.initial[0]?.state ?? '');
    const steps = (state: string) =>
      wayFor(session, machine, from, state, { tried: new Set(), byClock: false }).length || Number.POSITIVE_INFINITY;
    const all = (statedValue(machine.states) ?? []).map((state) => ({ state, steps: steps(state) }));
    for (const { state } of all.sort((one, other) => one.steps - other.steps || 0)) {
      const then: Record<string, Json> = { ...fields, [machine.field]: state };
      if (!counts(model, limit, then)) yield { machine, state };
    }
  }
}

/** Brings a row out of what counts: into another state, or away. Whether it is out. */
export async function movedOn(session: Session, limit: RowsThatCount, row: TrialRow): Promise<boolean> {
  for (const { machine, state } of statesLeft(() => session, limit, row.fields)) {
    await ifTestable(walkTo(session, row, state, { machine }));
    if (!counts(session.model, limit, row.fields)) return true;
  }
  const removed = await ifTestable(remove(session, row));
  return removed !== undefined && removed.value.status < 300;
}
