import type { DatabaseSync } from 'node:sqlite';
import { type Erased, type Erasure, needlesOf } from '../maintenance.ts';
import { statement } from './statement.ts';

/** Takes out whatever tells of somebody beside rows. It looks through all events, answers and counters, and is carried out inside a change. */
export function eraseFrom(database: DatabaseSync, erasure: Erasure): Erased {
  const { rows } = erasure;
  const needles = needlesOf(erasure);
  const tells = (column: string) => needles.map(() => `instr(${column}, ?) > 0`).join(' OR ') || '0';
  const gone = new Set<number>();
  const about = statement<[number]>(database, 'SELECT seq FROM ninefold_events WHERE resource = ? AND "row" = ?');
  for (const { resource, id } of rows) for (const [seq] of about.all(resource, id)) gone.add(seq);
  const naming = statement<[number]>(
    database,
    `SELECT seq FROM ninefold_events WHERE ${tells('payload')} OR ${tells("coalesce(image, '')")}`,
  );
  for (const [seq] of naming.all(...needles, ...needles)) gone.add(seq);
  const deliveries = removeEvents(database, gone) + rows.reduce((sum, { id }) => sum + removeSubscriber(database, id), 0);
  return {
    events: gone.size,
    deliveries,
    answers: changed(
      database,
      `UPDATE ninefold_attempts SET response = NULL WHERE response IS NOT NULL AND (${tells('response')})`,
      needles,
    ),
    records: changed(database, `DELETE FROM ninefold_records WHERE ${tells('key')} OR ${tells('body')}`, [
      ...needles,
      ...needles,
    ]),
    counters: changed(database, `DELETE FROM ninefold_counters WHERE ${tells('name || char(10)')}`, needles),
  };
}

function removeEvents(database: DatabaseSync, events: ReadonlySet<number>): number {
  const attempts = statement(
    database,
    'DELETE FROM ninefold_attempts WHERE delivery IN (SELECT seq FROM ninefold_deliveries WHERE event = ?)',
  );
  const deliveries = statement<[number]>(database, 'DELETE FROM ninefold_deliveries WHERE event = ? RETURNING seq');
  const event = statement(database, 'DELETE FROM ninefold_events WHERE seq = ?');
  let removed = 0;
  for (const seq of events) {
    attempts.get(seq);
    removed += deliveries.all(seq).length;
    event.get(seq);
  }
  return removed;
}

/** What is remembered of a row that was a subscriber: who made it, the secret that it had before, what it was sent and answered. */
function removeSubscriber(database: DatabaseSync, id: string): number {
  statement(database, 'DELETE FROM ninefold_subscribers WHERE id = ?').get(id);
  statement(
    database,
    'DELETE FROM ninefold_attempts WHERE delivery IN (SELECT seq FROM ninefold_deliveries WHERE subscriber = ?)',
  ).get(id);
  return changed(database, 'DELETE FROM ninefold_deliveries WHERE subscriber = ?', [id]);
}

function changed(database: DatabaseSync, sql: string, values: readonly string[]): number {
  return Number(database.prepare(sql).run(...values).changes);
}

/** Leaves nothing in the file of what was deleted: writes the log into the file, the file anew without free pages, and ends the log. */
export function compactDatabase(database: DatabaseSync): void {
  for (const sql of ['PRAGMA wal_checkpoint(TRUNCATE)', 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)']) database.prepare(sql).all();
}
