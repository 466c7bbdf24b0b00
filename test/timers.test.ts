import assert from 'node:assert/strict';
import { test } from 'node:test';
import { movableClock, serve } from '../src/index.ts';

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

async function bells() {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const service = await serve(document, { clock });
  const send = async (method: string, path: string, body?: unknown) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, ...json }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { clock, service, send };
}

test('a timer that a change takes back while others fire is not remembered as fired', async () => {
  const { clock, service, send } = await bells();
  for (const id of ['one', 'two', 'three']) await send('POST', '/bells', { id, at: '2026-06-01T10:00:00Z' });
  clock.advance(3_600_000);
  const stopped = send('POST', '/bells/three/stop');
  assert.equal((await stopped).status, 200);
  assert.equal((await send('POST', '/bells/three/go')).status, 200);
  await service.settled();
  for (const id of ['one', 'two', 'three']) assert.equal((await send('GET', `/bells/${id}`)).body.rung, 1, id);
  await service.close();
});

test('a timer that a change puts off while others fire waits for its new time', async () => {
  const { clock, service, send } = await bells();
  for (const id of ['one', 'two', 'three']) await send('POST', '/bells', { id, at: '2026-06-01T10:00:00Z' });
  const rung = async (id: string) => (await send('GET', `/bells/${id}`)).body.rung;
  clock.advance(3_600_000);
  assert.equal((await send('PATCH', '/bells/three', { at: '2026-06-01T11:00:00Z' })).status, 200);
  await service.settled();
  assert.deepEqual([await rung('one'), await rung('two'), await rung('three')], [1, 1, 0]);
  clock.advance(3_600_000);
  await service.settled();
  assert.deepEqual([await rung('one'), await rung('two'), await rung('three')], [1, 1, 1]);
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
