import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { RunningDeadline, TimedOut } from '../src/serve/limits/limits.ts';
import { type LimitedService, serveWith } from './limits/limited.ts';

/** A handler that goes on when it is told to, once for each request that came to it. */
function gate() {
  const waiting: ((go: unknown) => void)[] = [];
  return {
    arrived: async (count: number) => {
      while (waiting.length < count) await new Promise((resolve) => setImmediate(resolve));
    },
    pass: () => new Promise<void>((resolve) => waiting.push(resolve as () => void)),
    open: (at: number) => waiting[at]?.(undefined),
  };
}

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Serves a handler that waits, then does what its request asks for. */
async function withGate(body: (service: LimitedService, held: ReturnType<typeof gate>) => Promise<void>): Promise<void> {
  const held = gate();
  const handlers = {
    async weigh({
      request,
      store,
      fail,
    }: {
      request: { does?: string };
      store: { create: (name: string, fields: object) => Promise<unknown> };
      fail: (code: string) => never;
    }) {
      await held.pass();
      if (request.does === 'throw') throw new Error('late');
      await store.create('parcel', { weight: 2 });
      if (request.does === 'fail') fail('used_up');
      return {};
    },
  };
  const before = { 'create parcel': () => held.pass() };
  const service = await serveWith('{ timeout: { request: 10s } }', { handlers, before } as never);
  try {
    await body(service, held);
  } finally {
    await service.close();
  }
}

const key = { 'idempotency-key': 'k1' };
const stored = async ({ send }: LimitedService) => ((await send('GET /parcels')).json as unknown as unknown[]).length;

for (const [what, line, sent, success] of [
  ['a handler', 'POST /weigh', {}, 200],
  ['what stands before an operation', 'POST /parcels', { weight: 1 }, 201],
] as const) {
  test(`${what} that takes too long is answered with limit.time, and leaves nothing behind`, () =>
    withGate(async (service, held) => {
      const { send, clock, failures } = service;
      const first = send(line, { body: sent, headers: key });
      await held.arrived(1);
      clock.advance(9999);
      await quiet();
      clock.advance(1);
      const late = await first;
      assert.deepEqual([late.status, late.json.code], [504, 'slow']);
      // The key is free, also while the first request still goes on; what that one does later takes nothing from the second.
      const second = send(line, { body: sent, headers: key });
      await held.arrived(2);
      held.open(0);
      await quiet();
      assert.equal(await stored(service), 0);
      assert.equal((await send(line, { body: sent, headers: key })).status, 409);
      held.open(1);
      assert.equal((await second).status, success);
      assert.equal(await stored(service), 1);
      const replayed = await send(line, { body: sent, headers: key });
      assert.deepEqual([replayed.status, replayed.headers.get('idempotency-replayed')], [success, 'true']);
      assert.equal(await stored(service), 1);
      assert.deepEqual(failures, []);
    }));
}

test('a handler that fails after its time was over keeps no refusal under its key', () =>
  withGate(async ({ send, clock }, held) => {
    const first = send('POST /weigh', { body: { does: 'fail' }, headers: key });
    await held.arrived(1);
    clock.advance(10_000);
    assert.equal((await first).status, 504);
    held.open(0);
    await quiet();
    const second = send('POST /weigh', { body: { does: 'fail' }, headers: key });
    await held.arrived(2);
    held.open(1);
    assert.deepEqual([(await second).status, (await second).headers.get('idempotency-replayed')], [402, null]);
  }));

test('a failure that comes after the answer is noted down', () =>
  withGate(async ({ send, clock, failures }, held) => {
    const first = send('POST /weigh', { body: { does: 'throw' } });
    await held.arrived(1);
    clock.advance(10_000);
    assert.equal((await first).status, 504);
    held.open(0);
    await quiet();
    assert.deepEqual(failures.map(String), ['Error: late']);
  }));

