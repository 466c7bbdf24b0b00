import { oldReceipts } from './changes.ts';
import { bareSql, type Connection, DatabaseError } from './connection.ts';
import { quoteName, type StoreNames } from './dialect.ts';

/** What a store's tables are of; a later format than the newest that is known here is not touched. */
const FORMAT = 1;

/**
 * Brings the engine's own tables into being, by one process at a time, and says which generation of rows' tables there is, and a name that no
 * other process has. @throws where they are of a newer Ninefold.
 */
export async function bringStoreUp(
  connection: Connection,
  names: StoreNames,
): Promise<{ readonly generation: number; readonly holder: string }> {
  const [[found] = []] = await connection.send([
    { text: 'SELECT to_regclass($1)::text', values: [names.own('store')], isOnce: true },
  ]);
  if (found?.[0] === null || found === undefined) await makeAlone(connection, names, tables(names));
  else await addLater(connection, names);
  const [[row] = []] = await connection.send([
    bareSql(`SELECT format, generation, gen_random_uuid()::text FROM ${names.own('store')}`),
  ]);
  if (Number(row?.[0]) > FORMAT)
    throw new Error(`the schema ${names.schema} was written by a newer Ninefold; use that one, or another schema`);
  return { generation: Number(row?.[1]), holder: String(row?.[2]) };
}

/** What came later: a schema from before gets it, and processes of an older Ninefold pass it over. */
async function addLater(connection: Connection, names: StoreNames): Promise<void> {
  const once = (text: string, ...values: string[]) => ({ text, values, isOnce: true });
  const [traced = [], [receipts] = []] = await connection.send([
    once(
      `SELECT 1 FROM pg_attribute WHERE attrelid = $1::regclass AND attname = 'trace' AND NOT attisdropped`,
      names.own('events'),
    ),
    once('SELECT to_regclass($1)::text', names.own('receipts')),
  ]);
  if (traced.length === 0)
    await connection.send([bareSql(`ALTER TABLE ${names.own('events')} ADD COLUMN IF NOT EXISTS trace text`)]);
  if (receipts?.[0] === null || receipts === undefined) await makeAlone(connection, names, [receiptsTable(names)]);
  else await connection.send([oldReceipts(names)]);
}

/** Makes tables that may not be there. Two processes that begin at once would stand in each other's way. */
async function makeAlone(connection: Connection, names: StoreNames, made: readonly string[]): Promise<void> {
  const once = (text: string) => ({ text, values: [], isOnce: true });
  const lock = { text: 'SELECT pg_advisory_xact_lock(hashtext($1))', values: [names.schema], isOnce: true };
  for (let tries = 1; ; tries++) {
    try {
      await connection.send([once('BEGIN'), ...(names.isPlain ? [] : [lock])]);
      await connection.send([...made.map(once), once('COMMIT')]);
      return;
    } catch (error) {
      if (!connection.isLost) await connection.send([once('ROLLBACK')]).catch(() => {});
      const isInTheWay = names.isPlain && error instanceof DatabaseError && /^(?:23505|40|42P0[67]|42710)/.test(error.state);
      if (!isInTheWay || tries === triesMost) throw error;
    }
  }
}

/** How often it is tried where another process makes the same, and there is no lock. */
const triesMost = 10;

/** Keys compare by code point, whatever the database's own collation says. */
const text = 'text COLLATE "C"';

function tables(names: StoreNames): string[] {
  const make = (name: string, columns: string) => `CREATE TABLE IF NOT EXISTS ${names.own(name)} (${columns})`;
  const index = (name: string, on: string) => `CREATE INDEX IF NOT EXISTS ${quoteName(`ninefold_${name}`)} ON ${on}`;
  const [deliveries, timers] = [names.own('deliveries'), names.own('timers')];
  return [
    `CREATE SCHEMA IF NOT EXISTS ${quoteName(names.schema)}`,
    // One row: who changes anything locks it, so that changes come one batch after the other, and their numbers in that order.
    `${make(
      'store',
      `one bool PRIMARY KEY CHECK (one), format int8 NOT NULL, last int8 NOT NULL, generation int8 NOT NULL,
      events int8 NOT NULL, credentials int8 NOT NULL, subscribers int8 NOT NULL, timers int8 NOT NULL`,
    )} WITH (fillfactor = 10)`,
    `INSERT INTO ${names.own('store')} VALUES (true, ${FORMAT}, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING`,
    make('tables', `name ${text} PRIMARY KEY, columns text NOT NULL`),
    make('settings', `name ${text} PRIMARY KEY, value text NOT NULL`),
    make('sequences', `name ${text} PRIMARY KEY, last int8 NOT NULL`),
    make('records', `key ${text} PRIMARY KEY, fingerprint text NOT NULL, body text NOT NULL, expires int8 NOT NULL`),
    index('records_expires', `${names.own('records')} (expires)`),
    make('counters', `name ${text} PRIMARY KEY, count float8 NOT NULL, expires int8 NOT NULL`),
    index('counters_expires', `${names.own('counters')} (expires)`),
    make(
      'timers',
      `resource ${text}, id ${text}, name ${text}, due int8, token text, fired text, PRIMARY KEY (resource, id, name)`,
    ),
    index('timers_due', `${timers} (due, resource, id, name) WHERE due IS NOT NULL`),
    make(
      'credentials',
      `name ${text}, serial int8, scheme ${text} NOT NULL, lookup ${text} NOT NULL, "user" ${text} NOT NULL,
      caller ${text} NOT NULL, doc text NOT NULL, PRIMARY KEY (name, serial)`,
    ),
    index('credentials_lookup', `${names.own('credentials')} (lookup, scheme)`),
    index('credentials_caller', `${names.own('credentials')} (caller, "user")`),
    make(
      'events',
      `seq int8 PRIMARY KEY, id ${text} NOT NULL UNIQUE, kind text NOT NULL, at int8 NOT NULL, operation text NOT NULL,
      resource ${text}, "row" ${text}, payload text NOT NULL, image text, trace text`,
    ),
    make(
      'deliveries',
      `seq int8 PRIMARY KEY, event int8 NOT NULL, subscriber ${text} NOT NULL, lane ${text}, tries int8 NOT NULL,
      due int8, settled int8, outcome text`,
    ),
    index('deliveries_due', `${deliveries} (subscriber, due, seq) WHERE due IS NOT NULL`),
    index('deliveries_lane', `${deliveries} (lane, seq) WHERE settled IS NULL AND lane IS NOT NULL`),
    index('deliveries_settled', `${deliveries} (settled, seq) WHERE settled IS NOT NULL`),
    index('deliveries_failed', `${deliveries} (seq) WHERE outcome = 'given up'`),
    index('deliveries_event', `${deliveries} (event)`),
    make(
      'attempts',
      `delivery int8, n int8, at int8 NOT NULL, took int8 NOT NULL, status int8, error text, response text,
      PRIMARY KEY (delivery, n)`,
    ),
    make('subscribers', `id ${text} PRIMARY KEY, state text NOT NULL`),
    make('leases', `name ${text} PRIMARY KEY, holder text NOT NULL, fence int8 NOT NULL, expires int8 NOT NULL`),
    receiptsTable(names),
  ];
}

/** One row for each process, which each of its batches writes. */
function receiptsTable(names: StoreNames): string {
  const columns = `holder ${text} PRIMARY KEY, batch int8 NOT NULL, at timestamptz NOT NULL`;
  return `CREATE TABLE IF NOT EXISTS ${names.own('receipts')} (${columns}) WITH (fillfactor = 10)`;
}
