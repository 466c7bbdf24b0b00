import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { toJsonSchemas } from '../src/convert/json-schema.ts';
import { toTypescript } from '../src/convert/typescript.ts';
import type { JsonMap } from '../src/document/document.ts';
import { check, parseDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, type ToldService, tellService } from './serving/callers.ts';
import { chosenBefore, chosenFields } from './values/chosen-fields.ts';

type Fields = Readonly<Record<string, unknown>>;

const [ann, bob, eve] = [caller('buyer', 'ann'), caller('buyer', 'bob'), caller('clerk', 'eve')];

const sent = {
  title: 'bread',
  friend: 'bob',
  to: { street: 'High Street', city: 'Leeds' },
  tags: [{ word: 'fresh', weight: 3 }, { word: 'soon' }],
  more: { grams: 500, slices: 12 },
  lines: [
    { position: 1, text: 'one' },
    { position: 2, text: 'two' },
  ],
};

async function open() {
  const service = await tellService(chosenFields + chosenBefore);
  for (const name of ['ann', 'bob', 'eve']) await service.as(eve, 'POST', '/people', { name, mail: `${name}@x`, note: 'kind' });
  const { json, text, status } = await service.as(ann, 'POST', '/orders', sent);
  assert.equal(status, 201, text);
  const whole = json as Fields & { readonly id: string };
  const read = async (who: typeof ann, query: string, headers = {}) =>
    (await service.as(who, 'GET', `/orders/${whole.id}${query}`, undefined, headers)).json as Fields;
  return { service, whole, read };
}

/** What is wrong with the parameter, as it is told. */
async function refused(service: ToldService, who: typeof ann, target: string, headers = {}): Promise<unknown> {
  const { status, json } = await service.as(who, 'GET', target, undefined, headers);
  assert.equal(status, 400, JSON.stringify(json));
  return (json as { violations: unknown }).violations;
}

test('an answer shows the fields that were chosen, and the identifier', async () => {
  const { service, whole, read } = await open();
  const { id } = whole;
  assert.deepEqual(await read(ann, '?fields=title'), { id, title: 'bread' });
  assert.deepEqual(await read(ann, '?fields=title,%20by,'), { id, by: 'ann', title: 'bread' });
  assert.deepEqual(await read(ann, '?fields=title&fields=by'), { id, by: 'ann', title: 'bread' });
  assert.deepEqual(await read(ann, '?fields='), { id });
  assert.deepEqual(await read(ann, '?fields=id'), { id });
  // Into values, lists of them, and what is not stated further.
  assert.deepEqual(await read(ann, '?fields=to.city,tags.word'), {
    id,
    to: { city: 'Leeds' },
    tags: [{ word: 'fresh' }, { word: 'soon' }],
  });
  assert.deepEqual(await read(ann, '?fields=to.city,to'), { id, to: sent.to });
  assert.deepEqual(await read(eve, '?fields=more.grams'), { id, more: { grams: 500 } });
  assert.deepEqual(service.failures, []);
  await service.service.close();
});

test('paths lead into references that are shown, into expanded ones, and into children with their envelope', async () => {
  const { service, whole, read } = await open();
  const { id } = whole;
  assert.deepEqual(await read(ann, '?fields=friend.mail'), { id, friend: { name: 'bob', mail: 'bob@x' } });
  assert.deepEqual(await read(ann, '?fields=by.mail&expand=by'), { id, by: { name: 'ann', mail: 'ann@x' } });
  // What is not expanded is the identifier still.
  assert.deepEqual(await read(ann, '?fields=by.mail'), { id, by: 'ann' });
  const { lines } = (await read(ann, '?fields=lines.data.text')) as { lines: { data: Fields[] } };
  assert.deepEqual(Object.keys(lines), ['data']);
  assert.deepEqual(
    lines.data.map((one) => [Object.keys(one), one.text]),
    [
      [['id', 'text'], 'one'],
      [['id', 'text'], 'two'],
    ],
  );
  assert.deepEqual((await read(ann, '?fields=lines.has_more')).lines, { has_more: false });
  await service.service.close();
});

