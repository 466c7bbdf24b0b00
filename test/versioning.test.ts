import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compileVersionList } from '../src/serve/exchange/compilation.ts';
import type { Caller } from '../src/serve/exchange/exchange.ts';
import { createValidator } from '../src/serve/http/ajv.ts';
import { openStore } from '../src/serve/service/open-store.ts';
import type { ServeOptions } from '../src/serve/service/service.ts';
import { example, serveText, specOf, type Versioned } from './versioning/service.ts';

const parcels = example('parcels.md');
const orders = readFileSync(new URL('./versioning/orders.yaml', import.meta.url), 'utf8');
const old = '2026-01-15';
const current = '2026-06-01';
const to = { name: 'Ann', street: 'Long Street 5', city: 'Bremen', country: 'DE' };
const as = (user: string, id = 'm1'): ServeOptions => ({ identify: (): Caller => ({ id, user, scopes: [] }) });

async function withParcels(run: (served: Versioned) => Promise<void>): Promise<void> {
  const served = await serveText(parcels.replace(/rate:\n(?: {2}- .*\n)+/, 'rate: none\n'), 'Parcels-Version', as('merchant'));
  try {
    await run(served);
  } finally {
    await served.service.close();
  }
}

async function withOrders(run: (served: Versioned) => Promise<void>, text = orders, options: ServeOptions = {}): Promise<void> {
  const handlers = { receipt: async ({ store }: { store: { list(name: string): Promise<unknown> } }) => store.list('order') };
  const served = await serveText(text, 'Orders-Version', { handlers, ...options } as ServeOptions);
  try {
    await run(served);
  } finally {
    await served.service.close();
  }
}

const violations = (body: { readonly [name: string]: unknown }) =>
  (body.violations as { path: string; found: string; expected: string }[]).map(({ path }) => path);

test('a parcel is booked, read, changed and bought in the older version, and is the same parcel in the newest', () =>
  withParcels(async ({ send }) => {
    const made = await send('POST /v1/parcels', { version: old, body: { to, weight: 500, reference: 'a' } });
    assert.equal(made.status, 201);
    assert.equal(made.body.weight, 500);
    assert.ok(!('weight_g' in made.body) && !('service' in made.body));
    const path = `/v1/parcels/${made.body.id}`;
    assert.equal(made.headers.location, path);
    const changed = await send(`PATCH ${path}`, { version: old, body: { weight: 700 } });
    assert.deepEqual([changed.status, changed.body.weight], [200, 700]);
    const bought = await send(`POST ${path}/buy`, { version: old });
    assert.equal(bought.body.price, 4);
    const newest = await send(`GET ${path}`);
    assert.deepEqual(
      [newest.body.weight_g, newest.body.service, newest.body.price, 'weight' in newest.body],
      [700, 'standard', 400, false],
    );
    assert.equal((await send(`GET ${path}`, { version: old })).body.price, 4);
  }));

test('what an older version cannot see stays as it was', () =>
  withParcels(async ({ send }) => {
    const made = await send('POST /v1/parcels', { body: { to, weight_g: 500, service: 'express' } });
    await send(`PATCH /v1/parcels/${made.body.id}`, { version: old, body: { weight: 600 } });
    const read = await send(`GET /v1/parcels/${made.body.id}`);
    assert.deepEqual([read.body.weight_g, read.body.service], [600, 'express']);
  }));

test('what is wrong with a request is said in the names of its version', () =>
  withParcels(async ({ send }) => {
    const post = (body: unknown, version?: string) =>
      send('POST /v1/parcels', { body, ...(version !== undefined && { version }) });
    assert.deepEqual(violations((await post({ to, weight: 0 }, old)).body), ['/weight']);
    assert.deepEqual(violations((await post({ to, weight_g: 500 }, old)).body), ['/weight', '/weight_g']);
    assert.deepEqual(violations((await post({ to, weight: 500 })).body), ['/weight_g', '/weight']);
    assert.deepEqual(violations((await post({ to, weight: 5, service: 'express' }, old)).body), ['/service']);
    const made = await post({ to, weight: 500, reference: 'same' }, old);
    const again = await post({ to, weight: 500, reference: 'same' }, old);
    assert.deepEqual([again.status, violations(again.body)], [409, ['/merchant', '/reference']]);
    const path = `/v1/parcels/${made.body.id}`;
    assert.deepEqual(violations((await send(`PATCH ${path}`, { version: old, body: { weight: 'x' } })).body), ['/weight']);
    assert.deepEqual(violations((await send(`PATCH ${path}`, { version: old, body: { weight_g: 5 } })).body), ['/weight_g']);
    assert.deepEqual(violations((await send(`PATCH ${path}`, { version: old, body: { weight: null } })).body), ['/weight']);
    assert.equal((await send(`PATCH ${path}`, { version: old, body: { price: 'ignored' } })).status, 200);
  }));

