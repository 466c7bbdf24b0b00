import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { movableClock, type Service, serve } from '../src/index.ts';
import { openPostgres } from '../src/store/postgres/open.ts';
import type { Store } from '../src/store/store.ts';
import { noRows, row, table } from './store-engines.ts';
import { testDatabase } from './stores/postgres.ts';

/** Stores over one schema, as several processes have them. */
async function several(test: TestContext, count: number): Promise<Store[]> {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', `t${randomUUID().replaceAll('-', '')}`);
  const stores = Array.from({ length: count }, () => openPostgres(address.href));
  test.after(() => Promise.all(stores.map((store) => store.close())));
  return stores;
}

const parcels = table('parcel', ['slug:text'], { unique: ['slug'] });

test('changes of several processes come one after the other: nothing is lost, taken twice or numbered twice', async (context) => {
  const stores = await several(context, 3);
  for (const store of stores) await store.prepare([parcels], noRows);
  await stores[0]!.change((tx) => tx.insert('parcel', row('sum', null)));
  const results = await Promise.allSettled(
    Array.from({ length: 90 }, (_, at) =>
      stores[at % 3]!.change((tx) => {
        const sum = tx.get('parcel', 'sum')!;
        const { n = 0 } = JSON.parse(sum.doc) as { n?: number };
        tx.insert('parcel', row(`r${at}`, `slug ${at % 30}`));
        tx.update('parcel', { id: 'sum', entered: 0, doc: JSON.stringify({ n: n + 1 }), columns: [null] });
        return [tx.next('number'), tx.addTo('counter', 1, 0, 100)];
      }),
    ),
  );
  const done = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  assert.equal(done.length, 30, 'each unique value was given once');
  for (const place of [0, 1])
    assert.deepEqual(
      done.map((numbers) => numbers[place]!).toSorted((a, b) => a - b),
      Array.from({ length: 30 }, (_, at) => at + 1),
    );
  const read = await stores[1]!.read((rows) => [rows.get('parcel', 'sum')?.doc, rows.count({ table: 'parcel' }, [])]);
  assert.deepEqual(read, ['{"n":30}', 31]);
});

test('one process has the work at a time, and gives it back to another', async (context) => {
  const [first, second] = (await several(context, 2)) as [Store, Store];
  const held = (store: Store, heard: (isHeld: boolean) => void) => store.shared!.share('timers', heard);
  const giveBack = await new Promise<() => Promise<void>>((resolve) => {
    const back: () => Promise<void> = held(first, (isHeld) => isHeld && resolve(() => back()));
  });
  assert.deepEqual(await first.change((tx) => tx.holds('timers')), true);
  const taken = Promise.withResolvers<void>();
  const told: boolean[] = [];
  held(second, (isHeld) => {
    told.push(isHeld);
    if (isHeld) taken.resolve();
  });
  assert.equal(await second.change((tx) => tx.holds('timers')), false);
  await giveBack();
  await taken.promise;
  assert.equal(told.at(-1), true);
  assert.deepEqual(await Promise.all([first, second].map((store) => store.change((tx) => tx.holds('timers')))), [false, true]);
});

const lamps = {
  title: 'Lamps',
  resources: {
    lamp: {
      identifier: { field: 'id', generate: 'client' },
      fields: {
        id: 'string',
        at: { type: 'string', format: 'date-time' },
        lit: { type: 'integer', readOnly: true, default: 0, set: { light: 'resource.lit + 1' } },
        state: { type: 'string', readOnly: true },
      },
      required: ['id', 'at', 'lit', 'state'],
    },
  },
  states: {
    lamp: { field: 'state', initial: 'on', states: ['on'], transitions: { light: { from: 'on', to: 'on', at: 'resource.at' } } },
  },
  endpoints: { 'POST /lamps': { does: 'create lamp' }, 'GET /lamps/{id}': { does: 'read lamp' } },
  purpose: { users: { keeper: 'Keeps lamps.' } },
  authentication: {
    schemes: { key: { type: 'api_key', header: 'X-Key' } },
    permissions: [{ allow: ['create lamp', 'read lamp'], to: ['keeper'] }],
  },
};

/** Two services over one schema, with one clock. */
async function lampServices(test: TestContext) {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const services: Service[] = [];
  for (const store of await several(test, 2)) services.push(await serve(lamps, { clock, store }));
  test.after(() => Promise.all(services.map((service) => service.close())));
  const [first, second] = services as [Service, Service];
  // What comes back of `keys add` is the key and its secret.
  const made = (await first.administer('keys add', { user: 'keeper', id: 'k1' })) as { key: string; secret: string };
  const send = async (service: Service, method: string, path: string, body?: unknown) => {
    const headers = { 'x-key': made.secret, ...(body !== undefined && { 'content-type': 'application/json' }) };
    const answer = await service.fetch(
      new Request(`http://127.0.0.1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    );
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  return { clock, first, second, key: made.key, send };
}

/** Asks again until it is so: what another process has changed is heard of soon, and nobody says when. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('what is made by one process is read by the other, and a timer of it is fired once', async (context) => {
  const { clock, first, second, send } = await lampServices(context);
  const at = '2026-06-01T09:01:00Z';
  for (let n = 0; n < 8; n++) {
    const { status } = await send(n % 2 === 0 ? first : second, 'POST', '/lamps', { id: `l${n}`, at });
    assert.equal(status, 201);
  }
  clock.advance(60_000);
  const lit = async () => {
    const all = await Promise.all(Array.from({ length: 8 }, (_, n) => send(n % 2 === 0 ? second : first, 'GET', `/lamps/l${n}`)));
    return all.map(({ body }) => body.lit);
  };
  await until(async () => (await lit()).every((count) => count !== 0));
  // Whoever takes the work next finds nothing left to do.
  await first.close();
  await second.settled();
  const { body } = await send(second, 'GET', '/lamps/l0');
  assert.equal(body.lit, 1);
});

test('a key that one process revokes is refused by the other', async (context) => {
  const { first, second, key, send } = await lampServices(context);
  assert.equal((await send(first, 'POST', '/lamps', { id: 'l', at: '2026-06-01T09:01:00Z' })).status, 201);
  assert.equal((await send(second, 'GET', '/lamps/l')).status, 200);
  await first.administer('keys revoke', { key });
  await until(async () => (await send(second, 'GET', '/lamps/l')).status === 401);
});

test('a process whose tables another document has replaced stores nothing more', async (context) => {
  const [older, newer] = (await several(context, 2)) as [Store, Store];
  await older.prepare([parcels], noRows);
  await newer.prepare([table('parcel', ['slug:text', 'weight:integer'], { unique: ['slug'] })], noRows);
  await assert.rejects(
    older.change((tx) => tx.insert('parcel', row('a', 'x'))),
    /another document/,
  );
  await newer.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
});
