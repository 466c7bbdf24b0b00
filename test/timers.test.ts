import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JsonMap, movableClock, type ServeOptions, type Service, serve } from '../src/index.ts';
import { CommitFailed } from '../src/store/failures.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';

const document = {
  title: 'Bells',
  resources: {
    bell: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        at: { type: 'string', format: 'date-time' },
        rung: { type: 'integer', readOnly: true, default: 0, set: { ring: 'resource.rung + 1' } },
        state: { type: 'string', readOnly: true },
      },
      required: ['id', 'at', 'rung', 'state'],
    },
  },
  states: {
    bell: {
      field: 'state',
      initial: 'on',
      states: ['on', 'off'],
      transitions: { ring: { from: 'on', to: 'on', at: 'resource.at' }, stop: 'on -> off', go: 'off -> on' },
    },
  },
  endpoints: {
    'POST /bells': { does: 'create bell' },
    'GET /bells/{id}': { does: 'read bell' },
    'POST /bells/{id}/stop': { does: 'stop bell' },
    'POST /bells/{id}/go': { does: 'go bell' },
    'PATCH /bells/{id}': { does: 'update bell' },
  },
  authentication: 'none',
};

async function bells(options: ServeOptions = {}) {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const service = await serve(document, { clock, ...options });
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { clock, service, send };
}

/** More than fire at once, each before one named `three`. */
const crowd = Array.from({ length: 300 }, (_, n) => `b${1000 + n}`);

/** A store in memory that cannot write while `disk.isFull`. */
function failing() {
  const disk = { isFull: false };
  const inner = openSqlite(':memory:');
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === 'change' && disk.isFull)
        return () => Promise.reject(new CommitFailed('bells.sqlite', new Error('database or disk is full')));
      const own: unknown = Reflect.get(target, name, target);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  }) satisfies Store;
  return { disk, store };
}

test('a full disk loses no timer, answers 503 that may be tried again, is told once, and heals by itself', async () => {
  const { disk, store } = failing();
  const told: string[] = [];
  const { clock, service, send } = await bells({ store, onFailure: (failure) => told.push(String(failure)) });
  for (const id of ['one', 'two']) await send('POST', '/bells', { id, at: '2026-06-01T10:00:00Z' });
  disk.isFull = true;
  clock.advance(3_600_000);
  await service.settled();
  for (let n = 0; n < 3; n++) {
    const answer = await service.fetch(
      new Request('http://127.0.0.1/bells/one', {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: '{"at":"2026-06-01T12:00:00Z"}',
      }),
    );
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5']);
  }
  clock.advance(20_000);
  await service.settled();
  assert.deepEqual(told, ['Error: nothing was stored in bells.sqlite: database or disk is full']);
  disk.isFull = false;
  clock.advance(60_000);
  await service.settled();
  for (const id of ['one', 'two']) assert.equal((await send('GET', `/bells/${id}`)).body.rung, 1, id);
  await service.close();
  await store.close();
});

test('a timed transition that fails is tried again, later each time, until it succeeds, and the others fire meanwhile', async () => {
  const told: string[] = [];
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const { bell } = document.resources;
  const fields = { ...bell.fields, slot: 'string', taken: { type: 'string?', readOnly: true, set: { ring: 'resource.slot' } } };
  const service = await serve(
    { ...document, resources: { bell: { ...bell, fields, required: [...bell.required, 'slot'], unique: ['taken'] } } },
    { clock, onFailure: (failure) => told.push((failure as Error).message) },
  );
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  for (const [id, slot] of [
    ['one', 'a'],
    ['three', 'b'],
    ['two', 'a'],
  ])
    await send('POST', '/bells', { id, slot, at: '2026-06-01T10:00:00Z' });
  const rung = async () => Promise.all(['one', 'two', 'three'].map(async (id) => (await send('GET', `/bells/${id}`)).body.rung));
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual(await rung(), [1, 0, 1]);
  for (let n = 0; n < 4; n++) {
    clock.advance(1000);
    await service.settled();
  }
  assert.deepEqual(
    told.map((words) => /failed (\w+).* in (\d+) s/.exec(words)?.slice(1)),
    [
      ['once', '1'],
      ['2', '2'],
      ['3', '4'],
    ],
  );
  // The one that it met moves away, and is found gone at the next try.
  await send('PATCH', '/bells/one', { slot: 'c', at: '2026-06-01T10:00:05Z' });
  clock.advance(60_000);
  await service.settled();
  assert.deepEqual(await rung(), [2, 1, 1]);
  await service.close();
});

