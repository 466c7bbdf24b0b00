import type { Timer, TimerSearch } from '../store.ts';
import type { FoundValues, Sql } from './connection.ts';
import type { StoreNames } from './names.ts';
import type { OpGroup } from './ops.ts';
import { arrayText, read, written } from './texts.ts';

/** What one group of changes to timers is as a statement. */
export function timerSql(names: StoreNames, { kind, ops }: OpGroup): Sql[] {
  const table = names.own('timers');
  const timers = ops.map((op) => ('of' in op ? (op.of as Partial<Timer>) : {}));
  const texts = (of: (timer: Partial<Timer>) => string | undefined) => arrayText(timers.map((timer) => written(of(timer) ?? '')));
  const [resources, ids] = [texts(({ resource }) => resource), texts(({ id }) => id)];
  const ofRows = `FROM unnest($1::text[], $2::text[]) AS i(resource, id) WHERE t.resource = i.resource AND t.id = i.id`;
  switch (kind) {
    case 'setTimer':
      return [
        {
          text: `INSERT INTO ${table} AS t (resource, id, name, due, token)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int8[], $5::text[])
            ON CONFLICT (resource, id, name) DO UPDATE SET token = excluded.token,
            due = CASE WHEN t.fired IS NOT DISTINCT FROM excluded.token THEN NULL ELSE excluded.due END`,
          values: [
            resources,
            ids,
            texts(({ name }) => name),
            arrayText(timers.map(({ dueMs }) => dueMs ?? null)),
            texts(({ token }) => token),
          ],
        },
      ];
    case 'timerFired':
      return [
        {
          text: `INSERT INTO ${table} AS t (resource, id, name, fired)
            SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
            ON CONFLICT (resource, id, name) DO UPDATE SET fired = excluded.fired,
            due = CASE WHEN t.token IS NOT DISTINCT FROM excluded.fired THEN NULL ELSE t.due END`,
          values: [resources, ids, texts(({ name }) => name), texts(({ token }) => token)],
        },
      ];
    case 'clearTimer':
      return [
        {
          text: `UPDATE ${table} AS t SET due = NULL FROM unnest($1::text[], $2::text[], $3::text[]) AS i(resource, id, name)
            WHERE t.resource = i.resource AND t.id = i.id AND t.name = i.name`,
          values: [resources, ids, texts(({ name }) => name)],
        },
      ];
    case 'clearTimers':
      return [{ text: `UPDATE ${table} AS t SET due = NULL ${ofRows}`, values: [resources, ids] }];
    default:
      return [{ text: `DELETE FROM ${table} AS t USING ${ofRows.slice('FROM '.length)}`, values: [resources, ids] }];
  }
}

const columns = 'resource, id, name, due, token';

export function dueTimers(names: StoreNames, nowMs: number, most: number): Sql {
  return {
    text: `SELECT ${columns} FROM ${names.own('timers')} WHERE due <= $1::int8 ORDER BY due, resource, id, name LIMIT $2::int8`,
    values: [String(nowMs), String(most)],
  };
}

export function nextTimer(names: StoreNames): Sql {
  return { text: `SELECT due FROM ${names.own('timers')} WHERE due IS NOT NULL ORDER BY due LIMIT 1`, values: [] };
}

export function timersSql(names: StoreNames, most: number, { after, row }: TimerSearch): Sql {
  const from = `SELECT ${columns} FROM ${names.own('timers')}`;
  if (row)
    return {
      text: `${from} WHERE resource = $1 AND id = $2 AND due IS NOT NULL ORDER BY due, name LIMIT $3::int8`,
      values: [written(row.resource), written(row.id), String(most)],
    };
  const { dueMs, resource, id, name } = after ?? { dueMs: Number.MIN_SAFE_INTEGER, resource: '', id: '', name: '' };
  return {
    text: `${from} WHERE due >= $1::int8 AND (due, resource, id, name) > ($1::int8, $2, $3, $4)
      ORDER BY due, resource, id, name LIMIT $5::int8`,
    values: [String(dueMs), written(resource), written(id), written(name), String(most)],
  };
}

export function timerOf(values: FoundValues): Timer {
  // The columns are those of `columns`.
  const [resource, id, name, dueMs, token] = values as [string, string, string, number, string];
  return { resource: read(resource), id: read(id), name: read(name), dueMs, token: read(token) };
}
