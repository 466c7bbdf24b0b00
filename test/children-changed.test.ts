import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { startTrial } from './events/trial.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { tryService } from './serving/tried.ts';
import { orderLines } from './values/order-lines.ts';

type Row = Readonly<Record<string, unknown>>;
interface Order extends Row {
  readonly id: string;
  readonly lines: readonly (Row & { readonly id: string })[];
}

async function shop(document = orderLines) {
  const service = await tryService(document);
  for (const id of ['a', 'b', 'c']) await service.send('POST', '/products', { body: { id, price: 3 } });
  const made = await service.send('POST', '/orders', {
    body: {
      customer: 'x',
      lines: [
        { product: 'a', position: 1 },
        { product: 'b', position: 2, quantity: 4 },
      ],
      tags: [],
    },
  });
  const order = made.json as unknown as Order;
  const at = `/orders/${order.id}`;
  const [one, two] = order.lines.map(({ id }) => id) as [string, string];
  const read = async () => (await service.send('GET', at)).json as unknown as Order;
  const code = async (method: string, body: unknown, headers: Record<string, string> = {}) => {
    const { status, json } = await service.send(method, at, { body, headers });
    const { code: name, violations } = json as { code?: string; violations?: { path: string }[] };
    return [status, ...(name === undefined ? [] : [name]), ...(violations ?? []).map(({ path }) => path)];
  };
  return { ...service, order, at, one, two, read, code };
}

const shown = ({ lines }: Order) =>
  lines.map(({ id, product, position, quantity, amount, state }) => [id, product, position, quantity, amount, state]);

test('the list that is sent is the list that is wanted: named ones are changed, others made, those left out deleted', async () => {
  const { send, at, one, two, order, close, failures } = await shop();
  const { status, json } = await send('PATCH', at, {
    body: {
      lines: [
        { id: two, quantity: 5 },
        { product: 'c', position: 7 },
      ],
    },
  });
  assert.equal(status, 200);
  const changed = json as unknown as Order;
  const third = changed.lines[1]?.id as string;
  assert.deepEqual(shown(changed), [
    [two, 'b', 2, 5, 10, 'open'],
    [third, 'c', 7, 1, 7, 'open'],
  ]);
  assert.deepEqual([changed.total, changed.size, changed.changes, changed.customer], [17, 2, 1, 'x']);
  assert.notEqual(third, one);
  assert.deepEqual((await send('GET', at)).json, json);
  assert.equal(((await send('GET', `/lines?order=${order.id}`)).json as Row[]).length, 2);
  assert.deepEqual(failures, []);
  await close();
});

test('without the member nothing of them changes in a patch; a replacement without them has none', async () => {
  const { send, at, order, read, close, code } = await shop();
  assert.deepEqual(shown((await send('PATCH', at, { body: { customer: 'y' } })).json as unknown as Order), shown(order));
  assert.deepEqual(await code('PATCH', { lines: null }), [422, 'invalid', '/lines']);
  assert.deepEqual(await code('PUT', { customer: 'z' }), [422, 'invalid', '/lines']);
  assert.deepEqual(shown(await read()), shown(order));
  const none = (await send('PUT', at, { body: { customer: 'z', lines: [] } })).json as unknown as Order;
  assert.deepEqual([none.lines, none.total, none.customer], [[], 0, 'z']);
  await close();
});

test('a list that is there already as it is sent changes nothing', async () => {
  const { send, at, one, two, read, close } = await shop();
  const before = await read();
  const { json } = await send('PATCH', at, { body: { lines: [{ id: one }, { id: two, quantity: 4 }] } });
  assert.deepEqual([json, (json as Row).changes], [before, 0]);
  await close();
});

test('what is read may be sent back as it is', async () => {
  const { send, at, read, close } = await shop();
  await send('PATCH', at, { body: { tags: [{ name: 'red' }] } });
  const before = await read();
  for (const method of ['PATCH', 'PUT']) {
    const { status, json } = await send(method, at, { body: before });
    assert.deepEqual([status, json], [200, before], method);
  }
  await close();
});

