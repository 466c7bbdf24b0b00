/** What is to be sent or done later, as statements: events with their deliveries, and timers. */

import type { Timer, TimerSearch } from '../store.ts';
import type { FoundValues, Sql } from './connection.ts';
import { arrayText, read, type StoreNames, written } from './dialect.ts';
import type { Op, OpGroup, OpKind, OpWork } from './ops.ts';

/** What one group of changes to events and deliveries is as statements. */
export function outboxSql(names: StoreNames, { kind, ops }: OpGroup): Sql[] {
  switch (kind) {
    case 'addEvent':
      return addEvents(names, worksOf(ops, kind));
    case 'addDelivery':
      return addDeliveries(names, worksOf(ops, kind));
    case 'attempted':
      return addAttempts(names, worksOf(ops, kind));
    case 'postpone':
      return postponeAll(names, worksOf(ops, kind));
    case 'settle':
      return settleAll(names, worksOf(ops, kind));
    case 'again':
      return againAll(names, worksOf(ops, kind));
    case 'prune':
      return worksOf(ops, kind).flatMap((one) => pruneAll(names, one));
    case 'keepSubscriber':
      return keepSubscribers(names, worksOf(ops, kind));
    case 'forgetSubscriber':
      return [
        {
          text: `DELETE FROM ${names.own('subscribers')} WHERE id = ANY($1::text[])`,
          values: [texts(worksOf(ops, kind), ({ id }) => id)],
        },
      ];
    default:
      return [];
  }
}

function worksOf<K extends OpKind>(ops: readonly Op[], _kind: K): OpWork[K][] {
  // A group holds what is of its kind alone.
  return ops.map((op) => ('of' in op ? op.of : undefined) as OpWork[K]);
}

function texts<T>(all: readonly T[], of: (one: T) => string | null): string {
  return arrayText(
    all.map((one) => {
      const text = of(one);
      return text === null ? null : written(text);
    }),
  );
}

function numbers<T>(all: readonly T[], of: (one: T) => number | null): string {
  return arrayText(all.map(of));
}

function addEvents(names: StoreNames, events: readonly OpWork['addEvent'][]): Sql[] {
  return [
    {
      text: `INSERT INTO ${names.own('events')} (seq, id, kind, at, operation, resource, "row", payload, image, trace)
        SELECT * FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])`,
      values: [
        numbers(events, ({ seq }) => seq),
        texts(events, ({ id }) => id),
        texts(events, ({ kind }) => kind),
        numbers(events, ({ atMs }) => atMs),
        texts(events, ({ operation }) => operation),
        texts(events, ({ resource }) => resource),
        texts(events, ({ row }) => row),
        texts(events, ({ payload }) => payload),
        texts(events, ({ image }) => image),
        texts(events, ({ trace }) => trace ?? null),
      ],
    },
  ];
}

/** One waits where an earlier one of its lane is not settled, be it stored or added beside it. */
function addDeliveries(names: StoreNames, deliveries: readonly OpWork['addDelivery'][]): Sql[] {
  const table = names.own('deliveries');
  return [
    {
      text: `INSERT INTO ${table} (seq, event, subscriber, lane, tries, due)
        SELECT i.seq, i.event, i.subscriber, i.lane, 0, CASE WHEN i.lane IS NOT NULL AND (
            row_number() OVER (PARTITION BY i.lane ORDER BY i.seq) > 1
            OR EXISTS (SELECT 1 FROM ${table} AS d WHERE d.lane = i.lane AND d.settled IS NULL)
          ) THEN NULL ELSE i.due END
        FROM unnest($1::int8[], $2::int8[], $3::text[], $4::text[], $5::int8[]) AS i(seq, event, subscriber, lane, due)`,
      values: [
        numbers(deliveries, ({ seq }) => seq),
        numbers(deliveries, ({ event }) => event),
        texts(deliveries, ({ subscriber }) => subscriber),
        texts(deliveries, ({ lane }) => lane),
        numbers(deliveries, ({ dueMs }) => dueMs),
      ],
    },
  ];
}

