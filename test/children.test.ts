import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { tryService } from './serving/tried.ts';
import { invoices } from './values/invoices.ts';

type Row = Readonly<Record<string, unknown>>;
interface Invoice extends Row {
  readonly id: string;
  readonly lines: readonly Row[];
  readonly notes: { readonly object: string; readonly data: readonly Row[]; readonly has_more: boolean };
}
interface Refused {
  readonly code: string;
  readonly violations: readonly { readonly path: string }[];
}

async function shop(document = invoices) {
  const service = await tryService(document);
  for (const [id, price] of [
    ['a', 3],
    ['b', 5],
  ])
    await service.send('POST', '/products', { body: { id, price } });
  const sell = (lines: unknown, customer = 'x') => service.send('POST', '/invoices', { body: { customer, lines } });
  return { ...service, sell };
}

const two = [
  { product: 'b', position: 2 },
  { product: 'a', position: 1, quantity: 4 },
];

test('an invoice is made with its lines, each as its own creation would make it, and shows them in their order', async () => {
  const { send, sell, close } = await shop();
  const { status, json } = await sell(two);
  const made = json as unknown as Invoice;
  assert.equal(status, 201);
  const shown = made.lines.map(({ product, position, quantity, amount, state, invoice }) => [
    product,
    position,
    quantity,
    amount,
    state,
    invoice === made.id,
  ]);
  assert.deepEqual(shown, [
    ['a', 1, 4, 4, 'open', true],
    ['b', 2, 1, 2, 'open', true],
  ]);
  assert.equal(made.total, 6);
  // They are rows like any other, which are shown as they are by now.
  assert.equal((await send('POST', `/lines/${made.lines[0]?.id}/pay`)).status, 200);
  const read = (await send('GET', `/invoices/${made.id}`)).json as unknown as Invoice;
  assert.equal(read.lines[0]?.state, 'paid');
  const listed = (await send('GET', '/invoices')).json as unknown as Invoice[];
  assert.deepEqual(listed, [read]);
  await send('DELETE', `/invoices/${made.id}`);
  assert.deepEqual((await send('GET', '/lines')).json, []);
  await close();
});

test('what is wrong with an invoice and with its lines is told together, each at its place', async () => {
  const { sell, close } = await shop();
  const paths = async (lines: unknown, customer = '') => {
    const { status, json } = await sell(lines, customer);
    const { violations } = json as unknown as Refused;
    return [status, ...violations.map(({ path }) => path)];
  };
  assert.deepEqual(await paths(undefined), [422, '/customer', '/lines']);
  assert.deepEqual(
    await paths([
      { product: 'a', position: 0 },
      { position: 95, colour: 'red' },
    ]),
    [422, '/customer', '/lines/0/position', '/lines/1/product', '/lines/1/colour', '/lines/1/position'],
  );
  assert.deepEqual(await paths([{ product: 'a', position: 1 }, 'b'], 'x'), [422, '/lines/1']);
  assert.deepEqual(await paths([], 'x'), [422, '/lines']);
  const missing = [
    { product: 'c', position: 1 },
    { product: 'a', position: 2 },
    { product: 'd', position: 3 },
  ];
  assert.deepEqual(await paths(missing, 'x'), [404, '/lines/0/product', '/lines/2/product']);
  await close();
});

test('where one line is refused nothing is there, neither the invoice nor the lines before it', async () => {
  const { send, sell, close } = await shop();
  const { status, json } = await sell([
    { product: 'a', position: 1 },
    { product: 'b', position: 1 },
  ]);
  const refused = json as unknown as Refused;
  assert.deepEqual(
    [status, refused.code, refused.violations.map(({ path }) => path)],
    [409, 'line_taken', ['/lines/1/position']],
  );
  assert.deepEqual((await send('GET', '/invoices')).json, []);
  assert.deepEqual((await send('GET', '/lines')).json, []);
  await close();
});

test('children in an envelope say whether there are more, and those of a patch are passed over', async () => {
  const { send, sell, close } = await shop();
  const made = (await sell(two)).json as unknown as Invoice;
  assert.deepEqual(made.notes, { object: 'list', data: [], has_more: false });
  for (const id of ['k', 'l', 'm']) await send('POST', '/notes', { body: { id, invoice: made.id, text: id } });
  const { json } = await send('PATCH', `/invoices/${made.id}`, { body: { customer: 'y', lines: [], notes: {} } });
  const changed = json as unknown as Invoice;
  assert.deepEqual(
    changed.notes.data.map(({ id }) => id),
    ['m', 'l'],
  );
  assert.deepEqual([changed.customer, changed.notes.has_more, changed.lines.length], ['y', true, 2]);
  await close();
});

