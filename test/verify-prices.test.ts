import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Bent, openStand, type StandOptions } from './verify/stand.ts';

/** Papers under names that callers choose, of a finish for good, and orders that are sorted by what the service reckons. */
const prices = `title: Prices
purpose: { purpose: Sells papers., users: { miller: Sells them. } }
resources:
  paper:
    identifier: { field: name }
    fields:
      name: { type: string, pattern: "^[a-z]{4,12}$" }
      finish: { enum: [rough, laid], immutable: true }
      grams: { type: integer, minimum: 30, maximum: 600 }
    required: [name, finish, grams]
  order:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      sheets: { type: integer, minimum: 25, maximum: 4000, multipleOf: 25 }
      note: { type: string, maxLength: 80 }
      pence: { type: integer, readOnly: true, set: { write: next.sheets * 12 } }
    required: [id, sheets, pence]
states: { paper: none, order: none }
endpoints:
  PUT /papers/{name}: { does: upsert paper }
  GET /papers/{name}: { does: read paper }
  POST /orders: { does: create order }
  GET /orders: { does: list order, parameters: { by: { in: query, sorts: { price: pence } }, find: { in: query, type: string, search: [note] } } }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all paper, all order], to: miller }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
limits: { rate: none, pagination: none }
versioning: none
`;

async function told(only: readonly string[], options: StandOptions = {}) {
  const stand = await openStand(prices, options);
  try {
    const { breaches, facts } = await stand.verify({ only, seed: 4 });
    const looks = facts.flatMap(({ evidence }) => (evidence?.looks ?? []).flatMap(({ name, isMet }) => (isMet ? [name] : [])));
    return { broken: [...new Set(breaches.map(({ kind, reason }) => `${kind}: ${reason}`))].sort(), looks };
  } finally {
    await stand.close();
  }
}

test('a list that is sorted by what the service reckons is looked at with rows that differ by it', async () => {
  const right = await told(['endpoints/lists']);
  assert.deepEqual(right.broken, []);
  assert.ok(right.looks.includes('sorted by -price'));
  const bend = ({ target }: Bent): Partial<Bent> => ({ target: target.replace('by=-price', 'by=price') });
  assert.ok((await told(['endpoints/lists'], { bend })).broken.includes('parameters: sorted by -price'));
});

test('a list of rows that do not differ shows no order', async () => {
  const flat = (text: string) => ({ text: text.replaceAll(/"pence":\d+/g, '"pence":300') });
  const { looks } = await told(['endpoints/lists'], { spoil: ({ text }) => flat(text) });
  assert.ok(!looks.includes('sorted by price'), looks.join());
});

test('an upsert that replaces what is there for good is a breach', async () => {
  const right = await told(['resources/fixed']);
  assert.deepEqual(right.broken, []);
  assert.ok(right.looks.includes('another value, not taken at PUT /papers/{name}'));
  const served = prices.replace(', immutable: true', '');
  assert.ok((await told(['resources/fixed'], { served })).broken.includes('allowed values: immutable'));
});

test('a search of several words that finds what has one of them is a breach, in one field too', async () => {
  assert.deepEqual((await told(['endpoints/lists'])).broken, []);
  const bend = ({ target }: Bent): Partial<Bent> => ({ target: target.replace(/find=[^&]*?(?:%20|\+)/, 'find=') });
  assert.ok((await told(['endpoints/lists'], { bend })).broken.includes('parameters: chosen by find'));
});