test('timers follow the document at start: added, changed and taken away, and what became of them is told', async () => {
  const store = openSqlite(':memory:');
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const { fields } = document.resources.bell;
  const bell = { ...document.resources.bell, fields: { ...fields, rung: { type: 'integer', readOnly: true, default: 0 } } };
  const start = (transitions: Record<string, string | Record<string, string>>) =>
    serve({ ...document, resources: { bell }, states: { bell: { ...document.states.bell, transitions } } }, { clock, store });
  const called = { stop: 'on -> off', go: 'off -> on' };
  const state = async (service: Service) => {
    const answer = await service.fetch(new Request('http://127.0.0.1/bells/one'));
    return ((await answer.json()) as Record<string, unknown>).state;
  };
  const told = (service: Service) => service.notes.filter((note) => note.includes('timers'));

  // Made under a document that has no timed transition.
  let service = await start(called);
  const body = JSON.stringify({ id: 'one', at: '2026-06-01T10:00:00Z' });
  const headers = { 'content-type': 'application/json' };
  await service.fetch(new Request('http://127.0.0.1/bells', { method: 'POST', body, headers }));
  assert.deepEqual(told(service), []);
  await service.close();

  // Added, for a day from when the row entered its state; and changed to an hour.
  for (const after of ['1d', '1h']) {
    service = await start({ ...called, ring: { from: 'on', to: 'off', after } });
    assert.deepEqual(told(service), [
      'The timed transitions of bell have changed: the timers of its 1 rows are set as the document says now.',
    ]);
    await service.close();
  }
  service = await start({ ...called, ring: { from: 'on', to: 'off', after: '1h' } });
  assert.deepEqual(told(service), []);
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual(await state(service), 'off');
  await service.fetch(new Request('http://127.0.0.1/bells/one/go', { method: 'POST' }));
  await service.close();

  // Taken away: nothing fires, although a timer was set.
  service = await start(called);
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual(await state(service), 'on');
  await service.close();
  await store.close();
});

test('a timer that a change takes back while others fire is not remembered as fired', async () => {
  const { clock, service, send } = await bells();
  for (const id of [...crowd, 'three']) await send('POST', '/bells', { id, at: '2026-06-01T10:00:00Z' });
  clock.advance(3_600_000);
  const stopped = send('POST', '/bells/three/stop');
  assert.equal((await stopped).status, 200);
  assert.equal((await send('POST', '/bells/three/go')).status, 200);
  await service.settled();
  for (const id of [...crowd, 'three']) assert.equal((await send('GET', `/bells/${id}`)).body.rung, 1, id);
  await service.close();
});

test('a timer that a change puts off while others fire waits for its new time', async () => {
  const { clock, service, send } = await bells();
  for (const id of [...crowd, 'three']) await send('POST', '/bells', { id, at: '2026-06-01T10:00:00Z' });
  const rung = async (id: string) => (await send('GET', `/bells/${id}`)).body.rung;
  clock.advance(3_600_000);
  assert.equal((await send('PATCH', '/bells/three', { at: '2026-06-01T11:00:00Z' })).status, 200);
  await service.settled();
  assert.deepEqual([await rung('b1000'), await rung('b1299'), await rung('three')], [1, 1, 0]);
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual([await rung('b1000'), await rung('b1299'), await rung('three')], [1, 1, 1]);
  await service.close();
});