test('an answer names its version and varies with its header; an older one says what will become of it', () =>
  withParcels(async ({ send, clock }) => {
    const newest = await send('GET /v1/parcels');
    assert.equal(newest.headers['parcels-version'], current);
    assert.match(String(newest.headers.vary), /(^|, )Parcels-Version($|,)/);
    assert.equal(newest.headers.deprecation, undefined);
    const older = await send('GET /v1/parcels?limit=5', { version: old });
    assert.equal(older.headers['parcels-version'], old);
    assert.equal(older.headers.deprecation, `@${Date.parse('2026-06-01') / 1000}`);
    assert.equal(older.headers.sunset, 'Tue, 01 Jun 2027 00:00:00 GMT');
    assert.equal(
      older.headers.link,
      '<https://parcels.example/upgrade>; rel="deprecation", </v1/parcels?limit=5>; rel="successor-version"',
    );
    const nothing = await send('GET /v1/nothing', { version: old });
    assert.deepEqual([nothing.status, nothing.headers['parcels-version'], nothing.headers.vary], [404, old, 'Parcels-Version']);
    clock.advance(Date.parse('2027-06-01') - clock.now() - 1);
    assert.equal((await send('GET /v1/parcels', { version: old })).status, 200);
    clock.advance(1);
    const gone = await send('GET /v1/parcels', { version: old });
    assert.deepEqual([gone.status, gone.body.code, gone.headers['parcels-version']], [410, 'retired_version', old]);
    assert.equal((await send('GET /v1/parcels')).status, 200);
  }));

test('a version that is not listed is refused, once the path and the method are known to be right', () =>
  withParcels(async ({ send }) => {
    const unknown = await send('GET /v1/parcels', { version: '2026-02-30' });
    assert.deepEqual([unknown.status, unknown.body.code], [400, 'unknown_version']);
    assert.deepEqual(unknown.body.violations, [
      { in: 'header', path: 'Parcels-Version', found: '"2026-02-30"', expected: `one of ${old}, ${current}` },
    ]);
    assert.equal((await send('GET /v1/nothing', { version: 'x' })).status, 404);
    assert.equal((await send('PUT /v1/parcels', { version: 'x' })).status, 405);
    assert.equal((await send('GET /v1/parcels', { version: '' })).status, 400);
  }));

test('tags, keys and cursors of one version are none of another', () =>
  withOrders(async ({ send }) => {
    const body = { amount: 1, kind: 'normal' };
    const made = await send('POST /api/orders', { version: 'v1', body, headers: { 'Idempotency-Key': 'k' } });
    await send('POST /api/orders', { version: 'v1', body: { ...body, amount: 2 } });
    const replayed = await send('POST /api/orders', { version: 'v1', body, headers: { 'Idempotency-Key': 'k' } });
    assert.deepEqual([replayed.status, replayed.body.id, replayed.headers['orders-version']], [201, made.body.id, 'v1']);
    const other = await send('POST /api/orders', { version: 'v2', body, headers: { 'Idempotency-Key': 'k' } });
    assert.equal(other.body.code, 'reused');
    const path = `/api/orders/${made.body.id}`;
    const [tag1, tag5] = [
      (await send(`GET ${path}`, { version: 'v1' })).headers.etag as string,
      (await send(`GET ${path}`)).headers.etag as string,
    ];
    assert.notEqual(tag1, tag5);
    const patch = (tag: string) => send(`PATCH ${path}`, { version: 'v1', body: { amount: 3 }, headers: { 'If-Match': tag } });
    assert.equal((await patch(tag5)).status, 412);
    assert.equal((await patch(tag1)).status, 200);
    assert.equal((await send(`GET ${path}`, { version: 'v1', headers: { 'If-None-Match': tag1 } })).status, 200);
    const page = await send('GET /api/orders?limit=1', { version: 'v1' });
    assert.equal((await send(`GET /api/orders?limit=1&cursor=${page.body.next}`, { version: 'v1' })).status, 200);
    assert.equal((await send(`GET /api/orders?limit=1&cursor=${page.body.next}`, { version: 'v2' })).status, 400);
  }));