test('whoever is not shown the children leaves none of them out', async () => {
  const service = await tellService(
    guarded
      .replace('lines: { children: line.order,', 'lines: { children: line.order, visible: [clerk],')
      .replace('{ allow: [list line], to: clerk }', '{ allow: [list line], to: [buyer, clerk] }')
      .replace('to: [buyer, clerk] }', 'to: clerk }\n    - { allow: [all order], fields: [id, customer, lines], to: buyer }'),
  );
  const [ann, cas] = [caller('buyer', 'ann'), caller('clerk', 'cas')];
  await service.as(cas, 'POST', '/products', { id: 'a', price: 1 });
  const body = { customer: 'x', lines: [{ product: 'a', position: 1 }], tags: [{ name: 'red' }] };
  const { id } = (await service.as(cas, 'POST', '/orders', body)).json as unknown as Order;
  assert.equal((await service.as(ann, 'PATCH', `/orders/${id}`, { lines: [], tags: [], customer: 'y' })).status, 200);
  assert.equal((await service.as(ann, 'PUT', `/orders/${id}`, { customer: 'z', lines: [] })).status, 200);
  const { customer, lines, tags } = (await service.as(cas, 'GET', `/orders/${id}`)).json as unknown as Order;
  assert.deepEqual([customer, lines.length, (tags as Row[]).length], ['z', 1, 1]);
  await service.close();
});

test('who names what is no child of the row is told the same, whatever it is', async () => {
  const { send, code, one, order, read, close } = await shop();
  const other = (await send('POST', '/orders', { body: { customer: 'o', lines: [{ product: 'a', position: 1 }], tags: [] } }))
    .json as unknown as Order;
  const theirs = other.lines[0]?.id;
  for (const id of [theirs, 'li_none', '', 7])
    assert.deepEqual(await code('PATCH', { lines: [{ id: one }, { id, quantity: 2 }] }), [422, 'invalid', '/lines/1/id']);
  assert.deepEqual(await code('PATCH', { lines: [{ id: one }, { id: one }] }), [422, 'invalid', '/lines/1/id']);
  assert.deepEqual(shown(await read()), shown(order));
  const { json } = await send('GET', `/orders/${other.id}`);
  assert.deepEqual(shown(json as unknown as Order), shown(other));
  await close();
});

test('what is wrong with any of them is told with what is wrong with the row, and nothing is changed', async () => {
  const { send, code, one, two, read, order, close } = await shop();
  assert.deepEqual(
    await code('PATCH', {
      customer: '',
      lines: [{ id: one, quantity: 0 }, { position: 95, product: 'a' }, 'b', { id: two, product: 'a', colour: 'red' }],
    }),
    [422, 'invalid', '/customer', '/lines/0/quantity', '/lines/1/position', '/lines/2', '/lines/3/colour', '/lines/3/product'],
  );
  assert.deepEqual(await code('PATCH', { lines: [{ product: 'q', position: 4 }] }), [404, 'no_such', '/lines/0/product']);
  assert.deepEqual(await code('PATCH', { lines: Array.from({ length: 6 }, (_, at) => ({ product: 'a', position: at + 1 })) }), [
    422,
    'invalid',
    '/lines',
  ]);
  assert.deepEqual(await code('PATCH', { lines: [{ id: one }, { id: two, position: 1 }] }), [
    409,
    'line_taken',
    '/lines/1/position',
  ]);
  await send('POST', '/claims', { body: { line: one } });
  assert.deepEqual(await code('PATCH', { customer: 'y', lines: [{ id: two, quantity: 9 }] }), [409, 'held']);
  assert.deepEqual(await read(), { ...order, changes: 0 });
  await close();
});

test('what one of them lets go another may have', async () => {
  const { send, at, two, close } = await shop();
  const { json } = await send('PATCH', at, {
    body: {
      lines: [
        { id: two, position: 1 },
        { product: 'a', position: 2 },
      ],
    },
  });
  assert.deepEqual(
    (json as unknown as Order).lines.map(({ id, position }) => [id === two, position]),
    [
      [true, 1],
      [false, 2],
    ],
  );
  await close();
});

test('a state that is sent with a child is its transition, or refused in its place', async () => {
  const { send, at, one, two, code, close } = await shop();
  const { json } = await send('PATCH', at, { body: { lines: [{ id: one, state: 'packed' }, { id: two }] } });
  assert.deepEqual(
    (json as unknown as Order).lines.map(({ state }) => state),
    ['packed', 'open'],
  );
  assert.deepEqual(await code('PATCH', { lines: [{ id: one, state: 'sent' }, { id: two }] }), [409, 'wrong_state']);
  await close();
});

