import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { StoreNames } from '../../src/store/postgres/dialect.ts';
import type { Chance } from '../crash/chance.ts';
import { createSender } from '../crash/clients.ts';
import { History } from '../crash/history.ts';
import { type Entry, Journal, type JournalRules } from '../crash/journal.ts';
import { type Life, noTally, settle, type Tally } from '../crash/life.ts';
import { startReceiver } from '../crash/receiver.ts';
import type { Envelope } from '../crash/told.ts';
import { type Database, openDatabase } from './database.ts';
import { firstEvent } from './first-event.ts';
import { Fleet } from './fleet.ts';
import { type Listener, startListener } from './listener.ts';

/** Processes over one database, and what is asked of them. */
export interface TrialSetting {
  readonly command: string;
  /** The address of a database of its own. */
  readonly database: string;
  readonly places: number;
  readonly seed: number;
  readonly chance: Chance;
  /** The document that the next process is started with. */
  readonly document: () => string;
  readonly journal: JournalRules;
  /** Options that each process is started with. */
  readonly more?: readonly string[];
  /** Somebody else who is told of all events, from the first. */
  readonly listening?: (heard: (envelope: Envelope) => void) => Promise<() => Promise<void>>;
  readonly told?: (line: string) => void;
  /** Given all that clients did and were told. */
  readonly record?: (entry: Entry) => void;
}

export interface TrialReport {
  readonly tally: Tally;
  /** Events that listeners were told, and how often they began at another process. */
  readonly heard: number;
  readonly resumed: number;
}

/** A trial under way. */
export interface Trial {
  readonly fleet: Fleet;
  readonly life: Life;
  readonly tally: Tally;
  readonly database: Database;
  /** Looks at what there is while nobody asks for changes. @throws where something does not hold. */
  settled(isLast: boolean): Promise<void>;
}

export const clients = 24;
export const document = join(import.meta.dirname, '../crash/accounts.yaml');

/** Starts processes with a receiver and listeners, has something done to them, and ends them. @throws where something does not hold. */
export async function overFleet<T>(
  {
    command,
    database: address,
    places,
    seed,
    chance,
    document: documentOf,
    journal: rules,
    more = [],
    record,
    listening,
  }: TrialSetting,
  work: (trial: Trial) => Promise<T>,
): Promise<T & TrialReport> {
  const journal = new Journal(new History(), rules, record);
  const schema = `c${randomUUID().replaceAll('-', '')}`;
  const store = new URL(address);
  store.searchParams.set('schema', schema);
  const database = openDatabase(address);
  const receiver = await startReceiver(journal, chance, 'any');
  const told = ['--webhook', receiver.url, '--allow-private-webhooks', ...more];
  const fleet = new Fleet({
    command,
    document: documentOf,
    store: store.href,
    more: told,
    chance,
    connections: clients,
    asksReadiness: more.includes('--operations'),
  });
  const sender = createSender(journal, fleet.line, true);
  const life: Life = { journal, server: fleet, line: fleet.line, sender, chance, clients };
  const listeners: Listener[] = [];
  const tally = noTally();
  const settled = async (isLast: boolean): Promise<void> => {
    // Whatever a process that is gone had sent is committed by now, or never will be: who changes anything holds the store's row until then.
    await database.query(`SELECT 1 FROM ${new StoreNames(schema).own('store')} FOR UPDATE`);
    await settle(life, { told: isLast || chance.percent(40), over: isLast }, tally);
  };
  let endListening = async () => {};
  try {
    if (listening) {
      const subscriber = 'broker';
      journal.add({ kind: 'subscribed', subscriber, repeats: 'any' });
      endListening = await listening((envelope) => journal.add({ kind: 'told', subscriber, envelope }));
    }
    await Promise.all(Array.from({ length: places }, (_, place) => fleet.start(place)));
    for (let n = 0; n < places; n++) {
      const subscriber = `stream ${n}`;
      journal.add({ kind: 'subscribed', subscriber, repeats: 'none' });
      listeners.push(startListener(fleet, (envelope) => journal.add({ kind: 'told', subscriber, envelope })));
    }
    await firstEvent(life, listeners);
    const done = await work({ fleet, life, tally, database, settled });
    for (const { accounts } of journal.history.told.values()) for (const { changes } of accounts.values()) tally.told += changes;
    tally.usedUp = journal.history.usedUp.size;
    const heard = listeners.reduce((sum, one) => sum + one.heard, 0);
    return { ...done, tally, heard, resumed: listeners.reduce((sum, one) => sum + one.connections - 1, 0) };
  } catch (failure) {
    const waiting = await waitingIn(database, new StoreNames(schema)).catch(String);
    throw new Error(`--seed ${seed}: ${failure instanceof Error ? failure.message : failure}\n\nThe store holds ${waiting}`, {
      cause: failure,
    });
  } finally {
    for (const listener of listeners) listener.close();
    await endListening();
    await fleet.close();
    receiver.close();
    await database.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`).catch(() => {});
    await database.end();
  }
}

/** What of the work of processes is not done, as the database has it. */
async function waitingIn(database: Database, names: StoreNames): Promise<string> {
  const asked = {
    deliveries: `SELECT d.*, e.kind, e."row" FROM ${names.own('deliveries')} AS d LEFT JOIN ${names.own('events')} AS e ON e.seq = d.event
      WHERE d.settled IS NULL ORDER BY d.seq LIMIT 5`,
    leases: `SELECT *, expires - (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS left FROM ${names.own('leases')}`,
    store: `SELECT * FROM ${names.own('store')}`,
    event: `SELECT seq, kind, "row" FROM ${names.own('events')} ORDER BY seq DESC LIMIT 5`,
  };
  const found: Record<string, unknown> = { nowMs: Date.now() };
  for (const [name, sql] of Object.entries(asked)) found[name] = await database.query(sql);
  return JSON.stringify(found);
}
