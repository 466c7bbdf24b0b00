import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import type { Caller } from '../src/serve/exchange/exchange.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { type TriedOptions, tryService } from './serving/tried.ts';
import { maps } from './values/maps.ts';

const document = parseDocument(`title: Maps\n${maps}`, 'maps.yaml');

/** Who calls is what the request says: a user, an identifier and a tenant. */
const identify: NonNullable<TriedOptions['identify']> = ({ headers }) => {
  const [user, id, tenant] = String(headers['x-as'] ?? '').split(' ');
  if (!user || !id) return undefined;
  const caller: Caller = { user, id, scopes: [], ...(tenant !== undefined && { claims: { tenant } }) };
  return caller;
};

async function open(text = maps) {
  const { send, clock, close } = await tryService(text, { identify });
  const as = async (who: string, method: string, path: string, sent: { body?: unknown; headers?: Record<string, string> } = {}) =>
    send(method, path, { ...sent, headers: { ...sent.headers, ...(who !== '' && { 'x-as': who }) } });
  const statuses = async (count: number, ...asked: Parameters<typeof as>) => {
    const all: number[] = [];
    for (let at = 0; at < count; at++) all.push((await as(...asked)).status);
    return all;
  };
  const { id } = (await as('company c', 'POST', '/sheets', { body: { name: 'North' } })).json as { id: string };
  return { as, statuses, clock, close, id };
}

test('whoever shows no credential has a rate of its own, and nobody else is counted by it', async () => {
  const { statuses, close, id } = await open();
  assert.deepEqual(await statuses(5, '', 'GET', `/sheets/${id}`), [200, 200, 200, 200, 429]);
  assert.deepEqual(await statuses(5, 'guest g', 'GET', `/sheets/${id}`), [200, 200, 200, 200, 200]);
  await close();
});

test('a rate counts apart what an expression over the caller comes to, and whom it comes to nothing for by itself', async () => {
  const { statuses, close } = await open(maps.replace(`"caller.user + ' ' + operation"`, 'caller.claims.tenant'));
  assert.deepEqual(await statuses(4, 'company a acme', 'GET', '/sheets'), [200, 200, 200, 200]);
  assert.deepEqual(await statuses(3, 'company b acme', 'GET', '/sheets'), [200, 200, 429]);
  assert.deepEqual(await statuses(1, 'company c other', 'GET', '/sheets'), [200]);
  assert.deepEqual(await statuses(7, 'company d', 'GET', '/sheets'), [200, 200, 200, 200, 200, 200, 429]);
  assert.deepEqual(await statuses(1, 'company e', 'GET', '/sheets'), [200]);
  await close();
});

test('a rate with a condition counts those alone for whom it holds', async () => {
  const { statuses, close, id } = await open();
  const rename = { body: { name: 'South' } };
  assert.deepEqual(await statuses(4, 'guest g', 'PATCH', `/sheets/${id}`, rename), [200, 200, 200, 429]);
  assert.deepEqual(await statuses(5, 'company c', 'PATCH', `/sheets/${id}`, rename), [200, 200, 200, 200, 200]);
  await close();
});

test('answers that count nothing are told so, and leave as much as there was', async () => {
  const { as, statuses, close, id } = await open();
  const first = await as('company c', 'GET', `/sheets/${id}`);
  const left = ({ headers }: typeof first) => /r=(\d+)/.exec(headers.ratelimit ?? '')?.[1];
  assert.equal(left(first), '4');
  const headers = { 'if-none-match': first.headers.etag ?? '' };
  assert.deepEqual(await statuses(8, 'company c', 'GET', `/sheets/${id}`, { headers }), Array(8).fill(304));
  assert.deepEqual(await statuses(8, 'company c', 'GET', '/sheets/sht_none'), Array(8).fill(404));
  assert.equal(left(await as('company c', 'GET', '/sheets/sht_none')), '4');
  assert.deepEqual(await statuses(5, 'company c', 'GET', `/sheets/${id}`), [200, 200, 200, 200, 429]);
  // What the rate itself refuses was never counted, and is not given back.
  assert.deepEqual(await statuses(1, 'company c', 'GET', `/sheets/${id}`), [429]);
  await close();
});

test('a quota counts apart by an expression, and for some alone', async () => {
  const { statuses, close } = await open();
  const sheet = { body: { name: 'East' } };
  assert.deepEqual(await statuses(3, 'company a', 'POST', '/sheets', sheet), [201, 201, 201]);
  assert.deepEqual(await statuses(4, 'company b', 'POST', '/sheets', sheet), [201, 201, 201, 402]);
  assert.deepEqual(await statuses(9, 'guest g', 'POST', '/sheets', sheet), Array(9).fill(201));
  await close();
});

test('limits of this kind are sound, and are read back from OpenAPI as they were stated', () => {
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
