import type { TrialRow } from '../exchange/row.ts';
import type { Follow } from '../model/expectation.ts';
import { followedIn } from '../model/row-known.ts';
import type { Session } from '../session/session.ts';

/** Reads what a session was shown last through references. */
export function followShown({ model, exchanges }: Session): Follow {
  return followedIn(model, exchanges, true);
}

const ofSessions = new WeakMap<Session, readonly TrialRow[]>();

export function noteRow(session: Session, row: TrialRow): void {
  ofSessions.set(session, [...rowsMade(session), row]);
}

/** The rows that a session has made by creations of their own, as each was shown to it last. */
export function rowsMade(session: Session): readonly TrialRow[] {
  return ofSessions.get(session) ?? [];
}