function addAttempts(names: StoreNames, attempts: readonly OpWork['attempted'][]): Sql[] {
  const table = names.own('attempts');
  return [
    {
      text: `INSERT INTO ${table} (delivery, n, at, took, status, error, response)
        SELECT i.delivery, coalesce((SELECT max(a.n) FROM ${table} AS a WHERE a.delivery = i.delivery), 0)
            + row_number() OVER (PARTITION BY i.delivery ORDER BY i.place), i.at, i.took, i.status, i.error, i.response
        FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::text[], $6::text[])
          WITH ORDINALITY AS i(delivery, at, took, status, error, response, place)`,
      values: [
        numbers(attempts, ({ delivery }) => delivery),
        numbers(attempts, ({ atMs }) => atMs),
        numbers(attempts, ({ tookMs }) => Math.round(tookMs)),
        numbers(attempts, ({ status }) => status),
        texts(attempts, ({ error }) => error),
        texts(attempts, ({ response }) => response),
      ],
    },
  ];
}

function postponeAll(names: StoreNames, all: readonly OpWork['postpone'][]): Sql[] {
  return [
    {
      text: `UPDATE ${names.own('deliveries')} AS d SET tries = d.tries + 1, due = i.due
        FROM unnest($1::int8[], $2::int8[]) AS i(seq, due) WHERE d.seq = i.seq AND d.settled IS NULL`,
      values: [numbers(all, ({ delivery }) => delivery), numbers(all, ({ dueMs }) => dueMs)],
    },
  ];
}

/** Settles them, and makes the next one of each lane due. */
function settleAll(names: StoreNames, all: readonly OpWork['settle'][]): Sql[] {
  const table = names.own('deliveries');
  const seqs = numbers(all, ({ delivery }) => delivery);
  const times = numbers(all, ({ nowMs }) => nowMs);
  return [
    {
      text: `UPDATE ${table} AS d SET tries = d.tries + 1, due = NULL, settled = i.now, outcome = i.outcome
        FROM unnest($1::int8[], $2::int8[], $3::text[]) AS i(seq, now, outcome) WHERE d.seq = i.seq AND d.settled IS NULL`,
      values: [seqs, times, texts(all, ({ outcome }) => outcome)],
    },
    {
      text: `UPDATE ${table} AS n SET due = l.now FROM (
          SELECT d.lane, max(i.now) AS now FROM unnest($1::int8[], $2::int8[]) AS i(seq, now)
          JOIN ${table} AS d ON d.seq = i.seq WHERE d.lane IS NOT NULL GROUP BY d.lane
        ) AS l WHERE n.due IS NULL AND n.settled IS NULL AND n.lane = l.lane
          AND n.seq = (SELECT min(f.seq) FROM ${table} AS f WHERE f.lane = l.lane AND f.settled IS NULL)`,
      values: [seqs, times],
    },
  ];
}

function againAll(names: StoreNames, all: readonly OpWork['again'][]): Sql[] {
  return [
    {
      text: `UPDATE ${names.own('deliveries')} AS d SET tries = 0, due = i.due, settled = NULL, outcome = NULL
        FROM unnest($1::int8[], $2::int8[]) AS i(seq, due) WHERE d.seq = i.seq`,
      values: [numbers(all, ({ delivery }) => delivery), numbers(all, ({ nowMs }) => nowMs)],
    },
  ];
}

function pruneAll(names: StoreNames, { deliveries, events }: OpWork['prune']): Sql[] {
  const gone = (table: string, column: string, seqs: readonly number[]): Sql[] =>
    seqs.length === 0
      ? []
      : [{ text: `DELETE FROM ${names.own(table)} WHERE ${column} = ANY($1::int8[])`, values: [arrayText(seqs)] }];
  return [
    ...gone('attempts', 'delivery', deliveries),
    ...gone('deliveries', 'seq', deliveries),
    ...gone('events', 'seq', events),
  ];
}

function keepSubscribers(names: StoreNames, all: readonly OpWork['keepSubscriber'][]): Sql[] {
  return [
    {
      text: `INSERT INTO ${names.own('subscribers')} (id, state) SELECT * FROM unnest($1::text[], $2::text[])
        ON CONFLICT (id) DO UPDATE SET state = excluded.state`,
      values: [texts(all, ({ id }) => id), texts(all, ({ state }) => state)],
    },
  ];
}

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
