import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { orderWords, wholeOrder } from '../src/parts/errors.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { caller, tellService } from './serving/callers.ts';
import { desks } from './values/desks.ts';

const clerk = caller('clerk', 'c');
const guest = caller('guest', 'g');

async function codes(text: string): Promise<Record<string, string>> {
  const { as, close } = await tellService(text);
  const { id } = (await as(clerk, 'POST', '/loans', { title: 'one' })).json as { id: string };
  const other = (await as(clerk, 'POST', '/loans', { title: 'two' })).json as { id: string };
  await as(clerk, 'POST', `/loans/${other.id}/close`, { why: 'done' });
  const code = async (...sent: Parameters<typeof as>) => ((await as(...sent)).json as { code?: string }).code ?? 'none';
  const told = {
    'nobody, with a wrong parameter': await code(undefined, 'GET', '/loans?colour=red'),
    'nobody, with a body that is none': await code(undefined, 'POST', '/loans', '{"title":'),
    'nobody, and no row': await code(undefined, 'GET', '/loans/loan_none'),
    'a guest, and no row': await code(guest, 'PATCH', '/loans/loan_none', { title: 'x' }),
    'a guest, and a row': await code(guest, 'PATCH', `/loans/${id}`, { title: 'x' }),
    'a clerk, a wrong body and no row': await code(clerk, 'PATCH', '/loans/loan_none', '{"title":'),
    'an empty title where it is closed': await code(clerk, 'PATCH', `/loans/${other.id}`, { title: '' }),
    'no reason where it is closed': await code(clerk, 'POST', `/loans/${other.id}/close`, {}),
    'another tag, where it is closed': await code(clerk, 'PATCH', `/loans/${other.id}`, { title: 'x' }, { 'if-match': '"x"' }),
    'another tag, and an empty title': await code(clerk, 'PATCH', `/loans/${id}`, { title: '' }, { 'if-match': '"x"' }),
    'what is right': await code(clerk, 'PATCH', `/loans/${id}`, { title: 'three' }),
  };
  await close();
  return told;
}

test('a request is refused in the order that is stated, and else in that of section 6', async () => {
  const stated = await codes(desks);
  assert.deepEqual(stated, {
    'nobody, with a wrong parameter': 'wrong_parameter',
    'nobody, with a body that is none': 'unreadable',
    'nobody, and no row': 'unknown',
    'a guest, and no row': 'missing',
    'a guest, and a row': 'forbidden',
    'a clerk, a wrong body and no row': 'unreadable',
    'an empty title where it is closed': 'not_now',
    'no reason where it is closed': 'not_now',
    'another tag, where it is closed': 'not_now',
    'another tag, and an empty title': 'changed',
    'what is right': 'none',
  });
  const usual = {
    ...stated,
    'nobody, with a wrong parameter': 'unknown',
    'nobody, with a body that is none': 'unknown',
    'a guest, and no row': 'forbidden',
    'an empty title where it is closed': 'invalid',
    'no reason where it is closed': 'invalid',
    'another tag, where it is closed': 'changed',
  };
  for (const order of ['', '  order: any\n']) assert.deepEqual(await codes(desks.replace(/ {2}order: .*\n/, order)), usual);
  const rowFirst = await codes(desks.replace(/order: .*/, 'order: [caller, row, body, user, request, state]'));
  assert.equal(rowFirst['a clerk, a wrong body and no row'], 'missing');
});

/** Shelves that are put where they are, by a clerk alone; whether there is one is looked at before anything else. */
const shelves = `
title: Shelves
purpose: { users: { clerk: Puts them., guest: Looks at them. } }
resources:
  shelf:
    identifier: { field: name, generate: client }
    fields: { name: { type: string, pattern: "^[a-z]{1,9}$" }, width: { type: integer, minimum: 1 } }
    required: [name, width]
states: none
endpoints:
  PUT /shelves/{name}: { does: upsert shelf }
  GET /shelves/{name}: { does: read shelf }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  accept: [key]
  permissions: [{ allow: [upsert shelf], to: clerk }, { allow: [read shelf], to: [clerk, guest] }]
errors:
  payload: problem
  codes:
    missing: { status: 404, when: [resource.missing, route.unknown] }
    forbidden: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    unreadable: { status: 400, when: request.malformed }
    invalid: { status: 422, when: request.invalid }
  order: [caller, row, user]
`;

test('a row that is put where there is none is not missing, wherever the row stands in the order', async () => {
  const { as, close } = await tellService(shelves);
  const told = [
    await as(guest, 'PUT', '/shelves/upper', { width: 4 }),
    await as(clerk, 'PUT', '/shelves/upper', '{"width":'),
    await as(clerk, 'PUT', '/shelves/upper', { width: 0 }),
    await as(guest, 'GET', '/shelves/upper'),
    await as(clerk, 'PUT', '/shelves/upper', { width: 4 }),
  ].map(({ status }) => status);
  await close();
  assert.deepEqual(told, [403, 400, 422, 404, 201]);
});

test('steps that are named stand in the places that they have in section 6', () => {
  assert.deepEqual(wholeOrder([]), orderWords);
  assert.deepEqual(wholeOrder(['parameters', 'caller']), [
    ...['parameters', 'accept', 'body', 'caller', 'rates', 'user'],
    ...['row', 'precondition', 'request', 'state'],
  ]);
});

test('an order is a fact of the ledger where it is stated, and nothing open where it is not', () => {
  const facts = (text: string) =>
    check(parseDocument(`title: Desks\n${text}`, 'desks.yaml'))
      .ledger.facts.filter(({ kind, subject }) => kind === 'conditions' && subject === 'order')
      .map(({ standing }) => standing);
  assert.deepEqual(
    [facts(desks), facts(desks.replace(/order: .*/, 'order: any')), facts(desks.replace(/ {2}order: .*\n/, ''))],
    [['stated'], ['any'], []],
  );
});

test('an order is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(`title: Desks\n${desks}`, 'desks.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