const guarded = invoices
  .replace(
    'text: { type: string, minLength: 1 }',
    'text: { type: string, minLength: 1 }\n      seller: { type: string, visible: none }',
  )
  .replace(
    'state: { type: string, readOnly: true }',
    '$&\n      seller: { type: string, readOnly: true, set: { create: caller.id } }',
  )
  .replace(
    'authentication: none',
    `authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:32}", placeholder: "{key}" } }
  permissions:
    - { allow: [all invoice, all product, create note], to: seller }
    - { allow: [list line, pay line], to: seller, if: "has(resource.seller) && resource.seller == caller.id && resource.position == 1" }
    - { allow: [read invoice], to: other }`,
  );

test('of rows that have a reading of their own, a caller is shown those that it may read, and whoever sends them makes them', async () => {
  const service = await tellService(guarded);
  const [ann, bob] = [caller('seller', 'ann'), caller('other', 'bob')];
  for (const id of ['a', 'b']) await service.as(ann, 'POST', '/products', { id, price: 2 });
  const { status, json } = await service.as(ann, 'POST', '/invoices', { customer: 'x', lines: two });
  assert.equal(status, 201);
  const made = json as unknown as Invoice;
  assert.deepEqual(
    made.lines.map(({ position, seller }) => [position, seller]),
    [[1, 'ann']],
  );
  await service.as(ann, 'POST', '/notes', { id: 'n', invoice: made.id, text: 'n', seller: 'cas' });
  const read = (await service.as(bob, 'GET', `/invoices/${made.id}`)).json as unknown as Invoice;
  assert.deepEqual([read.lines, read.notes.data], [[], [{ id: 'n', invoice: made.id, text: 'n' }]]);
  await service.close();
});

const versions = `
versioning:
  versions: { "1": {}, "2": { current: true } }
  select: { header: Shop-Version, default: current }
  guarantee: additive
  changes: { "2": [{ rename: line.item, to: product }, { rename: invoice.items, to: lines }] }
`;

test('an older version makes and shows children by the names that it knows', async () => {
  const { send, close } = await shop(invoices + versions);
  const headers = { 'Shop-Version': '1' };
  const body = { customer: 'x', items: [{ item: 'a', position: 3, amount: 9 }] };
  const { status, json } = await send('POST', '/invoices', { headers, body });
  assert.equal(status, 201);
  const [item] = (json as { items: Row[] }).items;
  assert.deepEqual([item?.item, item?.amount, item?.position], ['a', 3, 3]);
  const wrong = await send('POST', '/invoices', { headers, body: { customer: 'x', items: [{ product: 'a', position: 3 }] } });
  assert.deepEqual(
    (wrong.json as unknown as Refused).violations.map(({ path }) => path),
    ['/items/0/item', '/items/0/product'],
  );
  const gone = await send('POST', '/invoices', { headers, body: { customer: 'x', items: [{ item: 'q', position: 3 }] } });
  assert.deepEqual(
    (gone.json as unknown as Refused).violations.map(({ path }) => path),
    ['/items/0/item'],
  );
  await close();
});

test('children are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Invoices\n${invoices}`, 'invoices.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});

test('what is sent of children and what is shown of them are two schemas', () => {
  const document = parseDocument(`title: Invoices\n${invoices}`, 'invoices.yaml');
  const { components } = exported(document, 'openapi') as unknown as {
    components: { schemas: Record<string, { properties: Record<string, Record<string, unknown>>; required: string[] }> };
  };
  const { Invoice, InvoiceCreate } = components.schemas;
  assert.deepEqual(Invoice?.properties.lines?.items, { $ref: '#/components/schemas/Line' });
  const sent = InvoiceCreate?.properties.lines as { items: { properties: object }; minItems: number; maxItems: number };
  assert.deepEqual(Object.keys(sent.items.properties), ['product', 'position', 'quantity']);
  assert.deepEqual([sent.minItems, sent.maxItems, InvoiceCreate?.required], [1, 5, ['customer', 'lines']]);
});
