import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { StoreNames } from '../../src/store/postgres/names.ts';
import { seeded } from '../crash/chance.ts';
import { createSender } from '../crash/clients.ts';
import { History } from '../crash/history.ts';
import { type Entry, Journal } from '../crash/journal.ts';
import { type Life, noTally, settle, type Tally, useUp } from '../crash/life.ts';
import { startLoad } from '../crash/load.ts';
import { startReceiver } from '../crash/receiver.ts';
import { type FaultCount, Faults } from './faults.ts';
import { Fleet } from './fleet.ts';
import { type Listener, startListener } from './listener.ts';

/** How much is done to how many processes. */
export interface Chaos {
  readonly command: string;
  /** The address of a database of its own. */
  readonly database: string;
  readonly places: number;
  readonly kills: number;
  readonly seed: number;
  /** It goes on so long, also where all kills were carried out before. */
  readonly minutes: number;
  readonly told?: (line: string) => void;
  /** Given all that clients did and were told. */
  readonly record?: (entry: Entry) => void;
}

export interface ChaosReport {
  readonly faults: FaultCount;
  readonly tally: Tally;
  /** Events that listeners were told, and how often they began at another process. */
  readonly heard: number;
  readonly resumed: number;
}

const clients = 24;
const faultsAtOnce = 10;
const document = join(import.meta.dirname, '../crash/accounts.yaml');

/**
 * Has several processes over one database killed, stopped, paused and cut off while clients ask them, and holds what there is to all that was ever
 * acknowledged or told, again and again. @throws where something does not hold.
 */
export async function chaos(asked: Chaos): Promise<ChaosReport> {
  const { seed, kills, places, minutes, command } = asked;
  const chance = seeded(seed);
  const history = new History();
  const journal = new Journal(history, { mayBeUnavailable: true }, asked.record);
  const schema = `c${randomUUID().replaceAll('-', '')}`;
  const store = new URL(asked.database);
  store.searchParams.set('schema', schema);
  const database = new Client({ connectionString: asked.database });
  await database.connect();
  const receiver = await startReceiver(journal, chance, 'any');
  const fleet = new Fleet({
    command,
    document: () => document,
    store: store.href,
    more: ['--webhook', receiver.url, '--allow-private-webhooks'],
    chance,
    connections: clients,
  });
  const listeners: Listener[] = [];
  const tally = noTally();
  const count: FaultCount = { kills: 0, stops: 0, shortPauses: 0, longPauses: 0, cuts: 0, sessions: 0 };
  const faults = new Faults({ fleet, chance, places, database, count });
  const sender = createSender(journal, fleet.line, true);
  const life: Life = { journal, server: fleet, line: fleet.line, sender, chance, clients };
  const end = performance.now() + minutes * 60_000;
  try {
    await Promise.all(Array.from({ length: places }, (_, place) => fleet.start(place)));
    for (let n = 0; n < places; n++) listeners.push(startListener(journal, fleet, `stream ${n}`));
    await firstEvent(life, listeners);
    for (history.round = 1; count.kills < kills || performance.now() < end; history.round++) {
      await useUp(life);
      const load = startLoad(history, fleet.line, sender, chance, clients);
      for (let n = 0; n < faultsAtOnce; n++) {
        await delay(chance.below(250));
        await faults.next();
      }
      await faults.over();
      await load.stopped();
      tally.answers += load.answered;
      await settledBatches(database, schema);
      const isLast = count.kills >= kills && performance.now() >= end;
      await settle(life, { told: isLast || chance.percent(40), over: isLast }, tally);
      tally.kills = count.kills;
      asked.told?.(`${count.kills} kills, ${count.cuts} cuts, ${tally.acknowledged} acknowledged, nothing wrong`);
    }
  } catch (failure) {
    throw new Error(`--seed ${seed}: ${failure instanceof Error ? failure.message : failure}`, { cause: failure });
  } finally {
    for (const listener of listeners) listener.close();
    await fleet.close();
    receiver.close();
    await database.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`).catch(() => {});
    await database.end();
  }
  for (const { accounts } of history.told.values()) for (const { changes } of accounts.values()) tally.told += changes;
  tally.usedUp = history.usedUp.size;
  const heard = listeners.reduce((sum, one) => sum + one.heard, 0);
  return { faults: count, tally, heard, resumed: listeners.reduce((sum, one) => sum + one.connections - 1, 0) };
}

/** Everybody who listens has heard something: from then on each goes on where it was. */
async function firstEvent({ sender, journal }: Pick<Life, 'sender' | 'journal'>, listeners: readonly Listener[]): Promise<void> {
  const { history } = journal;
  const told = { round: 0, open: 0, fresh: 0, state: 'sent' as const, told: [] };
  const team = {
    op: 'first team',
    verb: 'create',
    resource: 'team',
    method: 'POST',
    path: '/teams',
    body: { name: 'first team' },
  } as const;
  await sender.carryOut({ ...team, ...told, told: [] });
  for (let n = 1; listeners.some(({ heard }) => heard === 0); n++) {
    const op = `first.${n}`;
    const body = { team: history.alive('team')[0]?.id, handle: op, op, remind_at: new Date(Date.now() + 1000 + n).toISOString() };
    await sender.carryOut({
      op,
      verb: 'create',
      resource: 'account',
      method: 'POST',
      path: '/accounts',
      body,
      ...told,
      told: [],
    });
    await delay(200);
  }
}

/** Whatever a process that is gone had sent is committed by now, or never will be: who changes anything holds the store's row until then. */
async function settledBatches(database: Client, schema: string): Promise<void> {
  await database.query(`SELECT 1 FROM ${new StoreNames(schema).own('store')} FOR UPDATE`);
}
