import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type Service, serve, verify } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { startReceiver } from './events/receiver.ts';
import { type OwnServer, startOwnNats } from './stores/own-server.ts';

let server: OwnServer;
let connection: NatsConnection;
let manager: JetStreamManager;
before(async () => {
  server = await startOwnNats();
  connection = await connect({ servers: server.address.slice(7), maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  manager = await jetstreamManager(connection);
});
after(async () => {
  await connection?.close();
  await server?.stop();
});

const documentWith = (broker: Readonly<Record<string, string>>) => ({
  title: 'Lamps',
  purpose: { purpose: 'Lights lamps.', base_url: 'none', users: 'none', functions: 'none' },
  resources: {
    lamp: {
      identifier: { field: 'id', generate: 'client' },
      fields: { id: 'string', level: 'integer', code: { type: 'string', writeOnly: true } },
      required: ['id', 'level'],
    },
  },
  states: { lamp: 'none' },
  endpoints: { 'POST /lamps': { does: 'create lamp' }, 'PATCH /lamps/{id}': { does: 'update lamp' } },
  events: {
    kinds: { 'lamp.set': { on: ['create lamp', 'update lamp'], payload: 'lamp' } },
    delivery: { broker },
  },
  authentication: 'none',
});

async function served(
  context: TestContext,
  broker: Readonly<Record<string, string>>,
  address: string,
  store = openSqlite(':memory:'),
): Promise<Service> {
  const service = await serve(documentWith(broker), { broker: address, store });
  context.after(async () => {
    await service.close();
    await store.close();
  });
  return service;
}

async function set(service: Service, id: string, level: number): Promise<void> {
  const isNew = level === 0;
  const response = await service.fetch(
    new Request(`http://127.0.0.1/lamps${isNew ? '' : `/${id}`}`, {
      method: isNew ? 'POST' : 'PATCH',
      headers: { 'content-type': isNew ? 'application/json' : 'application/merge-patch+json' },
      body: JSON.stringify(isNew ? { id, level, code: 'secret' } : { level }),
    }),
  );
  assert.ok(response.ok, await response.text());
}

interface Published {
  readonly subject: string;
  readonly id: string;
  readonly body: { readonly id: string; readonly type: string; readonly data: { readonly id: string; readonly level: number } };
}

/** What a stream holds, once it is so many. */
async function held(stream: string, count: number): Promise<Published[]> {
  for (const untilMs = Date.now() + 60_000; ; await delay(20)) {
    // One that has just come back may not answer yet.
    const state = await manager.streams.info(stream).then(
      (info) => info.state,
      () => undefined,
    );
    if (state === undefined || (state.messages < count && Date.now() < untilMs)) continue;
    const found: Published[] = [];
    for (let seq = 1; seq <= state.last_seq; seq++) {
      const message = await manager.streams.getMessage(stream, { seq });
      if (message) found.push({ subject: message.subject, id: message.header.get('Nats-Msg-Id'), body: message.json() });
    }
    return found;
  }
}

test('every event is published under the subject of its kind and its identifier, those of one row in order', async (context) => {
  await manager.streams.add({ name: 'ORDER', subjects: ['order.>'] });
  const service = await served(context, { kind: 'nats', subject: 'order.lamps' }, server.address);
  await Promise.all(['a', 'b', 'c'].map((id) => set(service, id, 0)));
  for (const level of [1, 2, 3, 4]) await Promise.all(['a', 'b', 'c'].map((id) => set(service, id, level)));
  const published = await held('ORDER', 15);
  assert.equal(published.length, 15);
  for (const id of ['a', 'b', 'c'])
    assert.deepEqual(
      published.filter(({ body }) => body.data.id === id).map(({ body }) => body.data.level),
      [0, 1, 2, 3, 4],
    );
  assert.ok(published.every((one) => one.subject === 'order.lamps.lamp.set' && one.id === one.body.id));
  assert.ok(!JSON.stringify(published).includes('secret'), 'what nobody is shown is not published');
  assert.equal(new Set(published.map(({ id }) => id)).size, 15);
});

test('a broker that vanishes is given everything once it is back, each row in its order', async (context) => {
  await manager.streams.add({ name: 'GONE', subjects: ['gone.>'] });
  const service = await served(context, { kind: 'nats', subject: 'gone' }, server.address);
  for (const level of [0, 1]) await set(service, 'a', level);
  await held('GONE', 2);
  await server.kill();
  for (const level of [2, 3, 4]) await set(service, 'a', level);
  await set(service, 'b', 0);
  await server.start();
  const published = await held('GONE', 6);
  assert.deepEqual(
    published.filter(({ body }) => body.data.id === 'a').map(({ body }) => body.data.level),
    [0, 1, 2, 3, 4],
  );
  assert.equal(published.length, 6, 'what was published twice was taken once');
});

test('what no stream takes waits, is shown with the reason, and goes out once one does; a restart goes on with it', async (context) => {
  const store = openSqlite(':memory:');
  const broker = { kind: 'nats', subject: 'late' };
  const first = await serve(documentWith(broker), { broker: server.address, store });
  for (const level of [0, 1]) await set(first, 'a', level);
  const told = async () => JSON.stringify(await first.administer('deliveries list', {}));
  for (const untilMs = Date.now() + 30_000; !/"tries":[1-9]/.test(await told()) && Date.now() < untilMs; await delay(20));
  assert.match(await told(), /"tries":[1-9]/);
  await first.close();
  await manager.streams.add({ name: 'LATE', subjects: ['late.>'] });
  await served(context, broker, server.address, store);
  assert.deepEqual(
    (await held('LATE', 2)).map(({ body }) => body.data.level),
    [0, 1],
  );
});

test('CloudEvents are posted in structured mode, again until they are taken, in order', async (context) => {
  const receiver = await startReceiver(context, 503);
  receiver.react(503, 410, 202);
  const service = await served(context, { kind: 'cloudevents', source: 'https://lamps.example/' }, receiver.url);
  for (const level of [0, 1]) await set(service, 'a', level);
  for (const untilMs = Date.now() + 60_000; receiver.received.length < 4 && Date.now() < untilMs; await delay(20));
  const [refused, gone, taken, next] = receiver.received.map(({ body }) => JSON.parse(body));
  assert.equal(refused.id, gone.id);
  assert.equal(gone.id, taken.id, 'a broker is never given up');
  assert.deepEqual(
    { ...taken, id: undefined, time: undefined },
    {
      specversion: '1.0',
      id: undefined,
      source: 'https://lamps.example/',
      type: 'lamp.set',
      time: undefined,
      subject: 'lamp/a',
      datacontenttype: 'application/json',
      data: { id: 'a', level: 0 },
    },
  );
  assert.equal(next.data.level, 1);
  assert.ok(!Number.isNaN(Date.parse(taken.time)));
  assert.equal(receiver.received[0]!.headers['content-type'], 'application/cloudevents+json');
});

test('verify does not hold what it cannot see: the broker is for those who listen to it', async (context) => {
  const broker = { kind: 'nats', subject: 'unseen' };
  const service = await served(context, broker, server.address);
  const listening = await service.listen({ port: 0 });
  context.after(() => listening.close());
  const { facts } = await verify(documentWith(broker), { url: listening.url, timeMs: 20_000, only: ['delivery mechanism'] });
  const delivery = facts.find(({ kind }) => kind === 'delivery mechanism');
  assert.ok(delivery && delivery.verdict !== 'held' && delivery.verdict !== 'broken', JSON.stringify(delivery));
});

test('without an address nothing is published, and that is told', async (context) => {
  const service = await serve(documentWith({ kind: 'nats', subject: 'lamps' }));
  context.after(() => service.close());
  assert.ok(service.notes.includes('Events are published to no broker: none was given (--broker).'));
  await set(service, 'a', 0);
  const wrong = await serve(documentWith({ kind: 'nats', subject: 'lamps' }), { broker: 'http://127.0.0.1:1' });
  context.after(() => wrong.close());
  assert.match(wrong.notes.join('\n'), /begins with nats:\/\/ or tls:\/\//);
});
