import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { load as readYaml } from 'js-yaml';
import { Client } from 'pg';
import type { Envelope } from '../crash/told.ts';
import { type OwnPostgres, startOwnPostgres } from '../stores/own-postgres.ts';
import { type OwnServer, startOwnNats, startOwnRedis } from '../stores/own-server.ts';
import { document } from './trial.ts';

/** The servers that processes stand on, all of this trial alone. */
export interface Surroundings {
  readonly postgres: OwnPostgres;
  /** Rates are counted there. */
  readonly redis: OwnServer;
  /** Events are published there. */
  readonly nats: OwnServer;
  stop(): Promise<void>;
}

/** Starts them. @throws where one of them is not installed */
export async function startSurroundings(): Promise<Surroundings> {
  const began: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of began.splice(0)) await end();
  };
  try {
    const postgres = await startOwnPostgres(answers);
    began.push(postgres.stop);
    const redis = await startOwnRedis();
    began.push(redis.stop);
    const nats = await startOwnNats();
    began.push(nats.stop);
    return { postgres, redis, nats, stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

async function answers(address: string): Promise<boolean> {
  const client = new Client({ connectionString: address, connectionTimeoutMillis: 5000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** The document of a trial, with a rate that counts every request and a broker that is told of every event. */
export function documentOn(folder: string): string {
  // It has these.
  const base = readYaml(readFileSync(document, 'utf8')) as {
    readonly events: { readonly delivery: object };
    readonly limits: object;
    readonly errors: { readonly codes: object };
  };
  const written = {
    ...base,
    events: { ...base.events, delivery: { ...base.events.delivery, broker: { kind: 'nats', subject: 'accounts' } } },
    limits: { ...base.limits, rate: [{ per: 'everyone', limit: 100_000_000, window: '1h' }] },
    errors: { ...base.errors, codes: { ...base.errors.codes, too_many: { status: 429, when: 'limit.rate' } } },
  };
  const path = join(folder, 'accounts-on.json');
  writeFileSync(path, JSON.stringify(written));
  return path;
}

const stream = 'ACCOUNTS';
const againMs = 20;

/** Reads what the broker has taken, one event after the other, however often the broker is gone. */
export async function readBroker(address: string, heard: (envelope: Envelope) => void): Promise<() => Promise<void>> {
  const connection = await connect({ servers: address.slice('nats://'.length), maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: stream, subjects: ['accounts.>'] });
  let isOver = false;
  const reading = read(manager, () => isOver, heard);
  return async () => {
    isOver = true;
    await connection.close();
    await reading;
  };
}

async function read(manager: JetStreamManager, isOver: () => boolean, heard: (envelope: Envelope) => void): Promise<void> {
  for (let seq = 1; !isOver(); ) {
    // There is none yet, or the broker is gone: both are asked again.
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => null);
    if (message === null) await delay(againMs);
    else {
      seq += 1;
      heard(message.json());
    }
  }
}