const sentV1 = {
  customer: 'c1',
  amount: 12.5,
  kind: 'normal',
  lines: [{ article: 'x' }],
  to: { street: 's', town: 't' },
  payment: { type: 'card', digits: '1234' },
  size: { height_mm: 7, width: 2 },
  legacy: 'dropped',
};

test('every kind of change is composed over five versions', () =>
  withOrders(async ({ send }) => {
    assert.equal((await send('POST /api/customers', { version: 'v3', body: { id: 'c1', name: 'Ann' } })).status, 201);
    const made = await send('POST /api/orders', { version: 'v1', body: sentV1 });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const path = `/api/orders/${made.body.id}?expand=customer`;
    const inV1 = {
      id: made.body.id,
      customer: { id: 'c1', name: 'Ann' },
      amount: 12.5,
      kind: 'normal',
      state: 'open',
      lines: [{ article: 'x' }],
      to: { street: 's', town: 't', country: 'DE' },
      payment: { type: 'card', digits: '1234' },
      size: { height_mm: 7, width: 2 },
      legacy: 'none',
    };
    assert.deepEqual((await send(`GET ${path}`, { version: 'v1' })).body, inV1);
    const { amount: _amount, ...rest } = inV1;
    const inV2 = { ...rest, total: 12.5, kind: 'standard' };
    assert.deepEqual((await send(`GET ${path}`, { version: 'v2' })).body, inV2);
    const inV3 = { ...inV2, total: 1250, lines: [{ article: 'x', quantity: 1 }], to: { street: 's', city: 't', country: 'DE' } };
    assert.deepEqual((await send(`GET ${path}`, { version: 'v3' })).body, inV3);
    const { total: _total, legacy: _legacy, ...above } = inV3;
    const inV4 = {
      ...above,
      total_cents: 1250,
      payment: { type: 'card', last4: '1234' },
      size: { height_mm: 70, width: 2 },
    };
    assert.deepEqual((await send(`GET ${path}`, { version: 'v4' })).body, inV4);
    assert.deepEqual((await send(`GET ${path}`)).body, { ...inV4, customer: { id: 'c1', full_name: 'Ann' }, priority: 1 });
  }));

test('a stated answer goes down by its shape, a handler answers in every version that has its endpoint', () =>
  withOrders(async ({ send }) => {
    const made = await send('POST /api/orders', { version: 'v1', body: { amount: 12.5, kind: 'normal' } });
    const summary = await send(`GET /api/orders/${made.body.id}/summary`, { version: 'v1' });
    assert.deepEqual([(summary.body.order as { amount: number }).amount, summary.body.total_cents], [12.5, 1250]);
    const receipts = await send('GET /api/receipts', { version: 'v4' });
    assert.deepEqual(
      (receipts.body as unknown as { total_cents: number }[]).map((order) => Object.keys(order).includes('priority')),
      [false],
    );
    const found = async (request: string, version: string) => (await send(request, { version })).status;
    assert.deepEqual([await found('GET /api/receipts', 'v3'), await found('GET /api/receipts', 'v5')], [404, 200]);
    assert.deepEqual([await found('GET /api/farewell', 'v4'), await found('GET /api/farewell', 'v5')], [200, 404]);
  }));

