import { machineIn } from '../../parts/states.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { stateOf } from './walk.ts';

/** So many states are tried. */
const statesMost = 4;

/** A row in one of some states: as it begins, where that is one of them, else in the first that it can be brought to. @throws {Untestable} */
export async function makeInSome(
  session: Session,
  resource: string,
  states: readonly string[] | undefined,
  wanted: WantedRow = {},
): Promise<TrialRow> {
  const [first] = states ?? [];
  if (states === undefined || first === undefined) return session.make(resource, wanted);
  let why: unknown;
  for (const [at, state] of states.slice(0, statesMost).entries()) {
    try {
      return await session.make(resource, { ...wanted, state });
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
      why ??= error;
      // What is drawn as it comes may begin in another one of them.
      const row = at === 0 ? await session.make(resource, wanted) : undefined;
      const machine = machineIn(session.model.spec.states, resource, state);
      const now = row && machine && stateOf(row, machine);
      if (row && now !== undefined && states.includes(now)) return row;
    }
  }
  throw why;
}
