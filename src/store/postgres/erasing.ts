import { type Erased, type Erasure, needlesOf } from '../erasure.ts';
import type { FoundValues, Sql } from './connection.ts';
import type { StoreNames } from './names.ts';
import { arrayText, written } from './texts.ts';

/**
 * Takes out whatever tells of somebody beside rows. It looks through all events, answers and counters. Each statement says how many it
 * took out, and `erasedOf` reads that.
 */
export function eraseSql(names: StoreNames, erasure: Erasure): Sql[] {
  const { rows } = erasure;
  const needles = arrayText(needlesOf(erasure).map(written));
  const tells = (column: string, place = 1) =>
    `EXISTS (SELECT 1 FROM unnest($${place}::text[]) AS needle WHERE strpos(${column}, needle) > 0)`;
  const ids = arrayText(rows.map(({ id }) => written(id)));
  const counting = (sql: string) => `WITH gone AS (${sql}) SELECT count(*) FROM gone`;
  const [events, deliveries, attempts] = ['events', 'deliveries', 'attempts'].map((name) => names.own(name));
  const isGone = `(e.resource, e."row") IN (SELECT * FROM unnest($2::text[], $3::text[])) OR ${tells('e.payload')} OR ${tells("coalesce(e.image, '')")}`;
  const goneEvents = `SELECT e.seq FROM ${events} AS e WHERE ${isGone}`;
  const goneDeliveries = `SELECT d.seq FROM ${deliveries} AS d WHERE d.event IN (${goneEvents}) OR d.subscriber = ANY($3::text[])`;
  const about = [needles, arrayText(rows.map(({ resource }) => written(resource))), ids];
  const once = (text: string, values: readonly string[]): Sql => ({ text, values, isOnce: true });
  return [
    once(`DELETE FROM ${attempts} WHERE delivery IN (${goneDeliveries})`, about),
    once(counting(`DELETE FROM ${deliveries} WHERE seq IN (${goneDeliveries}) RETURNING 1`), about),
    once(counting(`DELETE FROM ${events} AS e WHERE ${isGone} RETURNING 1`), about),
    once(`DELETE FROM ${names.own('subscribers')} WHERE id = ANY($1::text[])`, [ids]),
    once(counting(`UPDATE ${attempts} SET response = NULL WHERE response IS NOT NULL AND ${tells('response')} RETURNING 1`), [
      needles,
    ]),
    once(counting(`DELETE FROM ${names.own('records')} WHERE ${tells('key')} OR ${tells('body')} RETURNING 1`), [needles]),
    once(counting(`DELETE FROM ${names.own('counters')} WHERE ${tells("name || E'\\n'")} RETURNING 1`), [needles]),
  ];
}

export function erasedOf(found: readonly (readonly FoundValues[])[]): Erased {
  const [, deliveries = 0, events = 0, , answers = 0, records = 0, counters = 0] = found.map(([row]) => Number(row?.[0] ?? 0));
  return { events, deliveries, answers, records, counters };
}
