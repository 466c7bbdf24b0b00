import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { ifTestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { personalOf } from './entrusted.ts';
import { findRow } from './pages.ts';

/** The people of whom a row was made, or tried to be, by resource: there is one of each. */
const known = new WeakMap<Model, Set<string>>();

/**
 * The row of somebody that another case has made, as a list shows it; nothing where it is not there, or there may be several of each: whoever asks
 * makes it then. It is there to be referred to, and is nobody's to change.
 */
export async function personThere(
  session: Session,
  resource: string,
  wanted: WantedRow,
  depth: number,
): Promise<TrialRow | undefined> {
  // What a case is about is its own.
  const personal = depth > 0 ? personalOf(session, resource, wanted) : undefined;
  if (!personal) return undefined;
  const own = known.get(session.model) ?? new Set<string>();
  known.set(session.model, own);
  const key = JSON.stringify([resource, personal.value]);
  const isFirst = !own.has(key);
  own.add(key);
  return isFirst ? undefined : ifTestable(findRow(session, resource, { body: { [personal.field]: personal.value } }));
}