test('each request has the time from when it came', () =>
  withGate(async ({ send, clock }, held) => {
    const status: number[] = [];
    for (const at of [0, 1, 2]) {
      void send('POST /weigh', { body: {} }).then((answer) => {
        status[at] = answer.status;
      });
      await held.arrived(at + 1);
      clock.advance(4000);
    }
    await quiet();
    assert.deepEqual(status, [504]);
    held.open(1);
    await quiet();
    clock.advance(10_000);
    await quiet();
    assert.deepEqual(status, [504, 200, 504]);
  }));

test('a change that is being stored when the time comes is answered as usual; one that comes later is not stored', () => {
  const told: string[] = [];
  const storing = new RunningDeadline(() => told.push('late'));
  storing.whenOver(() => told.push('freed'));
  storing.apply();
  storing.expire();
  assert.deepEqual([storing.isOver, told], [false, []]);
  // It came to nothing, and would go on.
  storing.release();
  assert.deepEqual([storing.isOver, told], [true, ['freed', 'late']]);
  assert.throws(() => storing.apply(), TimedOut);
  const done = new RunningDeadline(() => told.push('again'));
  done.done();
  done.expire();
  assert.deepEqual([done.isOver, told.length], [false, 2]);
});

test('a body that does not arrive in time is answered, in process too', async () => {
  const service = await serveWith('{ timeout: { request: 10s } }');
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) });
  const request = new Request('http://127.0.0.1/parcels', {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { 'content-type': 'application/json', 'x-as': 'merchant m1' },
  } as RequestInit);
  const answering = service.service.fetch(request);
  await quiet();
  service.clock.advance(10_000);
  assert.equal((await answering).status, 504);
  await service.close();
});

test('without a stated time a handler has any', async () => {
  const held = gate();
  const service = await serveWith('{ timeout: none }', { handlers: { weigh: () => held.pass().then(() => ({})) } } as never);
  const first = service.send('POST /weigh', { body: {} });
  await held.arrived(1);
  service.clock.advance(86_400_000);
  await quiet();
  held.open(0);
  assert.equal((await first).status, 200);
  await service.close();
});

/** What a connection is told until it is closed by the other side. */
function told(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
}

test('the door takes the stated times: slow headers, slow bodies and idle connections are ended', async () => {
  const { service, close } = await serveWith('{ timeout: { request: 150ms, idle: 150ms } }');
  const { port, close: stop } = await service.listen({ port: 0, host: '127.0.0.1' });
  const slowHeaders = connect(port, '127.0.0.1', () => slowHeaders.write('GET /help HTTP/1.1\r\nHost: a\r\nX-'));
  const slowBody = connect(port, '127.0.0.1', () =>
    slowBody.write(
      'POST /weigh HTTP/1.1\r\nHost: a\r\nX-As: merchant m1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    ),
  );
  const idle = connect(port, '127.0.0.1', () => idle.write('GET /about HTTP/1.1\r\nHost: a\r\n\r\n'));
  const [headers, body, rest] = await Promise.all([slowHeaders, slowBody, idle].map(told));
  assert.match(headers!, /^HTTP\/1\.1 504 .*"slow"/s);
  // The handler is not supplied, and so the body is not waited for.
  assert.match(body!, /^HTTP\/1\.1 (504|501) /s);
  assert.match(rest!, /^HTTP\/1\.1 200 .*Keep-Alive: timeout=/is);
  await stop();
  await close();
});

test('a connection is kept for as long as is stated', async () => {
  const { service, close } = await serveWith('{ timeout: { idle: 90s } }');
  const { port, close: stop } = await service.listen({ port: 0, host: '127.0.0.1' });
  const header = await new Promise((resolve, reject) => {
    httpRequest({ port, path: '/about', host: '127.0.0.1', headers: { connection: 'keep-alive' } }, (response) => {
      resolve(response.headers['keep-alive']);
      response.resume();
      response.socket.destroy();
    })
      .on('error', reject)
      .end();
  });
  assert.equal(header, 'timeout=90');
  await stop();
  await close();
});