test("children whose clients name them are changed where they are its own, and made where they are nobody's", async () => {
  const { send, at, code, close } = await shop();
  const body = { tags: [{ name: 'red' }, { name: 'blue', colour: 'b' }] };
  assert.equal((await send('PATCH', at, { body })).status, 200);
  const { json } = await send('PATCH', at, { body: { tags: [{ name: 'red', colour: 'r' }] } });
  assert.deepEqual(
    ((json as Row).tags as Row[]).map(({ name, colour }) => [name, colour]),
    [['red', 'r']],
  );
  await send('POST', '/orders', { body: { customer: 'o', lines: [], tags: [{ name: 'green' }] } });
  assert.deepEqual(await code('PATCH', { tags: [{ name: 'green' }] }), [409, 'taken', '/tags/0/name']);
  await close();
});

test('a stale tag changes nothing, and a key is answered again', async () => {
  const { send, at, one, two, code, read, close } = await shop();
  const tag = (await send('GET', at)).headers.etag as string;
  const body = { lines: [{ id: one, remark: 'soft' }, { id: two }, { product: 'c', position: 3 }] };
  const headers = { 'Idempotency-Key': 'k1', 'If-Match': tag };
  const first = await send('PATCH', at, { body, headers });
  assert.equal(first.status, 200);
  const again = await send('PATCH', at, { body, headers });
  assert.deepEqual(again.json, first.json);
  assert.equal((await read()).size, 3);
  assert.deepEqual(await code('PATCH', { lines: [] }, { 'If-Match': tag }), [412, 'stale']);
  assert.equal((await read()).size, 3);
  await close();
});

const versions = `
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Shop-Version, default: current }
  guarantee: additive
  changes: { "2": [{ rename: line.item, to: product }, { rename: order.items, to: lines }, { add: line.quantity, default: 1 }, { map: line.position, was: string, down: "string(value)", up: "int(value)" }] }
`;

test('an older version changes children by the names and values that it knows, and what it does not see stays', async () => {
  const { send, at, one, two, close } = await shop(orderLines.replace('unique: [[order, position]]', 'unique: []') + versions);
  const headers = { 'Shop-Version': '1' };
  const body = {
    items: [
      { id: two, position: '7' },
      { item: 'c', position: '9' },
    ],
  };
  const { status, json } = await send('PATCH', at, { headers, body });
  assert.deepEqual(
    [status, ((json as Row).items as Row[]).map(({ item, position }) => [item, position])],
    [
      200,
      [
        ['b', '7'],
        ['c', '9'],
      ],
    ],
  );
  const newest = (await send('GET', at)).json as unknown as Order;
  assert.deepEqual(
    newest.lines.map(({ quantity, position }) => [quantity, position]),
    [
      [4, 7],
      [1, 9],
    ],
  );
  const wrong = async (items: unknown, method = 'PATCH') => {
    const told = (await send(method, at, { headers, body: { customer: 'x', items } })).json as {
      violations?: { path: string }[];
    };
    return told.violations?.map(({ path }) => path);
  };
  assert.deepEqual(await wrong([{ id: one }]), ['/items/0/id']);
  assert.deepEqual(await wrong([{ id: two, position: 'x' }]), ['/items/0/position']);
  assert.deepEqual(await wrong([{ id: two, quantity: 2 }]), ['/items/0/quantity']);
  assert.deepEqual(await wrong([{ item: 'q', position: '1' }]), ['/items/0/item']);
  const { json: put } = await send('PUT', at, { headers, body: { customer: 'z', items: [{ id: two, position: '3' }] } });
  assert.deepEqual(
    ((put as Row).items as Row[]).map(({ position }) => position),
    ['3'],
  );
  assert.deepEqual(
    ((await send('GET', at)).json as unknown as Order).lines.map(({ quantity }) => quantity),
    [4],
  );
  await close();
});

