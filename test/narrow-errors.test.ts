import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { orders } from './values/refused-orders.ts';

const document = parseDocument(`title: Orders\n${orders}`, 'orders.yaml');

async function open(text = orders) {
  const { service, send, clock, close } = await tryService(text);
  const keyOf = async (user: string, input: { readonly scopes?: string[]; readonly expiresMs?: number } = {}) => {
    const made = await service.administer('keys add', { user, id: `${user}-1`, scopes: ['orders'], ...input });
    return (made as { readonly secret: string }).secret;
  };
  const told = async (method: string, path: string, key?: string, body?: unknown) => {
    const headers = key === undefined ? {} : { 'x-key': key };
    const { status, json } = await send(method, path, { headers, ...(body !== undefined && { body }) });
    const { code, message, param, id } = json as { code?: string; message?: string; param?: string; id?: string };
    return { status, code, message, param, id };
  };
  return { keyOf, told, clock, close };
}

test('of several things that are wrong in a body, the first that was sent names the refusal', async () => {
  const { keyOf, told, close } = await open();
  const key = await keyOf('customer');
  const tell = async (body: unknown) => {
    const { status, code, message } = await told('POST', '/orders', key, body);
    return [status, code, message];
  };
  assert.deepEqual(await tell({ title: 'Emma', copies: 0, extra: 1 }), [422, 'parameter_invalid', 'copies is 0, not at least 1']);
  assert.deepEqual(await tell({ extra: 1, title: 'Emma', copies: 0 }), [
    400,
    'parameter_unknown',
    'Received unknown parameter: extra',
  ]);
  assert.deepEqual(await tell({ title: 7, copies: 'two' }), [400, 'parameter_invalid_type', 'title is 7, not a string']);
  assert.deepEqual(await tell({ copies: 'two', title: 7 }), [400, 'parameter_invalid_type', 'copies is "two", not an integer']);
  assert.deepEqual(await tell({ title: 'Emma' }), [400, 'parameter_missing', 'copies is missing: an integer']);
  // What is missing was sent nowhere: what was sent comes before it.
  assert.deepEqual((await tell({ owner: 'me', title: 'Emma' })).slice(0, 2), [422, 'parameter_fixed']);
  assert.deepEqual(await tell([]), [400, 'parameter_invalid_type', ' is a list of 0, not an object']);
  await close();
});

test('a patch is refused by what is wrong in it', async () => {
  const { keyOf, told, close } = await open();
  const key = await keyOf('customer');
  const { id } = await told('POST', '/orders', key, { title: 'Emma', copies: 1 });
  const codes = [];
  for (const body of [{ title: null }, { nothing: 1 }, { copies: 'a' }, { copies: 99 }, { id: 'ord_1' }, { note: null }])
    codes.push((await told('PATCH', `/orders/${id}`, key, body)).code);
  assert.deepEqual(codes, [
    'parameter_missing',
    'parameter_unknown',
    'parameter_invalid_type',
    'parameter_invalid',
    'parameter_fixed',
    undefined,
  ]);
  await close();
});

test('a caller is told whether a credential is missing, unknown or over', async () => {
  const { keyOf, told, clock, close } = await open();
  const key = await keyOf('customer', { expiresMs: 60_000 });
  const codes = [(await told('GET', '/orders')).code, (await told('GET', '/orders', 'k_nobody')).code];
  assert.equal((await told('GET', '/orders', key)).status, 200);
  clock.advance(60_000);
  assert.deepEqual([...codes, (await told('GET', '/orders', key)).code], ['key_missing', 'key_unknown', 'key_expired']);
  await close();
});

