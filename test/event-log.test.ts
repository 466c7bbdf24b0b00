import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { tryService } from './serving/tried.ts';
import { logged, nullsLogged } from './values/logged.ts';

type Row = Readonly<Record<string, unknown>>;

const ann = caller('merchant', 'ann');
const bob = caller('merchant', 'bob');
const cid = caller('courier', 'cid');
const day = 86_400_000;

async function drive(document = logged) {
  const service = await tellService(document);
  const events = async (who = ann, query = '') => (await service.as(who, 'GET', `/events${query}`)).json as readonly Row[];
  const types = async (who = ann, query = '') => (await events(who, query)).map(({ type }) => type);
  return { ...service, events, types };
}

test('every event is a row of the log, made with the change that emits it, under its own identifier', async () => {
  const { as, events, failures, close } = await drive();
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'Jo', price: 5 })).json as Row;
  const [event = {}] = await events();
  assert.match(String(event.id), /^ev_[A-Za-z0-9]{20}$/);
  const { id: _id, ...rest } = event;
  assert.deepEqual(rest, {
    type: 'parcel.created',
    about: 'parcel',
    row: id,
    merchant: 'ann',
    by: 'ann',
    data: { object: { id, merchant: 'ann', to: 'Jo', status: 'open' } },
    created: '2026-06-01T09:00:00.000Z',
    stored: '2026-06-01T09:00:00.000Z',
  });
  const read = await as(ann, 'GET', `/events/${String(event.id)}`);
  assert.deepEqual([read.status, read.json], [200, event]);
  assert.deepEqual(failures, []);
  await close();
});

test('what follows from a change and what goes with a row are rows too, in order, and a refused change leaves none', async () => {
  const { as, events, types, clock, service, close } = await drive();
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'nowhere' })).json as Row;
  assert.equal((await as(ann, 'POST', `/parcels/${id}/send`)).status, 200);
  assert.equal((await as(ann, 'POST', `/parcels/${id}/send`)).status, 409);
  assert.equal((await as(ann, 'PATCH', `/parcels/${id}`, { to: '' })).status, 422);
  clock.advance(10 * day);
  await service.settled();
  assert.equal((await as(ann, 'DELETE', `/parcels/${id}`)).status, 204);
  const { id: _id, ...last } = (await events())[0] ?? {};
  assert.deepEqual([last.type, last.about, last.row, 'by' in last], ['parcel.lost', 'parcel', id, false]);
  // The newest time first, and of one time in the order in which they were emitted.
  assert.deepEqual(await types(), [
    'parcel.lost',
    ...['note.deleted', 'note.deleted', 'parcel.deleted'],
    ...['parcel.created', 'note.created', 'parcel.sent', 'note.created'],
  ]);
  await close();
});

test('the log is filtered and comes in pages like any resource, to whom its rules show it', async () => {
  const { as, events, types, close } = await drive();
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'Jo' })).json as Row;
  await as(bob, 'POST', '/parcels', { to: 'Di' });
  await as(ann, 'PATCH', `/parcels/${id}`, { to: 'Al' });
  assert.deepEqual(await types(ann), ['parcel.created', 'parcel.updated']);
  assert.deepEqual(await types(bob), ['parcel.created']);
  assert.deepEqual(await types(cid), ['parcel.created', 'parcel.created', 'parcel.updated']);
  assert.deepEqual(await types(cid, '?type=parcel.updated'), ['parcel.updated']);
  assert.deepEqual(await types(cid, `?row=${String(id)}`), ['parcel.created', 'parcel.updated']);
  const [first] = await events(cid, '?limit=1');
  assert.deepEqual(await types(cid, `?limit=2&after=${String(first?.id)}`), ['parcel.created', 'parcel.updated']);
  assert.equal((await as(bob, 'GET', `/events/${String(first?.id)}`)).status, 404);
  assert.equal((await as(undefined, 'GET', '/events')).status, 401);
  await close();
});

test('a row of the log is there for its time, and then no more', async () => {
  const { as, types, clock, service, failures, close } = await drive();
  await as(ann, 'POST', '/parcels', { to: 'Jo' });
  clock.advance(day);
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'Al' })).json as Row;
  clock.advance(29 * day - 1);
  await service.settled();
  assert.equal((await types()).length, 2);
  clock.advance(1);
  await service.settled();
  assert.equal((await types()).length, 1);
  await as(ann, 'PATCH', `/parcels/${id}`, { to: 'Bo' });
  clock.advance(day);
  await service.settled();
  assert.deepEqual(await types(), ['parcel.updated']);
  clock.advance(29 * day);
  await service.settled();
  assert.deepEqual(await types(), []);
  assert.deepEqual(failures, []);
  await close();
});

test('what is kept for ever stays, and more rows than go in one change go in several', async () => {
  const forever = await drive(logged.replace('keep: 30d', 'keep: forever'));
  await forever.as(ann, 'POST', '/parcels', { to: 'Jo' });
  forever.clock.advance(4000 * day);
  await forever.service.settled();
  assert.equal((await forever.types()).length, 1);
  await forever.close();
  const { as, types, clock, service, close } = await drive();
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'Jo' })).json as Row;
  for (let made = 0; made < 210; made++) await as(ann, 'PATCH', `/parcels/${id}`, { to: `Jo ${made}` });
  assert.equal((await types(ann, '?limit=100')).length, 100);
  clock.advance(30 * day);
  await service.settled();
  assert.deepEqual(await types(), []);
  await close();
});

