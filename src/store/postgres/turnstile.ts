import { DatabaseError, type Sql } from './connection.ts';
import type { StoreNames } from './names.ts';

/** Whether whoever comes later may get ahead. */
export type Passage = 'open' | 'shut';

/** So long a batch lets others get ahead. */
const patienceMs = 1000;

/**
 * What a batch passes before it asks for the store's row. PostgreSQL gives a row that each transaction changes to whoever asks next, not to who has
 * waited longest: where the machine is busy, dozens of batches of other processes get ahead of one. So there is a turnstile, which is open as a
 * rule, for turns that are strictly in order cost a change of process each; one that has waited for long shuts it behind itself, and those that
 * come later wait there until it is done. It holds until the transaction ends.
 */
export function passTurnstile(names: StoreNames, passage: Passage): readonly Sql[] {
  // Other databases that speak the protocol may lack such locks.
  if (names.isPlain) return [];
  const values = [`turns of ${names.schema}`];
  if (passage === 'shut') return [{ text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', values }];
  const text = `SELECT set_config('lock_timeout', '${patienceMs}', true), pg_advisory_xact_lock_shared(hashtextextended($1, 0))`;
  return [{ text, values }];
}

/** Whether a statement was given up because it waited for others for as long as it may. */
export function hasWaitedLong(error: unknown): boolean {
  return error instanceof DatabaseError && error.state === '55P03';
}
