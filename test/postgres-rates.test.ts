import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { systemClock } from '../src/serve/http/clock.ts';
import { openPostgres } from '../src/store/postgres/open.ts';
import { type LimitedService, serveWith } from './limits/limited.ts';
import { testDatabase } from './stores/postgres.ts';

/** Services over one schema, as several processes are; each goes by the clock of the database. */
async function several(context: TestContext, count: number, limits: string, schema = `t${randomUUID().replaceAll('-', '')}`) {
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', schema);
  const services: LimitedService[] = [];
  for (let made = 0; made < count; made++) {
    const store = openPostgres(address.href);
    const service = await serveWith(limits, { store, clock: systemClock });
    services.push(service);
    context.after(async () => {
      await service.close();
      await store.close();
    });
  }
  return services;
}

const askAll = (services: readonly LimitedService[], times: number, line: string) =>
  Promise.all(Array.from({ length: times }, async (_, at) => (await services[at % services.length]!.send(line)).status));

function counts(statuses: readonly number[]): Record<number, number> {
  return Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]));
}

for (const kind of ['sliding', 'fixed', 'bucket'])
  test(`${kind}: several processes answer exactly the limit, each caller by itself`, async (context) => {
    const services = await several(context, 3, `{ rate: [{ per: caller, kind: ${kind}, limit: 7, window: 1h }] }`);
    assert.deepEqual(counts(await askAll(services, 60, 'GET /parcels')), { 200: 7, 429: 53 });
    const other = await services[1]!.send('GET /parcels', { as: 'merchant m2' });
    assert.match(other.headers.get('ratelimit') ?? '', /^"caller-1h";r=6;/);
    assert.deepEqual(
      services.flatMap(({ failures }) => failures),
      [],
    );
  });

test('what the rate of the caller refuses is taken out of the rate of its address again', async (context) => {
  const limits = '{ rate: [{ per: address, limit: 9, window: 1h }, { per: caller, limit: 2, window: 1h }] }';
  const services = await several(context, 2, limits);
  assert.deepEqual(counts(await askAll(services, 20, 'GET /parcels')), { 200: 2, 429: 18 });
  const other = await services[0]!.send('GET /parcels', { as: 'merchant m2' });
  assert.match(other.headers.get('ratelimit') ?? '', /^"address-1h";r=6;t=\d+, "caller-1h";r=1;/);
});

test('a quota is never exceeded either, and what it refuses is in no row', async (context) => {
  const services = await several(context, 3, '{ quota: [{ per: everyone, on: [create parcel], limit: 11, window: day }] }');
  const create = (at: number) => services[at % 3]!.send('POST /parcels', { body: { weight: 1 } }).then(({ status }) => status);
  const statuses = await Promise.all(Array.from({ length: 40 }, (_, at) => create(at)));
  assert.deepEqual(counts(statuses), { 201: 11, 402: 29 });
});

test('a process that is told to counts for itself', async (context) => {
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const limits = '{ rate: [{ per: everyone, limit: 2, window: 1h }] }';
  const [together] = await several(context, 1, limits, schema);
  const address = new URL(await testDatabase());
  address.searchParams.set('schema', schema);
  const store = openPostgres(address.href);
  const alone = await serveWith(limits, { store, limits: 'here' });
  context.after(() => alone.close().then(() => store.close()));
  assert.deepEqual(counts(await askAll([alone], 4, 'GET /parcels')), { 200: 2, 429: 2 });
  assert.deepEqual(counts(await askAll([together!], 4, 'GET /parcels')), { 200: 2, 429: 2 });
});

test('an answer that does not count is taken out of what all processes have counted', async (context) => {
  const limits = '{ rate: [{ per: everyone, on: [read parcel], limit: 2, window: 1h, uncounted: [404] }] }';
  const services = await several(context, 2, limits);
  const ask = async (at: number) => (await services[at % 2]!.send('GET /parcels/none')).status;
  for (let at = 0; at < 8; at++) assert.equal(await ask(at), 404, `request ${at}`);
});

test('what is over is let go of, and no name of anybody is kept', async (context) => {
  const schema = `t${randomUUID().replaceAll('-', '')}`;
  const services = await several(context, 2, '{ rate: [{ per: caller, limit: 2, window: 1h }] }', schema);
  await askAll(services, 4, 'GET /parcels');
  const client = new Client({ connectionString: await testDatabase() });
  await client.connect();
  context.after(() => client.end());
  const table = `${schema}.ninefold_rates`;
  const kept = async () => (await client.query(`SELECT key, expires FROM ${table}`)).rows;
  const before = await kept();
  assert.equal(before.length, 1);
  assert.match(before[0].key, /^[\w-]{43}$/);
  await client.query(`UPDATE ${table} SET expires = 1`);
  await client.query(`INSERT INTO ${table} SELECT 'old ' || n, '', n FROM generate_series(1, 50) n`);
  const untilMs = Date.now() + 30_000;
  for (let tries = 0; (await kept()).length > 1 && Date.now() < untilMs; tries++) {
    await services[tries % 2]!.send('GET /parcels', { as: 'merchant m2' });
    await delay(20);
  }
  assert.deepEqual((await kept()).length, 1);
});
