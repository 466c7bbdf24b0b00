import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueAt } from '../src/document/source.ts';
import { isMap } from '../src/document/values.ts';
import { parseDocument } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { reluctant } from './stores/reluctant.ts';
import { shop } from './values/shop.ts';

test('what is derived is true of what is committed, whatever changes the rows that it is derived of', async () => {
  const { send, clock, service, close } = await tryService(shop);
  const trip = async (id = 'a') => (await send('GET', `/trips/${id}`)).json as Record<string, unknown>;
  const made = await send('POST', '/trips', { body: { id: 'a', name: 'Ostend', seats: 10, bookings: 99 } });
  assert.deepEqual(made.json, { id: 'a', name: 'Ostend', seats: 10, seats_left: 10, bookings: 0, is_taken: false, takings: 0 });
  await send('POST', '/trips', { body: { id: 'b', name: 'Lille', seats: 2 } });
  for (const [id, seats] of [
    ['x', 3],
    ['y', 2],
  ] as const)
    assert.equal((await send('POST', '/bookings', { body: { id, trip: 'a', seats } })).status, 201);
  assert.partialDeepStrictEqual(await trip(), { seats_left: 5, bookings: 2, is_taken: false, cheapest: 2500, takings: 0 });
  await send('POST', '/bookings/x/pay');
  assert.partialDeepStrictEqual(await trip(), { seats_left: 5, is_taken: true, takings: 37.5 });
  assert.equal((await send('POST', '/bookings', { body: { id: 'z', trip: 'a', seats: 6 } })).status, 409);
  // A row that refers elsewhere from now on counts there.
  await send('PATCH', '/bookings/y', { body: { trip: 'b' } });
  assert.partialDeepStrictEqual(await trip('a'), { seats_left: 7, bookings: 1, cheapest: 3750 });
  assert.partialDeepStrictEqual(await trip('b'), {
    seats_left: 0,
    bookings: 1,
    cheapest: 2500,
    last_at: '2026-06-01T09:00:00.000Z',
  });
  // What is derived of something derived follows it.
  await send('POST', '/extras', { body: { id: 'e', booking: 'x', price: 7 } });
  assert.partialDeepStrictEqual((await send('GET', '/bookings/x')).json, { amount: 3757 });
  assert.partialDeepStrictEqual(await trip(), { takings: 37.57, cheapest: 3757 });
  await send('DELETE', '/extras/e');
  assert.partialDeepStrictEqual(await trip(), { takings: 37.5, cheapest: 3750 });
  // The clock's transitions count too, and what goes with its trip.
  await send('POST', '/bookings', { body: { id: 'w', trip: 'a', seats: 2 } });
  assert.partialDeepStrictEqual(await trip(), { seats_left: 5, bookings: 2 });
  clock.advance(900_000);
  await service.settled();
  assert.partialDeepStrictEqual(await trip(), { seats_left: 7, bookings: 2 });
  assert.partialDeepStrictEqual(await trip('b'), { seats_left: 2, bookings: 1 });
  assert.equal((await send('DELETE', '/trips/a')).status, 204);
  assert.equal((await send('GET', '/bookings/x')).status, 404);
  await close();
});

test('a guard over the row as it would be reads what would be derived then, and filters and orders read what is derived', async () => {
  const { send, close } = await tryService(shop);
  await send('POST', '/trips', { body: { id: 'a', name: 'Ostend', seats: 4 } });
  await send('POST', '/trips', { body: { id: 'b', name: 'Lille', seats: 9 } });
  await send('POST', '/bookings', { body: { id: 'x', trip: 'a', seats: 3 } });
  const refused = await send('PATCH', '/trips/a', { body: { seats: 2 } });
  assert.deepEqual([refused.status, (refused.json as { code: string }).code], [409, 'too_few']);
  const ids = async (query: string) => ((await send('GET', `/trips${query}`)).json as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(await ids(''), ['b', 'a']);
  assert.deepEqual(await ids('?seats_left=2'), ['b']);
  assert.deepEqual(await ids('?seats_left=1'), ['b', 'a']);
  await close();
});

test('what is derived alters the tag of its row, and moves and tells nothing', async () => {
  const { send, close, service } = await tryService(shop);
  await send('POST', '/trips', { body: { id: 'a', name: 'Ostend', seats: 4 } });
  const before = (await send('GET', '/trips/a')).headers.etag as string;
  await send('POST', '/bookings', { body: { id: 'x', trip: 'a', seats: 1 } });
  const after = (await send('GET', '/trips/a')).headers.etag as string;
  assert.notEqual(before, after);
  const stale = await send('PATCH', '/trips/a', { body: { name: 'Ghent' }, headers: { 'if-match': before } });
  assert.equal(stale.status, 412);
  const fresh = await send('PATCH', '/trips/a', { body: { name: 'Ghent' }, headers: { 'if-match': after } });
  assert.equal(fresh.status, 200);
  await service.settled();
  await close();
});

for (const [name, store] of [
  ['SQLite', () => openSqlite(':memory:')],
  ['a store that waits and runs bodies twice', () => reluctant(openSqlite(':memory:'))],
] as const)
  test(`sixty-four callers who race for the last seats never oversell, on ${name}`, async () => {
    const { send, close } = await tryService(shop, { store: store() });
    await send('POST', '/trips', { body: { id: 'a', name: 'Ostend', seats: 20 } });
    const wished = Array.from({ length: 64 }, (_, n) => ({ id: `b${n}`, trip: 'a', seats: 1 + (n % 2) }));
    const tried = await Promise.all(wished.map((body) => send('POST', '/bookings', { body })));
    const sold = wished.reduce((sum, { seats }, n) => sum + (tried[n]?.status === 201 ? seats : 0), 0);
    assert.partialDeepStrictEqual((await send('GET', '/trips/a')).json, { seats_left: 20 - sold });
    assert.ok(sold === 19 || sold === 20, `${sold} sold`);
    assert.ok(tried.some(({ status }) => status === 409));
    await close();
  });

test('what is derived is read-only to others, and read back as it was stated', () => {
  const document = parseDocument(`title: Trips\n${shop}`, 'shop.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
  const field = valueAt(exported(document), '/components/schemas/Trip/properties/seats_left');
  assert.ok(isMap(field) && field.readOnly === true);
});