test('a caller is told whether its user, its scopes or the row is in the way', async () => {
  const { keyOf, told, close } = await open();
  const [customer, plainer, clerk] = [await keyOf('customer'), await keyOf('customer', { scopes: [] }), await keyOf('clerk')];
  const { id } = await told('POST', '/orders', customer, { title: 'Emma', copies: 1 });
  const codes = [
    (await told('DELETE', `/orders/${id}`, clerk)).code,
    (await told('POST', '/orders', plainer, { title: 'Emma', copies: 1 })).code,
    (await told('PATCH', `/orders/${id}`, clerk, { note: 'gift' })).code,
  ];
  assert.deepEqual(codes, ['wrong_role', 'wrong_scope', 'wrong_order']);
  await close();
});

test('an address, a head and a body that are too large have codes of their own', async () => {
  const { service, send, close } = await tryService(orders);
  const made = await service.administer('keys add', { user: 'customer', id: 'c', scopes: ['orders'] });
  const key = (made as { readonly secret: string }).secret;
  const told = async (path: string, headers: Readonly<Record<string, string>> = {}, body?: unknown) => {
    const sent = { headers: { 'x-key': key, ...headers }, ...(body !== undefined && { body }) };
    const { status, json } = await send(body === undefined ? 'GET' : 'POST', path, sent);
    return [status, (json as { code: string }).code];
  };
  assert.deepEqual(await told(`/orders?a=${'x'.repeat(3000)}`), [414, 'long_address']);
  assert.deepEqual(await told('/orders', { 'x-more': 'x'.repeat(9000) }), [431, 'large_head']);
  assert.deepEqual(await told('/orders', {}, { title: 'x'.repeat(20_000) }), [413, 'large_body']);
  await close();
});

test('a narrower condition without a code is answered by the general one', async () => {
  const general = orders
    .replace(/ +parameter_(missing|unknown|invalid_type|fixed).*\n/g, '')
    .replace('when: request.invalid.value', 'when: request.invalid')
    .replace(/ +(key_unknown|key_expired).*\n/g, '')
    .replace('when: caller.unknown.missing', 'when: caller.unknown')
    .replace(/ +(wrong_scope|wrong_order).*\n/g, '')
    .replace('when: caller.forbidden.user', 'when: caller.forbidden');
  const { keyOf, told, close } = await open(general);
  const key = await keyOf('customer', { scopes: [] });
  const codes = [
    (await told('PATCH', '/orders/ord_1', key, {})).code,
    (await told('POST', '/orders', key, {})).code,
    (await told('GET', '/orders', 'k_nobody')).code,
    (await told('POST', '/orders', await keyOf('customer'), {})).message,
  ];
  assert.deepEqual(codes, ['missing', 'wrong_role', 'key_missing', 'title is nothing, not a string']);
  await close();
});

test('where each way of being refused has a code, the general condition is not open', () => {
  const open = (text: string) =>
    check(parseDocument(`title: Orders\n${text}`, 'orders.yaml'))
      .ledger.facts.filter(({ kind, standing }) => kind === 'conditions' && standing === 'open')
      .map(({ subject }) => subject);
  assert.deepEqual(open(orders), []);
  assert.deepEqual(open(orders.replace(/ +parameter_unknown.*\n/, '')), ['request.invalid']);
  assert.deepEqual(open(orders.replace(/ +wrong_row.*\n| +wrong_order.*\n/, '')), ['caller.forbidden']);
});

test('a message that tells of a violation says the same for the same, whatever was sent, and no more than a few words of it', async () => {
  const { keyOf, told, close } = await open();
  const key = await keyOf('customer');
  const long = await told('POST', '/orders', key, { title: `"\n${'x'.repeat(5000)}`, copies: 1, [`${'y'.repeat(900)}`]: 1 });
  assert.equal(long.code, 'parameter_invalid');
  const named = await told('POST', '/orders', key, { ['"\r\n{found}'.padEnd(900, 'y')]: 1, title: 'Emma', copies: 1 });
  assert.equal(named.code, 'parameter_unknown');
  assert.ok((named.message ?? '').length < 250 && named.message?.includes('{found}'));
  await close();
});

test('narrower conditions are read back from OpenAPI as they were stated, and its answers show a message with its violation', () => {
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