test('patches and replacements of an older version keep what it cannot see, and what reads as before', () =>
  withOrders(async ({ send }) => {
    const lines = [
      { article: 'x', quantity: 5 },
      { article: 'z', quantity: 2 },
    ];
    const body = {
      total_cents: 1250,
      kind: 'express',
      lines,
      note: 'hi',
      size: { height_mm: 75, width: 1 },
      to: { street: 's', city: 'c', country: 'FR' },
    };
    const made = await send('POST /api/orders', { body });
    const path = `/api/orders/${made.body.id}`;
    const newest = async () => (await send(`GET ${path}`)).body as unknown as typeof body;
    await send(`PATCH ${path}`, {
      version: 'v2',
      body: { lines: [{ article: 'z' }, { article: 'n' }], size: { width: 3 }, to: { town: 'd' } },
    });
    assert.deepEqual((await newest()).lines, [
      { article: 'z', quantity: 2 },
      { article: 'n', quantity: 1 },
    ]);
    assert.deepEqual((await newest()).size, { height_mm: 75, width: 3 });
    assert.deepEqual((await newest()).to, { street: 's', city: 'd', country: 'FR' });
    const { id: _id, state: _state, ...read } = (await send(`GET ${path}`, { version: 'v1' })).body;
    const before = await newest();
    assert.equal((await send(`PUT ${path}`, { version: 'v1', body: read })).status, 200);
    assert.deepEqual(await newest(), before);
    const less = { amount: 13, kind: 'express', size: { height_mm: 7 } };
    await send(`PUT ${path}`, { version: 'v1', body: less });
    const after = await newest();
    assert.deepEqual([after.total_cents, after.note, after.size, 'lines' in after], [1300, 'hi', { height_mm: 75 }, false]);
  }));

test('a patch in an older version that is no object is refused like one in the newest', () =>
  withOrders(async ({ send }) => {
    const made = await send('POST /api/orders', { version: 'v1', body: { amount: 1, kind: 'normal' } });
    const path = `PATCH /api/orders/${made.body.id}`;
    for (const body of [null, [], [1], 'x', 7]) {
      const [older, newest] = [await send(path, { version: 'v1', body }), await send(path, { body })];
      assert.deepEqual([older.status, older.body.code], [newest.status, newest.body.code], JSON.stringify(body));
      assert.ok(older.status >= 400 && older.status < 500, `${older.status}`);
    }
  }));

test('a member inside a value bears the name of its version, and is asked for by it', async () => {
  const text = `
title: Boxes
resources:
  box:
    identifier: { field: id, generate: uuid }
    fields: { id: string, size: { type: object, properties: { height_mm: integer, wide: boolean }, required: [height_mm], additionalProperties: false } }
    required: [id, size]
endpoints:
  POST /boxes: { does: create box }
  GET /boxes/{id}: { does: read box }
authentication: none
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { header: Version, default: current }
  changes: { v2: [{ rename: box.size.height, to: height_mm }] }
`;
  const { send, service } = await serveText(text, 'version');
  const made = await send('POST /boxes', { version: 'v1', body: { size: { height: 5, wide: true } } });
  assert.deepEqual([made.status, made.body.size], [201, { height: 5, wide: true }]);
  assert.deepEqual((await send(`GET /boxes/${made.body.id}`)).body.size, { height_mm: 5, wide: true });
  for (const [version, size, status] of [
    ['v1', {}, 422],
    ['v1', { height_mm: 5 }, 422],
    ['v1', { height: 'x' }, 422],
    ['v2', { height: 5 }, 422],
    ['v2', { height_mm: 5 }, 201],
  ] as const)
    assert.equal((await send('POST /boxes', { version, body: { size } })).status, status, JSON.stringify([version, size]));
  await service.close();
});

test('sort values that stand in a union bear the names of their version', () =>
  withOrders(
    async ({ send }) => {
      for (const amount of [3, 1, 2]) await send('POST /api/orders', { version: 'v1', body: { amount, kind: 'normal' } });
      const list = async (query: string, version: string) => {
        const { status, body } = await send(`GET /api/orders${query}`, { version });
        return status === 200 ? (body.data as { amount?: number }[]).map(({ amount }) => amount) : status;
      };
      assert.deepEqual(await list('?sort=amount', 'v1'), [1, 2, 3]);
      assert.deepEqual(await list('?sort=-amount', 'v1'), [3, 2, 1]);
      for (const word of ['total_cents', 'kind', 'amounts']) assert.equal(await list(`?sort=${word}`, 'v1'), 400, word);
    },
    orders.replace(
      'enum: [total_cents, -total_cents, kind, note, id]',
      'anyOf: [{ enum: [total_cents, -total_cents] }, { const: id }]',
    ),
  ));

