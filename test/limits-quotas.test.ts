import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { type LimitedService, type Sent, serveWith } from './limits/limited.ts';

const parcel = { weight: 1 };
const handlers = {
  weigh: async ({
    request,
    fail,
    store,
  }: {
    request: unknown;
    fail: (code: string) => never;
    store: { create: (resource: string, fields: object) => Promise<unknown> };
  }) => {
    const { fails, stores } = (request ?? {}) as { fails?: boolean; stores?: boolean };
    if (stores) await store.create('parcel', { weight: 2 });
    if (fails) fail('used_up');
    return {};
  },
};

/** Serves with quotas for one test. */
function withQuota(name: string, quota: string, body: (service: LimitedService, context: TestContext) => Promise<void>): void {
  test(name, async (context) => {
    const service = await serveWith(`{ quota: ${quota}, trust_proxies: ["127.0.0.1"] }`, { handlers } as never);
    try {
      await body(service, context);
      assert.deepEqual(service.failures, []);
    } finally {
      await service.close();
    }
  });
}

async function idOf(service: LimitedService): Promise<string> {
  const made = await service.send('POST /parcels', { body: parcel });
  assert.equal(made.status, 201);
  return String(made.json.id);
}

withQuota(
  'a quota is used up, says how long its window goes on, and is there again after it',
  '[{ per: caller, on: [create parcel], limit: 2, window: day, zone: Europe/Amsterdam }]',
  async ({ send, statuses, clock }) => {
    assert.deepEqual(await statuses(2, 'POST /parcels', { body: parcel }), [201, 201]);
    const refused = await send('POST /parcels', { body: parcel });
    assert.equal(refused.status, 402);
    assert.equal(refused.json.code, 'used_up');
    // It is 11 o'clock in Amsterdam.
    const waitS = 13 * 3600;
    assert.equal(refused.headers.get('retry-after'), String(waitS));
    clock.advance(waitS * 1000 - 1);
    assert.deepEqual(await statuses(1, 'POST /parcels', { body: parcel }), [402]);
    clock.advance(1);
    assert.deepEqual(await statuses(3, 'POST /parcels', { body: parcel }), [201, 201, 402]);
  },
);

withQuota(
  'only an answer of 2xx uses quota, and a replayed one uses none',
  '[{ per: everyone, limit: 3, window: month }]',
  async (service) => {
    const { send, statuses } = service;
    const id = await idOf(service);
    const key = { headers: { 'idempotency-key': 'k1' } };
    const free: [string, Sent, number][] = [
      ['POST /parcels', { body: { weight: 11 } }, 422],
      ['GET /parcels/none', {}, 404],
      ['POST /weigh', { body: { fails: true, stores: true } }, 402],
      ['GET /parcels', { headers: { accept: 'text/html' } }, 406],
    ];
    for (const [line, sent, status] of free) assert.deepEqual(await statuses(5, line, sent), Array(5).fill(status), line);
    assert.deepEqual(await statuses(4, 'POST /parcels', { body: parcel, ...key }), [201, 201, 201, 201]);
    const { headers } = await send(`GET /parcels/${id}`);
    const unchanged = { headers: { 'if-none-match': String(headers.get('etag')) } };
    assert.equal((await send('POST /parcels', { body: parcel })).status, 402);
    assert.deepEqual(await statuses(3, `GET /parcels/${id}`, unchanged), [304, 304, 304]);
    assert.deepEqual(await statuses(2, 'POST /parcels', { body: parcel, ...key }), [201, 201]);
  },
);

withQuota(
  'a refused operation has changed nothing',
  '[{ per: everyone, limit: 1, window: year, on: [create parcel, buy parcel, handler weigh] }]',
  async (service) => {
    const { send, statuses } = service;
    const id = await idOf(service);
    assert.deepEqual(await statuses(2, `POST /parcels/${id}/buy`), [402, 402]);
    assert.equal((await send(`GET /parcels/${id}`)).json.status, 'draft');
    assert.deepEqual(await statuses(2, 'POST /weigh', { body: { stores: true } }), [402, 402]);
    assert.deepEqual(await statuses(2, 'POST /parcels', { body: parcel, headers: { 'idempotency-key': 'k' } }), [402, 402]);
    const page = (await send('GET /parcels')).json as unknown;
    assert.equal((page as unknown[]).length, 1);
  },
);

