import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { statedValue } from '../src/parts/fact.ts';
import { parseBody } from '../src/verify/exchange/parse-body.ts';
import { askedKinds } from '../src/verify/model/asked-kinds.ts';
import { byRule } from '../src/verify/model/by-rule.ts';
import { Model } from '../src/verify/model/model.ts';
import { toldIn } from '../src/verify/trials/events/envelope.ts';

const specOf = (text: string) => check(parseDocument(text, 'meant.yaml')).spec;

const hooks = (list: string, envelope = '') => `
resources:
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri }, wanted: ${list} }
  item: { identifier: { field: id, generate: uuid }, fields: { id: string } }
endpoints: { POST /hooks: { does: create hook }, POST /items: { does: create item } }
events:
  delivery:
    webhook: { signature: none, headers: { X-Kind: event.kind }, subscribers: { resource: hook, url: url, events: wanted } }
    ${envelope}
  kinds: { item.made: { on: [create item], payload: item }, item.gone: { on: [delete item], payload: item } }
`;

test('a subscriber asks for every kind in the words that its list takes', () => {
  const asked = (list: string) => askedKinds(new Model(specOf(hooks(list)), [], ''), ['*']);
  assert.deepEqual(asked('[string]'), ['*']);
  assert.deepEqual(asked('{ type: array, items: { enum: [item.made, item.gone] } }'), ['item.made', 'item.gone']);
  assert.deepEqual(asked('{ type: array, items: { enum: [item.gone] } }'), ['item.gone']);
});

test('the kind of an event is read beside an envelope that does not say it', () => {
  const spec = specOf(hooks('[string]', 'envelope: none'));
  const come = (headers: Record<string, string>) => toldIn(spec, { headers, body: { id: '1' } }).kind;
  assert.equal(come({ 'x-kind': 'item.gone' }), 'item.gone');
  assert.equal(come({ event: 'item.made' }), 'item.made');
  assert.equal(come({}), undefined);
});

test('a body has no members but its own', () => {
  const body = parseBody('{"one":{"two":[{}]}}', 'application/json') as { readonly one: { readonly two: readonly object[] } };
  for (const map of [body, body.one, body.one.two[0]!]) assert.equal(Object.getPrototypeOf(map), null);
});

test('what is stated as it follows by rule is no other promise, and what is stated otherwise stays', () => {
  const spec = (request: string, response: string) =>
    byRule(
      specOf(`
resources: { item: { identifier: { field: id, generate: uuid }, fields: { id: string, name: { type: string, maxLength: 9 } }, required: [id, name] } }
endpoints:
  POST /items: { does: create item, request: ${request} }
  GET /items/{id}: { does: read item, response: ${response} }
`),
    );
  const standing = (request: string, response: string) => {
    const endpoints = statedValue(spec(request, response).endpoints.all) ?? {};
    return [endpoints['POST /items']?.request.standing, endpoints['GET /items/{id}']?.response.standing];
  };
  const usual =
    '{ type: object, properties: { name: { type: string, maxLength: 9 } }, required: [name], additionalProperties: false }';
  assert.deepEqual(standing(usual, '{ 200: item }'), ['open', 'open']);
  assert.deepEqual(standing(usual.replace('9', '8'), '{ 200: { shape: item, headers: { X-A: "\'a\'" } } }'), [
    'stated',
    'stated',
  ]);
  assert.deepEqual(standing(usual.replace('[name]', '[]'), '{ 202: item }'), ['stated', 'stated']);
});