test('each is an operation of its own: its events tell of it, and nothing tells of a change that was refused', async (context) => {
  const trial = await startTrial(context, orderLines);
  const told = async () => (await trial.outbox((outbox) => outbox.events(0, 200))).map(({ kind }) => kind);
  const send = async (method: string, at: string, body: unknown) =>
    (await trial.send('', method, at, body)).json as unknown as Order & { readonly code?: string };
  for (const id of ['a', 'b', 'c']) await send('POST', '/products', { id, price: 3 });
  const order = await send('POST', '/orders', {
    customer: 'x',
    lines: [
      { product: 'a', position: 1 },
      { product: 'b', position: 2 },
    ],
  });
  const [one, two] = order.lines.map(({ id }) => id);
  const before = (await told()).length;
  await send('PATCH', `/orders/${order.id}`, {
    lines: [
      { id: one, state: 'packed' },
      { product: 'c', position: 8 },
    ],
  });
  assert.deepEqual((await told()).slice(before), ['order.changed', 'line.gone', 'line.changed', 'line.packed', 'line.made']);
  assert.equal((await send('PATCH', `/orders/${order.id}`, { lines: [{ id: two }] })).code, 'invalid');
  assert.equal((await told()).length, before + 5);
});

const guarded = orderLines
  .replace('remark: string', 'remark: string\n      seller: { type: string, readOnly: true, set: { create: caller.id } }')
  .replace(
    'authentication: none',
    `authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}", placeholder: "{key}" } }
  permissions:
    - { allow: [all order, all product, add line, create claim], to: [buyer, clerk] }
    - { allow: [list line, update line, send line], to: buyer, if: "has(resource.seller) && resource.seller == caller.id" }
    - { allow: [list line], to: clerk }`,
  );

test('a caller changes and leaves out what it is shown; what it may not read stays, and is as unknown', async () => {
  const service = await tellService(guarded);
  const [ann, bob, cas] = [caller('buyer', 'ann'), caller('buyer', 'bob'), caller('clerk', 'cas')];
  await service.as(ann, 'POST', '/products', { id: 'a', price: 1 });
  const made = (await service.as(ann, 'POST', '/orders', { customer: 'x', lines: [{ product: 'a', position: 1 }] }))
    .json as unknown as Order;
  const at = `/orders/${made.id}`;
  const hers = made.lines[0]?.id;
  const { status, json } = await service.as(bob, 'PATCH', at, { lines: [{ product: 'a', position: 2 }] });
  assert.deepEqual([status, (json as unknown as Order).lines.map(({ position }) => position)], [200, [2]]);
  assert.equal((await service.as(bob, 'PATCH', at, { lines: [{ id: hers, quantity: 2 }] })).status, 422);
  const all = (await service.as(cas, 'GET', at)).json as unknown as Order;
  assert.deepEqual(
    all.lines.map(({ position, seller, quantity }) => [position, seller, quantity]),
    [
      [1, 'ann', 1],
      [2, 'bob', 1],
    ],
  );
  await service.close();
});

test('children that changes take are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Orders\n${orderLines}`, 'orders.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});

test('what is sent of children differs by what is done to their row', () => {
  const document = parseDocument(`title: Orders\n${orderLines}`, 'orders.yaml');
  const { components, paths } = exported(document, 'openapi') as unknown as {
    components: {
      schemas: Record<string, { properties: Record<string, { items: { anyOf?: unknown[]; properties?: object } }> }>;
    };
    paths: Record<
      string,
      {
        put: {
          requestBody: { content: Record<string, { schema: { properties: Record<string, { items: { anyOf?: unknown[] } }> } }> };
        };
      }
    >;
  };
  const { OrderCreate, OrderUpdate } = components.schemas;
  assert.deepEqual(Object.keys(OrderCreate?.properties.lines?.items.properties ?? {}), [
    'product',
    'position',
    'quantity',
    'remark',
  ]);
  const [made, changed] = (OrderUpdate?.properties.lines?.items.anyOf ?? []) as { required?: string[]; properties: object }[];
  assert.deepEqual([made?.required, changed?.required], [['product', 'position'], ['id']]);
  assert.ok(Object.keys(changed?.properties ?? {}).includes('state'));
  const put = paths['/orders/{id}']?.put.requestBody.content['application/json']?.schema;
  assert.equal(put?.properties.lines?.items.anyOf?.length, 2);
});