test('nobody learns from the log what some of those who may read it do not see, and all are shown what all see', async () => {
  const alone = logged.replace('    - { allow: [list event, read event], to: courier }\n', '');
  const { as, events, close } = await drive(alone);
  await as(ann, 'POST', '/parcels', { to: 'Jo', price: 5 });
  const [{ data } = {}] = await events();
  assert.equal((data as { object: Row }).object.price, 5);
  await close();
});

test('a handler emits rows of the log, and writes none', async () => {
  const document = logged
    .replace(
      'endpoints:',
      'endpoints:\n  POST /told: { does: handler told, response: { 204: none } }\n  POST /forged: { does: handler forged, response: { 204: none } }',
    )
    .replace('[create parcel, create note], to', '[create parcel, create note, handler told, handler forged], to')
    .replace(
      '  log:',
      '    told: { on: [handler told], payload: { type: object, properties: { word: string } }, to: "true" }\n  log:',
    )
    .replace('about: event.resource', 'about: "has(event.resource) ? event.resource : \'nothing\'"')
    .replace('row: event.row', 'row: "has(event.row) ? event.row : \'none\'"')
    .replace(
      'merchant: row.merchant',
      'merchant: "has(row.merchant) ? string(row.merchant) : has(caller.id) ? caller.id : \'\'"',
    );
  const service = await tellService(document, {
    handlers: {
      told: async ({ emit }) => void emit('told', { word: 'yes' }),
      forged: async ({ store }) => void (await store.create('event', { type: 'x' })),
    },
  });
  assert.equal((await service.as(ann, 'POST', '/told')).status, 204);
  const [event = {}] = (await service.as(ann, 'GET', '/events')).json as readonly Row[];
  assert.deepEqual([event.type, event.about, event.row, event.merchant], ['told', 'nothing', 'none', 'ann']);
  assert.equal((await service.as(ann, 'POST', '/forged')).status, 500);
  assert.match(String(service.failures[0]), /whose rows are the events/);
  await service.close();
});

test('of somebody who is erased nothing stays in the log', async () => {
  const { as, types, service, close } = await drive();
  const { id } = (await as(ann, 'POST', '/parcels', { to: 'Jo' })).json as Row;
  await as(ann, 'POST', '/parcels', { to: 'Al' });
  const told = (await service.administer('erase', { rows: [`parcel/${id}`], confirmed: true })) as Row;
  assert.equal(told.logged, 1);
  assert.equal((await types()).length, 1);
  await close();
});

test('an event that cannot be a row undoes its change', async () => {
  const { as, types, failures, close } = await drive(
    logged.replace('data: { object: event.payload }', 'data: "1 / (size(row.merchant) - 3) > 0 ? event.payload : event.payload"'),
  );
  assert.equal((await as(ann, 'POST', '/parcels', { to: 'Jo' })).status, 500);
  assert.equal((await as(bob, 'POST', '/parcels', { to: 'Jo' })).status, 500);
  assert.equal((await as(caller('merchant', 'anna'), 'POST', '/parcels', { to: 'Jo' })).status, 201);
  assert.deepEqual(await types(), []);
  assert.equal(failures.length, 2);
  await close();
});

test('the log is told in older versions by their words, as its own rows are', async () => {
  const older = logged
    .replace(
      'price: { type: integer, minimum: 0, maximum: 1000, visible: [merchant] }',
      'price: { type: integer, minimum: 0, maximum: 1000 }',
    )
    .replace(
      'data: { type: object, readOnly: true, additionalProperties: true }',
      'data: { type: object, readOnly: true, additionalProperties: true }\n      parcel: { type: parcel?, readOnly: true }',
    )
    .replace(
      'data: { object: event.payload }',
      'data: { object: event.payload }\n      parcel: "event.kind == \'parcel.created\' ? event.payload : null"',
    )
    .replace(
      'versioning: none',
      `versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Version, default: current }
  guarantee: additive
  changes:
    "2":
      - { rename: event.kind, to: type }
      - { rename: parcel.recipient, to: to }`,
    );
  const { as, failures, close } = await drive(older);
  await as(ann, 'POST', '/parcels', { recipient: 'Jo', price: 5 }, { version: '1' });
  const [event = {}] = (await as(ann, 'GET', '/events', undefined, { version: '1' })).json as readonly Row[];
  assert.deepEqual([event.kind, event.type, (event.parcel as Row).recipient], ['parcel.created', undefined, 'Jo']);
  const [now = {}] = (await as(ann, 'GET', '/events')).json as readonly Row[];
  assert.deepEqual([now.type, (now.parcel as Row).to], ['parcel.created', 'Jo']);
  assert.deepEqual(failures, []);
  await close();
});

for (const [data, held] of [
  ['event.payload', { id: 'a', text: null }],
  [
    '{ object: event.payload, kinds: [event.kind, event.payload] }',
    { object: { id: 'a', text: null }, kinds: ['n', { id: 'a', text: null }] },
  ],
] as const)
  test(`a payload is logged with its nulls, as ${data}`, async () => {
    const { send, close } = await tryService(nullsLogged(data));
    assert.equal((await send('POST', '/notes', { body: { id: 'a', text: null } })).status, 201);
    const [entry] = (await send('GET', '/entries')).json as readonly { readonly data: unknown }[];
    assert.deepEqual(entry?.data, held);
    await close();
  });

test('the log is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Parcels\n${logged}`, 'parcels.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