test('a timer whose time stands in another row follows that row, and goes when the time goes', async () => {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const { bell } = document.resources;
  const shift = {
    identifier: { field: 'id', generate: 'client' },
    fields: { id: 'string', ends: { type: 'string', format: 'date-time' } },
    required: ['id'],
  };
  const fields = { ...bell.fields, shift: { ref: 'shift' } };
  const service = await serve(
    {
      ...document,
      resources: { shift, bell: { ...bell, fields, required: ['id', 'shift', 'rung', 'state'] } },
      states: {
        shift: 'none',
        bell: {
          ...document.states.bell,
          transitions: { ring: { from: 'on', to: 'off', at: 'has(resource.shift.ends) ? resource.shift.ends : null' } },
        },
      },
      endpoints: {
        'POST /shifts': { does: 'create shift' },
        'PATCH /shifts/{id}': { does: 'update shift' },
        'POST /bells': { does: 'create bell' },
        'GET /bells/{id}': { does: 'read bell' },
      },
    },
    { clock },
  );
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  for (const [shift, one] of [
    ['late', 'one'],
    ['gone', 'two'],
  ]) {
    await send('POST', '/shifts', { id: shift, ends: '2026-06-01T10:00:00Z' });
    assert.equal((await send('POST', '/bells', { id: one, shift })).status, 201);
  }
  assert.equal((await send('PATCH', '/shifts/late', { ends: '2026-06-01T11:00:00Z' })).status, 200);
  assert.deepEqual((await send('PATCH', '/shifts/gone', { ends: null })).body, { id: 'gone' });
  const rung = async () => [(await send('GET', '/bells/one')).body.rung, (await send('GET', '/bells/two')).body.rung];
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual(await rung(), [0, 0]);
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual(await rung(), [1, 0]);
  await service.close();
});

test('a default stands in for a read-only field that nothing else sets', async () => {
  const { service, send } = await bells();
  assert.deepEqual((await send('POST', '/bells', { id: 'one', at: '2026-06-01T10:00:00Z', rung: 7 })).body, {
    id: 'one',
    at: '2026-06-01T10:00:00Z',
    rung: 0,
    state: 'on',
  });
  await service.close();
});

test('a timer that fails is seen with how often and why, fired by hand once nothing is in its way, or dropped for good', async () => {
  const limited = {
    ...document,
    resources: {
      bell: {
        ...document.resources.bell,
        fields: {
          ...document.resources.bell.fields,
          place: { type: 'string', set: { ring: "'tower'" } },
        },
        unique: [['place']],
      },
    },
  };
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const service = await serve(limited, {
    clock,
    onFailure: () => {},
    rows: {
      bell: [
        { id: 'held', at: '2026-07-01T00:00:00Z', rung: 0, state: 'on', place: 'tower' },
        { id: 'stuck', at: '2026-06-01T09:30:00Z', rung: 0, state: 'on' },
        { id: 'given-up', at: '2026-06-01T09:31:00Z', rung: 0, state: 'on' },
      ],
    },
  });
  const row = (id: string) => ({ row: { resource: 'bell', id } });
  const list = (input: JsonMap) => service.administer('timers list', input) as Promise<readonly JsonMap[]>;
  assert.deepEqual(
    (await list({})).map(({ id, lateMs }) => [id, lateMs]),
    [
      ['stuck', undefined],
      ['given-up', undefined],
      ['held', undefined],
    ],
  );
  clock.set(Date.parse('2026-06-01T09:40:00Z'));
  await service.settled();
  const failing = await list({ failing: true });
  assert.deepEqual(failing.map(({ id, timer }) => [id, timer]).sort(), [
    ['given-up', 'ring'],
    ['stuck', 'ring'],
  ]);
  assert.ok(failing.every(({ failed, why }) => Number(failed) >= 1 && why === 'resource.exists'));
  const hand = { ...row('stuck'), timer: 'ring' };
  await assert.rejects(service.administer('timers fire', hand), /ring of bell stuck was refused: resource\.exists/);
  await assert.rejects(service.administer('timers fire', { ...row('stuck'), timer: 'rnig' }), /bell stuck has the timers ring/);
  assert.deepEqual(await service.administer('timers drop', { ...row('given-up'), timer: 'ring' }), {
    dropped: { resource: 'bell', id: 'given-up', timer: 'ring' },
  });
  await service.fetch(
    new Request('http://127.0.0.1/bells/held', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ place: null }),
    }),
  );
  assert.deepEqual(await service.administer('timers fire', hand), { fired: { resource: 'bell', id: 'stuck', timer: 'ring' } });
  clock.advance(86_400_000);
  await service.settled();
  const rung = async (id: string) =>
    ((await (await service.fetch(new Request(`http://127.0.0.1/bells/${id}`))).json()) as JsonMap).rung;
  assert.deepEqual([await rung('stuck'), await rung('given-up')], [1, 0]);
  assert.deepEqual(await list({ failing: true }), []);
  await service.close();
});