test('filters, sort values and paths bear the names of their version', () =>
  withOrders(async ({ send }) => {
    for (const amount of [3, 1, 2])
      await send('POST /api/orders', { version: 'v1', body: { amount, kind: amount === 2 ? 'express' : 'normal' } });
    const list = async (query: string, version: string) => {
      const { status, body } = await send(`GET /api/orders${query}`, { version });
      return status === 200
        ? (body.data as { amount?: number; total?: number }[]).map(({ amount, total }) => amount ?? total)
        : status;
    };
    assert.deepEqual(await list('?amount=2', 'v1'), [2]);
    assert.deepEqual(await list('?amount=2.001', 'v1'), []);
    assert.deepEqual(await list('?sort=-amount', 'v1'), [3, 2, 1]);
    assert.deepEqual(await list('?kind=normal&sort=amount', 'v1'), [1, 3]);
    assert.deepEqual(await list('?at_least=200&sort=-total', 'v3'), [300, 200]);
    for (const query of [
      '?at_least=2',
      '?sort=kind',
      '?sort=total',
      '?sort=note',
      '?note=a',
      '?total_cents=200',
      '?kind=standard',
    ])
      assert.equal(await list(query, 'v1'), 400, query);
    const named = await send('GET /api/orders?amount=x', { version: 'v1' });
    assert.deepEqual(violations(named.body), ['amount']);
    const kinds = async (kind: string) =>
      ((await send(`GET /api/orders-of/${kind}`, { version: 'v1' })).body.data as unknown[]).length;
    assert.deepEqual([await kinds('normal'), await kinds('standard'), await kinds('express')], [2, 0, 1]);
    assert.equal(((await send('GET /api/orders?state=open', { version: 'v4' })).body.data as unknown[]).length, 3);
  }));

test('a value that fits its version and not the newest is refused in the words of its version', () =>
  withOrders(async ({ send }) => {
    const post = async (amount: number) =>
      (await send('POST /api/orders', { version: 'v1', body: { amount, kind: 'normal' } })).body;
    assert.deepEqual((await post(20_000)).violations, [
      { in: 'body', path: '/amount', found: '20000', expected: 'what is at most 1000000 in the newest version' },
    ]);
    assert.deepEqual((await post(1e300)).violations, [
      { in: 'body', path: '/amount', found: '1e+300', expected: 'a value that the newest version can hold' },
    ]);
  }));

const selecting = (select: string) => orders.replace(/select: .*/, `select: ${select}`);

test('a version is chosen by a path, which addresses then hold', () =>
  withOrders(async ({ send }) => {
    const made = await send('POST /api/v1/orders', { body: { amount: 1, kind: 'normal' } });
    assert.deepEqual([made.status, made.headers.location], [201, `/api/v1/orders/${made.body.id}`]);
    assert.equal((await send(`GET /api/v3/orders/${made.body.id}`)).body.total, 100);
    assert.equal((await send(`GET /api/orders/${made.body.id}`)).body.total_cents, 100);
    const older = await send('GET /api/v1/orders?limit=1');
    assert.match(String(older.headers.link), /<\/api\/v5\/orders\?limit=1>; rel="successor-version"/);
    assert.equal((await send('GET /api/v9/orders')).body.code, 'unknown_version');
    assert.equal((await send('GET /api/v9/nothing')).body.code, 'missing');
    assert.equal((await send('GET /api/v4/farewell')).status, 200);
  }, selecting('{ path: "/{version}", default: current }')));

test('a version is chosen by a query parameter, which needs no naming', () =>
  withOrders(async ({ send }) => {
    const made = await send('POST /api/orders?version=v1', { body: { amount: 1, kind: 'normal' } });
    assert.equal(made.status, 201);
    assert.equal((await send(`GET /api/orders/${made.body.id}`)).body.amount, 1);
    assert.equal((await send(`GET /api/orders/${made.body.id}?version=v5`)).body.total_cents, 100);
    assert.equal((await send('GET /api/orders?version=v9')).body.code, 'unknown_version');
    assert.equal((await send('GET /api/orders?version=v1&version=v5')).body.code, 'unknown_version');
    assert.match(String((await send('GET /api/orders')).headers.link), /<\/api\/orders\?version=v5>; rel="successor-version"/);
  }, selecting('{ query: version, default: oldest }')));

