import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypescript } from '../src/convert/typescript.ts';
import { check, parseDocument, serve } from '../src/index.ts';

/** Values with a shape in place of fields: a word with bounds, a union, one that holds itself, and a chain of names. */
const text = `
title: Values
authentication: none
resources:
  amount: { shape: { type: integer, minimum: 0 } }
  price: { shape: amount }
  card: { identifier: none, fields: { kind: { const: card }, number: string }, required: [kind, number] }
  cash: { identifier: none, fields: { kind: { const: cash }, coins: { type: integer, default: 3 } }, required: [kind] }
  source: { shape: { oneOf: [card, cash] } }
  tree: { shape: { type: array, items: tree } }
  note: { shape: { type: object, properties: { about: { ref: sale } } } }
  sale:
    identifier: { field: id, generate: uuid }
    fields: { id: string, price: price, source: source, tree: tree, note: note, dear: { type: boolean, readOnly: true, set: { create: "next.price > 100" } } }
    required: [id, price]
endpoints:
  POST /sales: { does: create sale, response: { 201: { shape: sale, headers: { X-Price: { shape: price, data: result.price }, X-Later: { shape: string } } } } }
  GET /sales:
    does: list sale
    parameters:
      price: { in: query }
      near: { in: query, style: deepObject, shape: { type: object, properties: { of: price }, required: [of] } }
`;
const document = parseDocument(text, 'values.yaml');

async function answer(method: string, path: string, body?: unknown): Promise<Response> {
  const service = await serve(document);
  const request = new Request(`http://localhost${path}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const response = await service.fetch(request);
  await service.close();
  return response;
}

test('a document with values that have a shape is sound', () => {
  assert.deepEqual(
    check(document)
      .findings.filter(({ severity }) => severity === 'error')
      .map(({ message }) => message),
    [],
  );
});

test('what is sent is held to the shape that the name stands for, and filled with the defaults of the form that it has', async () => {
  const made = await answer('POST', '/sales', { price: 200, source: { kind: 'cash' }, tree: [[], [[]]] });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get('x-price'), '200');
  assert.equal(made.headers.get('x-later'), null);
  const { id, ...rest } = (await made.json()) as Record<string, unknown>;
  assert.equal(typeof id, 'string');
  assert.deepEqual(rest, { price: 200, source: { kind: 'cash', coins: 3 }, tree: [[], [[]]], dear: true });
});

const wrong: readonly (readonly [says: string, body: unknown, status: number])[] = [
  ['a bound', { price: -1 }, 422],
  ['a union', { price: 1, source: { kind: 'card' } }, 422],
  ['what holds itself', { price: 1, tree: [['leaf']] }, 422],
  ['a reference inside', { price: 1, note: { about: 'nobody' } }, 422],
];

for (const [says, body, status] of wrong) {
  test(`${says} behind a name is not passed by`, async () => {
    assert.equal((await answer('POST', '/sales', body)).status, status);
  });
}

test('types follow the names', () => {
  const types = toTypescript(check(document).spec);
  for (const line of ['export type Amount = number;', 'export type Source = Card | Cash;', 'export type Tree = Tree[];']) {
    assert.ok(types.includes(line), line);
  }
});

test('a shape that names nothing is found where it stands', () => {
  const { findings } = check(parseDocument('resources: { price: { shape: { oneOf: [amuont, string] } } }', 'a.yaml'));
  assert.deepEqual(
    findings.filter(({ severity }) => severity === 'error').map(({ code, at }) => `${code} ${at}`),
    ['shapes/unknown-resource /resources/price/shape/oneOf/0'],
  );
});
