import type { Json } from '../../document/document.ts';
import { derivationsOf } from '../../parts/derived/derivations.ts';
import { statedValue } from '../../parts/fact.ts';
import { type Machine, machinesOf } from '../../parts/states.ts';
import type { TrialRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import { derivedValue, type Referring } from '../model/derived.ts';
import type { RowFields } from '../model/expectation.ts';
import type { Session } from '../session/session.ts';
import { lookAt } from './look.ts';
import { rowsMade } from './seen.ts';

/** So many rows that refer to one are moved for its sake. */
const movedMost = 6;

/** Rows of one resource that refer to a row by one field of theirs. */
interface Kin {
  readonly from: string;
  readonly by: string;
}

/** How a row is brought into a state. */
export interface Walking {
  leadsTo(session: Session, machine: Machine, from: string, to: string): boolean;
  /** @throws {Untestable} where nobody can. */
  walkTo(session: Session, row: TrialRow, state: string, walk: { readonly machine: Machine }): Promise<void>;
}

/**
 * Moves what refers to a row into a state of its own in which what is derived of it is as it is wanted: the pieces that are assayed before
 * their lodgement is released. Says whether the row is so then.
 */
export async function moveReferring(
  session: Session,
  row: TrialRow,
  kin: readonly Kin[],
  { walking, isWanted }: { readonly walking: Walking; readonly isWanted: (fields: RowFields) => boolean },
): Promise<boolean> {
  const { spec } = session.model;
  const mayCome = ({ fields }: TrialRow, machine: Machine, state: string): boolean => {
    const now = fields?.[machine.field];
    return typeof now === 'string' && walking.leadsTo(session, machine, now, state);
  };
  for (const one of kin) {
    const those = referringTo(session, row, one);
    if (those.length === 0 || those.length > movedMost) continue;
    for (const machine of machinesOf(spec.states, one.from)) {
      for (const state of statedValue(machine.states) ?? []) {
        if (!those.every((other) => mayCome(other, machine, state)) || !isWanted(imagined(session, row, one, { machine, state })))
          continue;
        for (const other of those) await ifTestable(walking.walkTo(session, other, state, { machine }));
        await ifTestable(lookAt(session, row));
        if (isWanted(row.fields ?? {})) return true;
      }
    }
  }
  return false;
}

/** The row as it would be shown if what refers to it in one way were in a state. */
function imagined(
  session: Session,
  row: TrialRow,
  { from, by }: Kin,
  { machine, state }: { readonly machine: Machine; readonly state: string },
): RowFields {
  const { spec } = session.model;
  const referring: Referring = (resource, field) =>
    referringTo(session, row, { from: resource, by: field }).map(({ fields }) =>
      resource === from && field === by ? { ...fields, [machine.field]: state } : { ...fields },
    );
  const out: Record<string, Json> = { ...row.fields };
  for (const derivation of derivationsOf(spec).of(row.resource)) {
    const reckoned = derivedValue(spec, derivation, out, referring);
    if (reckoned) out[derivation.field.name] = reckoned.value;
  }
  return out;
}

/** What this session has made of what refers to a row. */
export function referringTo(session: Session, row: TrialRow, { from, by }: Kin): readonly TrialRow[] {
  const id = row.fields?.[session.model.identifierField(row.resource)];
  return rowsMade(session).filter(
    ({ resource, fields, known }) => resource === from && (known[by] === row.id || (id !== undefined && fields?.[by] === id)),
  );
}
