import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { serve } from '../../src/index.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { seeded } from '../crash/chance.ts';
import { Fleet } from './fleet.ts';
import { startListener } from './listener.ts';

/** How long things take from one process to the others, in milliseconds. They are of this machine, and of what else it does. */
export interface Measures {
  /** From the end of a revocation until every process refuses the key. */
  readonly revoked: Spread;
  /** From the answer to a change until a stream of each process has told of it. */
  readonly told: Spread;
  /** The longest time in which no timer fired, and no web hook came, while some were due every few milliseconds. */
  readonly quiet: { readonly afterKill: Gaps; readonly afterStop: Gaps; readonly untouched: Gaps };
}

export interface Spread {
  readonly count: number;
  readonly median: number;
  readonly p95: number;
  readonly most: number;
}

export interface Gaps {
  readonly timers: number;
  readonly webhooks: number;
}

const revocations = 20;
const changes = 200;
const settleMs = 1000;
/** Longer than another process takes to go on. */
const watchMs = 6000;
const everyMs = 20;

const document = {
  title: 'Lamps',
  purpose: { users: { keeper: 'Keeps lamps.' } },
  resources: {
    lamp: {
      identifier: { field: 'id', generate: 'client' },
      fields: { id: 'string', at: { type: 'string', format: 'date-time' }, state: { type: 'string', readOnly: true } },
      required: ['id', 'at', 'state'],
    },
  },
  states: {
    lamp: {
      field: 'state',
      initial: 'off',
      states: ['off', 'on'],
      transitions: { light: { from: 'off', to: 'on', at: 'resource.at' } },
    },
  },
  endpoints: { 'POST /lamps': { does: 'create lamp' }, 'GET /lamps/{id}': { does: 'read lamp' } },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [{ allow: ['create lamp', 'read lamp', 'stream events'], to: ['keeper'] }],
  },
  events: {
    delivery: {
      webhook: { signature: 'standard-webhooks', retry: ['100ms', '1s'], timeout: '5s' },
      stream: { path: 'GET /events/stream', format: 'sse', keep: '24h' },
    },
    kinds: { 'lamp.made': { on: ['create lamp'], payload: 'lamp' }, 'lamp.lit': { on: ['light lamp'], payload: 'lamp' } },
  },
};

/** Measures over processes of their own. */
export async function measure(asked: {
  readonly command: string;
  readonly database: string;
  readonly places: number;
  readonly folder: string;
}): Promise<Measures> {
  const path = join(asked.folder, 'lamps.json');
  writeFileSync(path, JSON.stringify(document));
  const store = new URL(asked.database);
  store.searchParams.set('schema', `m${randomUUID().replaceAll('-', '')}`);
  const own = openPostgres(store.href);
  const service = await serve(document, { store: own });
  const hooks: number[] = [];
  const receiver = createServer((request, response) => {
    hooks.push(performance.now());
    request.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  // A server that listens on a port has an address that is no text.
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const fleet = new Fleet({
    command: asked.command,
    document: () => path,
    store: store.href,
    more: ['--webhook', url, '--allow-private-webhooks'],
    chance: seeded(1),
    connections: 4,
  });
  try {
    for (let place = 0; place < asked.places; place++) await fleet.start(place);
    const revoked = await measureRevocations(fleet, service);
    const { secret } = await keyOf(service, 'measures');
    // From here on the processes have the work, and nothing else has.
    await service.close();
    return {
      revoked,
      told: await measureEvents(fleet, secret),
      quiet: {
        untouched: await measureQuiet(fleet, secret, hooks, async () => {}),
        afterKill: await measureQuiet(fleet, secret, hooks, (place) => fleet.kill(place)),
        afterStop: await measureQuiet(fleet, secret, hooks, async (place) => void (await fleet.stop(place))),
      },
    };
  } finally {
    await fleet.close();
    await service.close();
    await own.close();
    receiver.close();
    receiver.closeAllConnections();
  }
}

type Administered = Awaited<ReturnType<typeof serve>>;

async function keyOf(service: Administered, id: string): Promise<{ readonly key: string; readonly secret: string }> {
  // What comes back of `keys add` is the key and its secret.
  return (await service.administer('keys add', { user: 'keeper', id })) as { readonly key: string; readonly secret: string };
}

const statusAt = async (url: string | undefined, secret: string): Promise<number> => {
  const answer = await fetch(`${url}/lamps/none`, { headers: { 'x-key': secret } });
  await answer.arrayBuffer();
  return answer.status;
};

async function measureRevocations(fleet: Fleet, service: Administered): Promise<Spread> {
  const took: number[] = [];
  for (let n = 0; n < revocations; n++) {
    const { key, secret } = await keyOf(service, `k${n}`);
    const until = async (place: number, status: number) => {
      while ((await statusAt(fleet.urlOf(place), secret)) !== status) await delay(1);
      return performance.now();
    };
    await Promise.all(fleet.up.map((place) => until(place, 404)));
    await service.administer('keys revoke', { key });
    const began = performance.now();
    const ends = await Promise.all(fleet.up.map((place) => until(place, 401)));
    took.push(...ends.map((end) => end - began));
  }
  return spreadOf(took);
}

function post(fleet: Fleet, secret: string, id: string, dueInMs: number) {
  const at = new Date(Date.now() + dueInMs).toISOString();
  return fleet.line.send('POST', '/lamps', { 'x-key': secret, 'content-type': 'application/json' }, JSON.stringify({ id, at }));
}

async function measureEvents(fleet: Fleet, secret: string): Promise<Spread> {
  const heard = fleet.up.map(() => new Map<string, number>());
  const listeners = fleet.up.map((place, index) =>
    startListener(
      { anyUp: async () => place, urlOf: (at) => fleet.urlOf(at) },
      ({ type, data }) => type === 'lamp.made' && heard[index]?.set(String(data.id), performance.now()),
      { 'x-key': secret },
    ),
  );
  await delay(settleMs);
  const answered = new Map<string, number>();
  for (let n = 0; n < changes; n++) {
    const id = `e${n}`;
    await post(fleet, secret, id, 3_600_000);
    answered.set(id, performance.now());
  }
  await delay(settleMs);
  for (const listener of listeners) listener.close();
  // An event may be told before the answer has come in.
  return spreadOf(
    [...answered].flatMap(([id, at]) => heard.map((times) => Math.max(0, (times.get(id) ?? Number.POSITIVE_INFINITY) - at))),
  );
}

/** The longest quiet while something is done to each process once: one of them has the work. */
async function measureQuiet(
  fleet: Fleet,
  secret: string,
  hooks: number[],
  done: (place: number) => Promise<void>,
): Promise<Gaps> {
  const lit: number[] = [];
  const listener = startListener(fleet, ({ type }) => type === 'lamp.lit' && lit.push(performance.now()), { 'x-key': secret });
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      await post(fleet, secret, randomUUID(), everyMs);
      await delay(everyMs);
    }
  })();
  await delay(settleMs);
  const [before, most] = [hooks.length, { timers: 0, webhooks: 0 }];
  const from = lit.length;
  for (const place of fleet.up) {
    await done(place);
    await delay(watchMs);
    if (fleet.urlOf(place) === undefined) await fleet.start(place);
  }
  isOver = true;
  await asking;
  listener.close();
  most.timers = gapOf(lit.slice(from));
  most.webhooks = gapOf(hooks.slice(before));
  return most;
}

function gapOf(times: readonly number[]): number {
  return Math.round(Math.max(0, ...times.slice(1).map((time, index) => time - times[index]!)));
}

function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
  return { count: sorted.length, median: at(0.5), p95: at(0.95), most: at(1) };
}