test('where a version has to be said, a request without one is refused', () =>
  withOrders(async ({ send }) => {
    assert.equal((await send('GET /api/orders')).body.code, 'unknown_version');
    assert.equal((await send('GET /api/nothing')).body.code, 'missing');
    assert.equal((await send('GET /api/orders', { version: 'v2' })).status, 200);
  }, selecting('{ header: Orders-Version, default: none }')));

const pinned = selecting('{ header: Orders-Version, default: pinned }').replace(
  'authentication: none',
  'authentication: { schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }, accept: [key], permissions: none, origins: none }',
);

test('a caller is pinned to the version of its first call, over a restart and a new version', async () => {
  const store = openStore(':memory:');
  let id = 'early';
  const options: ServeOptions = { store, identify: () => ({ id, user: 'buyer', scopes: [] }) };
  const versionOf = async (send: Versioned['send'], version?: string) =>
    (await send('GET /api/orders', version === undefined ? {} : { version })).headers['orders-version'];
  await withOrders(
    async ({ send }) => {
      assert.equal(await versionOf(send, 'v2'), 'v2');
      assert.equal(await versionOf(send), 'v2');
      assert.equal((await send('GET /api/receipts')).status, 404);
      assert.equal((await send('GET /api/receipts', { version: 'v5' })).status, 200);
      id = 'middle';
      assert.equal(await versionOf(send), 'v5');
    },
    pinned,
    options,
  );
  const newer = pinned
    .replace('v5: { current: true }', 'v5: {}\n    v6: { current: true }')
    .replace('    v5:\n      - { add: order.note }', '    v6: none\n    v5:\n      - { add: order.note }');
  await withOrders(
    async ({ send }) => {
      assert.equal(await versionOf(send), 'v5');
      id = 'late';
      assert.equal(await versionOf(send), 'v6');
      id = 'early';
      assert.equal(await versionOf(send), 'v2');
      assert.equal(await versionOf(send, 'v6'), 'v6');
      assert.equal(await versionOf(send), 'v2');
    },
    newer,
    options,
  );
  await store.close();
});

test('versions before one that does not say what it changed answer 501, the others are served', () =>
  withOrders(
    async ({ send }) => {
      const doubt = await send('GET /api/orders', { version: 'v2' });
      assert.equal(doubt.status, 501);
      assert.deepEqual(
        (doubt.body.open as { kind: string; subject: string }[]).map(({ kind, subject }) => [kind, subject]),
        [['version identifiers', 'changes of v3']],
      );
      assert.deepEqual(
        [(await send('GET /api/orders', { version: 'v3' })).status, (await send('GET /api/orders')).status],
        [200, 200],
      );
    },
    orders.replace(/ {4}v3:\n(?: {6}- .*\n)+/, '    v3: !open "What did v3 change?"\n'),
  ));

test('deprecated endpoints and fields say so where they are used', () =>
  withOrders(
    async ({ send }) => {
      const deprecation = async (request: string, body?: unknown) =>
        (await send(request, { version: 'v5', ...(body !== undefined && { body }) })).headers.deprecation;
      assert.equal(await deprecation('GET /api/farewell'), undefined);
      assert.equal(await deprecation('GET /api/orders/none'), undefined);
      assert.equal(await deprecation('GET /api/orders'), '@1767225600');
      assert.equal(await deprecation('GET /api/orders?note=a'), '@1767225600');
      assert.equal(await deprecation('POST /api/customers', { id: 'c', full_name: 'n', secret: 's' }), '@1704067200');
      assert.equal(await deprecation('POST /api/customers', { id: 'd', full_name: 'n' }), undefined);
      assert.equal(await deprecation('GET /api/receipts'), '@1735689600');
    },
    orders
      .replace('note: { type: string, maxLength: 20 }', 'note: { type: string, maxLength: 20, deprecated: 2026-01-01 }')
      .replace(
        'fields: { id: string, full_name: string }',
        'fields: { id: string, full_name: { type: string, deprecated: true }, secret: { type: string, writeOnly: true, deprecated: { deprecated: 2024-01-01 } } }',
      )
      .replace(
        'GET /receipts: { does: handler receipt,',
        'GET /receipts: { does: handler receipt, deprecated: { deprecated: 2025-01-01, sunset: 2028-01-01 },',
      ),
  ));