test('what a caller may not see is refused as what there is not, and nothing is shown that would not be shown without', async () => {
  const { service, whole, read } = await open();
  const target = `/orders/${whole.id}`;
  const told = (found: string) => [
    { in: 'query', path: 'fields', found: JSON.stringify(found), expected: 'a field that is shown here' },
  ];
  assert.deepEqual(await refused(service, ann, `${target}?fields=nothing`), told('nothing'));
  // Visible to others; left out by every rule; never shown again; hidden within what is shown.
  for (const name of [
    'cost',
    'more',
    'token',
    'by.note',
    'friend.note',
    'lines.data.none',
    'to.country',
    'title.x',
    'constructor',
    '__proto__',
    'to.city.x',
  ])
    assert.deepEqual(await refused(service, ann, `${target}?fields=${name}`), told(name), name);
  assert.deepEqual(await refused(service, ann, `${target}?fields=title,cost,x`), [...told('cost'), ...told('x')]);
  // Sent and handed on, and never kept.
  assert.deepEqual(await refused(service, eve, `${target}?fields=door`), told('door'));
  assert.deepEqual(await read(eve, '?fields=cost,title'), { id: whole.id, title: 'bread' });
  // Of this row another rule shows less.
  assert.deepEqual(await read(bob, '?fields=title,by'), { id: whole.id, title: 'bread' });
  // It is told of an order that there is not as well.
  assert.deepEqual(await refused(service, ann, '/orders/ord_none?fields=cost'), told('cost'));
  const many = Array.from({ length: 101 }, () => 'title').join(',');
  assert.deepEqual(await refused(service, ann, `${target}?fields=${many}`), [
    { in: 'query', path: 'fields', found: '101 names', expected: 'up to 100 names' },
  ]);
  await service.service.close();
});

test('lists, creations and changes show what is chosen, and where it is not offered the parameter is unknown', async () => {
  const { service, whole } = await open();
  const { id } = whole;
  const listed = await service.as(ann, 'GET', '/orders?fields=title&title=bread');
  assert.deepEqual(listed.json, { data: [{ id, title: 'bread' }], next: null });
  const expanded = await service.as(ann, 'GET', '/orders?fields=friend.mail&expand=by');
  assert.deepEqual((expanded.json as { data: unknown }).data, [{ id, friend: { name: 'bob', mail: 'bob@x' } }]);
  // What is shown once is chosen where it is shown, and lost where it is not.
  const made = (await service.as(eve, 'POST', '/orders?fields=token', { title: 'milk' })).json as Fields;
  assert.deepEqual(Object.keys(made), ['id', 'token']);
  const changed = await service.as(ann, 'PATCH', `/orders/${id}?fields=by`, { title: 'rolls' });
  assert.deepEqual([changed.json, changed.headers['x-title']], [{ id, by: 'ann' }, 'rolls']);
  // Nothing is stored of an order that was asked for wrongly.
  const bad = await service.as(ann, 'PATCH', `/orders/${id}?fields=cost`, { title: 'buns' });
  assert.deepEqual(
    [bad.status, (await service.as(ann, 'GET', `/orders/${id}?fields=title`)).json],
    [400, { id, title: 'rolls' }],
  );
  for (const target of [`/orders/${id}/short?fields=title`]) await refused(service, ann, target);
  assert.equal((await service.as(eve, 'DELETE', `/orders/${id}?fields=title`)).status, 400);
  await service.service.close();
});

test('a chosen part has a tag of its own that lets its reader change the row, and is fresh until the row is another', async () => {
  const { service, whole } = await open();
  const target = `/orders/${whole.id}`;
  const tag = async (query: string) => (await service.as(ann, 'GET', `${target}${query}`)).headers.etag ?? '';
  const [row, part, other] = [await tag(''), await tag('?fields=title'), await tag('?fields=by')];
  assert.equal(new Set([row, part, other]).size, 3);
  const fresh = await service.as(ann, 'GET', `${target}?fields=title`, undefined, { 'if-none-match': part });
  assert.equal(fresh.status, 304);
  assert.equal((await service.as(ann, 'GET', `${target}?fields=by`, undefined, { 'if-none-match': part })).status, 200);
  const patch = (headers: Record<string, string>) => service.as(ann, 'PATCH', target, { title: 'buns' }, headers);
  assert.equal((await patch({ 'if-match': part })).status, 200);
  assert.equal((await patch({ 'if-match': part })).status, 412);
  await service.service.close();
});

test('names are those of the version that is asked for', async () => {
  const { service, whole, read } = await open();
  const old = { version: '1' };
  assert.deepEqual(await read(ann, '?fields=name', old), { id: whole.id, name: 'bread' });
  assert.deepEqual(await read(ann, '?fields=friend.name', old), { id: whole.id, friend: { name: 'bob' } });
  for (const name of ['title', 'cost', 'friend.mail'])
    assert.equal((await refused(service, ann, `/orders/${whole.id}?fields=${name}`, old)) !== undefined, true, name);
  assert.equal((await service.as(ann, 'GET', `/orders/${whole.id}?fields=name`)).status, 400);
  await service.service.close();
});