for (const [line, operation, body] of [
  ['GET /parcels', 'list parcel', undefined],
  ['GET /help', 'read help', undefined],
  ['GET /parcels/{id}', 'read parcel', undefined],
  ['POST /weigh', 'handler weigh', {}],
  ['POST /weigh', 'handler weigh', { stores: true }],
] as const) {
  withQuota(
    `${operation} uses quota${body && 'stores' in body ? ', storing something' : ''}`,
    `[{ per: user, on: [${operation}], limit: 3, window: hour }]`,
    async (service) => {
      const id = await idOf(service);
      const sent = { ...(body && { body }) };
      const target = line.replace('{id}', id);
      assert.deepEqual(await service.statuses(5, target, sent), [200, 200, 200, 402, 402]);
      assert.deepEqual(await service.statuses(1, target, { ...sent, as: 'courier c1' }), [200]);
    },
  );
}

withQuota(
  'callers, users, addresses and everyone have quotas of their own',
  '[{ per: caller, on: [list parcel], limit: 1, window: day }, { per: user, on: [read help], limit: 1, window: day }, { per: address, on: [read about], limit: 1, window: day }, { per: everyone, to: merchant, on: [create parcel], limit: 1, window: day }]',
  async ({ send }) => {
    const seen = async (line: string) => {
      let text = '';
      for (const [as, from] of [
        ['merchant m1', '10.0.0.1'],
        ['merchant m2', '10.0.0.1'],
        ['courier c1', '10.0.0.2'],
        ['courier c1', '2001:db8::1'],
        ['merchant m1', '2001:db8::2'],
      ] as const) {
        const { status } = await send(line, { as, from, ...(line.startsWith('POST') && { body: parcel }) });
        text += status === 402 ? '0' : '1';
      }
      return text;
    };
    assert.equal(await seen('GET /parcels'), '11100');
    assert.equal(await seen('GET /help'), '10100');
    assert.equal(await seen('GET /about'), '10110');
    assert.equal(await seen('POST /parcels'), '10110');
  },
);

withQuota(
  'of several quotas the longest wait is told, and none is used',
  '[{ per: everyone, on: [create parcel], limit: 2, window: day }, { per: everyone, on: [create parcel], limit: 1, window: hour }]',
  async ({ send, statuses, clock }) => {
    assert.deepEqual(await statuses(3, 'POST /parcels', { body: parcel }), [201, 402, 402]);
    clock.advance(3_600_000);
    assert.deepEqual(await statuses(1, 'POST /parcels', { body: parcel }), [201]);
    // The hour and the day are both used up.
    assert.equal((await send('POST /parcels', { body: parcel })).headers.get('retry-after'), String(14 * 3600));
  },
);

withQuota(
  'a limit that is raised keeps what was used',
  '[{ per: everyone, limit: 1, window: day }]',
  async ({ statuses, replace }) => {
    assert.deepEqual(await statuses(2, 'GET /help'), [200, 402]);
    await replace('{ quota: [{ per: everyone, limit: 3, window: day }] }');
    assert.deepEqual(await statuses(3, 'GET /help'), [200, 200, 402]);
  },
);

test('quotas are never exceeded, and never short, under concurrency and over restarts', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-quota-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  let file = 0;
  const round = fc.record({ creates: fc.nat(6), reads: fc.nat(6), bad: fc.nat(3), restart: fc.boolean() });
  const model = fc.asyncProperty(
    fc.array(round, { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 1, max: 12 }),
    async (rounds, limit) => {
      const store = join(folder, `${file++}.sqlite`);
      const quota = `{ quota: [{ per: caller, on: [create parcel, read help], limit: ${limit}, window: month }] }`;
      let service = await serveWith(quota, { store } as never);
      let used = 0;
      for (const { creates, reads, bad, restart } of rounds) {
        const sent = [
          ...Array.from({ length: creates }, () => service.send('POST /parcels', { body: parcel })),
          ...Array.from({ length: reads }, () => service.send('GET /help')),
          ...Array.from({ length: bad }, () => service.send('POST /parcels', { body: { weight: 11 } })),
        ];
        const statuses = (await Promise.all(sent)).map(({ status }) => status);
        const good = statuses.filter((status) => status < 300).length;
        assert.equal(good, Math.min(creates + reads, limit - used));
        used += good;
        if (!restart) continue;
        await service.close();
        service = await serveWith(quota, { store } as never);
      }
      await service.close();
    },
  );
  await fc.assert(model, { numRuns: 8 });
});