test('values of events go down to the version of their subscriber', () => {
  const spec = specOf(orders);
  const versions = compileVersionList(spec, createValidator(), () => 0);
  const row = { id: 'o', total_cents: 1250, kind: 'standard', state: 'sent', priority: 1 };
  assert.deepEqual(versions?.down('v1', { resource: 'order' })?.(row), {
    id: 'o',
    amount: 12.5,
    kind: 'normal',
    state: 'shipped',
    legacy: 'none',
  });
  assert.deepEqual(
    versions?.down('v3', { type: 'object', properties: { order: { resource: 'order' } } })?.({ order: row, at: 1 }),
    {
      order: { id: 'o', total: 1250, kind: 'standard', state: 'shipped', legacy: 'none' },
      at: 1,
    },
  );
  assert.equal(versions?.down('v5', { resource: 'order' }), undefined);
  assert.equal(versions?.down('v1', { type: 'string' }), undefined);
});

test('a document without versions has one version without a name', async () => {
  const text = orders.slice(0, orders.indexOf('versioning:'));
  await withOrders(async ({ send }) => {
    const made = await send('POST /api/orders', { version: 'v1', body: { total_cents: 1, kind: 'standard' } });
    assert.deepEqual([made.status, made.headers['orders-version'], made.headers.vary], [201, undefined, undefined]);
  }, text);
});

test('the library’s older version has its own words for kinds, terms and copies, also where a loan shows its copy', async () => {
  const identify = (): Caller => ({ id: 'l1', user: 'librarian', scopes: ['catalogue', 'members', 'loans'] });
  const { send, service } = await serveText(example('library.md'), 'Library-Version', { identify });
  const older = '2025-09';
  try {
    const book = {
      isbn: '9780000000001',
      title: 'On Bees',
      contributors: [{ kind: 'person', name: 'Ann', role: 'author' }],
      kind: 'normal',
      language: 'en',
      currency: 'EUR',
      shelf_note: 'kept as it came',
    };
    assert.equal((await send('PUT /v2/books/9780000000001', { version: older, body: book })).status, 201);
    const read = await send('GET /v2/books/9780000000001');
    assert.deepEqual([read.body.kind, read.body.shelf_note], ['print', 'kept as it came']);
    const count = async (query: string, version: string) => {
      const { status, body } = await send(`GET /v2/books?${query}`, { version });
      return status === 200 ? (Object.values(body).find(Array.isArray) ?? []).length : status;
    };
    assert.deepEqual([await count('kind=normal', older), await count('kind=print', older)], [1, 400]);
    assert.deepEqual([await count('kind=print', '2026-03'), await count('kind=normal', '2026-03')], [1, 400]);
    const copy = await send('POST /v2/books/9780000000001/copies', { version: older, body: { shelf: 'A 1', colour: 'red' } });
    assert.deepEqual([copy.status, copy.body.colour], [201, 'unknown'], JSON.stringify(copy.body));
    assert.match(String(copy.headers.deprecation), /^@/);
    const address = { street: 'Long Street 5', city: 'Bremen', country: 'DE' };
    const member = await send('POST /v2/members', { body: { name: 'Ann', email: 'ann@example.com', address } });
    assert.equal(member.status, 201, JSON.stringify(member.body));
    const loan = await send('POST /v2/loans', { version: older, body: { copy: copy.body.number, member: member.body.id } });
    assert.equal(loan.status, 201, JSON.stringify(loan.body));
    const shown = loan.body.copy as { colour: string; number: number };
    assert.deepEqual([shown.colour, shown.number, 'term' in loan.body], ['unknown', copy.body.number, false]);
    const newest = await send(`GET /v2/loans/${loan.body.id}`);
    assert.deepEqual([newest.body.term, 'colour' in (newest.body.copy as object)], ['normal', false]);
    assert.equal((await send('GET /v2/me', { version: older })).status, 404);
  } finally {
    await service.close();
  }
});