test('choices are read back from OpenAPI as they were stated', () => {
  const document = parseDocument(`title: Orders\n${chosenFields}${chosenBefore}`, 'orders.yaml');
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const to of Object.keys(editions)) {
    const openapi = exported(document, to);
    assert.deepEqual(readBack(openapi), plain(document.tree));
    const parametersAt = (path: string) => JSON.stringify((openapi.paths as Readonly<Record<string, unknown>>)[path]);
    assert.match(parametersAt('/orders/{id}'), /parameters\/Fields"/);
    assert.doesNotMatch(parametersAt('/orders/{id}/short'), /Fields/);
  }
  assert.match(toTypescript(readSpec(document)), /fields\?: string \| string\[\]/);
});

test('what is answered fits what is exported of it, with a choice and without; a row that lacks what was not left out does not', async () => {
  const { service, whole } = await open();
  const document = parseDocument(`title: Orders\n${chosenFields}${chosenBefore}`, 'orders.yaml');
  const openapi = exported(document);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(plain(openapi), 'export');
  const fits = (path: string, method: string, status: string) => {
    const at = `/paths/${path.replaceAll('/', '~1')}/${method}/responses/${status}/content/application~1json/schema`;
    const holds = ajv.compile({ $ref: `export#${encodeURI(at)}` });
    return (value: unknown) => holds(value) || JSON.stringify(holds.errors);
  };
  const [one, page, made, short, changed] = [
    fits('/orders/{id}', 'get', '200'),
    fits('/orders', 'get', '200'),
    fits('/orders', 'post', '201'),
    fits('/orders/{id}/short', 'get', '200'),
    fits('/orders/{id}', 'patch', '200'),
  ];
  const queries = ['', 'fields=', 'fields=title', 'fields=to.city,tags.weight', 'fields=lines.data.text', 'fields=friend.mail'];
  for (const query of [...queries, 'fields=by.mail&expand=by']) {
    const { json } = await service.as(ann, 'GET', `/orders/${whole.id}?${query}`);
    assert.equal(one(json), true, `${query}: ${one(json)}`);
    const { json: listed } = await service.as(ann, 'GET', `/orders?${query}`);
    assert.equal(page(listed), true, `${query}: ${page(listed)}`);
    if (query.includes('city')) assert.notEqual(short(json), true, query);
  }
  assert.equal(made((await service.as(ann, 'POST', '/orders?fields=token', { title: 'milk' })).json), true);
  assert.equal(short((await service.as(ann, 'GET', `/orders/${whole.id}/short`)).json), true);
  // Of an answer that states the row itself something may be left out as well.
  for (const query of queries) {
    const { json, status } = await service.as(ann, 'PATCH', `/orders/${whole.id}?${query}`, { title: 'buns' });
    assert.deepEqual([status, changed(json)], [200, true], query);
  }
  for (const wrong of [{ title: 'bread' }, { id: whole.id, titel: 'bread' }, { id: whole.id, to: { city: 5 } }])
    assert.notEqual(one(wrong), true, JSON.stringify(wrong));
  const { $defs } = toJsonSchemas(readSpec(document)) as {
    readonly $defs: Readonly<Record<string, { readonly required?: unknown }>>;
  };
  assert.deepEqual([$defs.order_chosen?.required, $defs.address_chosen?.required], [['id'], undefined]);
  assert.deepEqual(plain(($defs.update_order_200 ?? {}) as JsonMap), {
    anyOf: [{ $ref: '#/$defs/order' }, { $ref: '#/$defs/order_chosen' }],
  });
  await service.service.close();
});

test('a client that chooses is typed by every answer of success that is stated: chosen rows, nothing, another row', () => {
  const text = `title: Orders\n${chosenFields}${chosenBefore}`.replace(
    'response: { 200: { shape: order, headers: { X-Title: result.title } } }',
    'response: { 200: [{ shape: order, if: "has(resource.to)" }, { shape: order }], 204: none }',
  );
  const document = parseDocument(text, 'orders.yaml');
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  const types = toTypescript(readSpec(document));
  assert.match(types, /export type UpdateOrderChosen = ChosenFields<Order, 'id'> \| undefined;/);
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
