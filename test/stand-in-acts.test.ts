import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answers, list, object, ref, sends, standIn, string, within } from './import/stand-in.ts';

/** What acts, methods and forms come to on a stand-in, where a description says little of them. */

test('an act sets the time that is called like it, and a status of which no words are listed', async () => {
  const time = { ...string, format: 'date-time', nullable: true };
  const draft = object({ id: { ...string, readOnly: true }, title: string, status: string, archived_at: time, closed_at: time });
  const act = { post: answers(ref('Draft')) };
  const paths = {
    '/drafts': { post: { ...sends(object({ title: string })), ...answers(ref('Draft'), {}, '201') } },
    '/drafts/{draftId}': { ...within('draftId'), get: answers(ref('Draft')) },
    '/drafts/{draftId}/archive': { ...within('draftId'), ...act },
    '/drafts/{draftId}/nudge': { ...within('draftId'), ...act },
  };
  await standIn(paths, { Draft: draft }, async (ask) => {
    const { json: made } = await ask('POST', '/drafts', { title: 'One' });
    const { json: nudged } = await ask('POST', `/drafts/${made.id}/nudge`);
    assert.deepEqual([nudged.status, nudged.archived_at], [made.status, made.archived_at]);
    const before = Date.now() - 1;
    const { json: done } = await ask('POST', `/drafts/${made.id}/archive`);
    assert.equal(done.status, 'archived');
    assert.ok(Date.parse(done.archived_at) >= before);
    assert.equal(done.closed_at, made.closed_at);
    assert.deepEqual((await ask('GET', `/drafts/${made.id}`)).json, done);
  });
});

test('methods by POST alone are told by an identifier of their own, and list what they made in another shape', async () => {
  const wallet = { wallet_id: string, currency: string, status: string };
  const answer = (more = {}) => answers(object({ ...wallet, ...more, request_id: string }, ['wallet_id']));
  const schemas = { WalletGet: object({ ...wallet, request_id: string }, ['wallet_id']), Wallet: object(wallet, ['wallet_id']) };
  const named = sends(object({ wallet_id: string }, ['wallet_id']));
  const paths = {
    '/wallet/create': { post: { ...sends(object({ currency: string })), ...answer() } },
    '/wallet/get': { post: { ...named, ...answers(ref('WalletGet')) } },
    '/wallet/list': { post: { ...sends(object({ currency: string })), ...answers(object({ wallets: list(ref('Wallet')) })) } },
  };
  await standIn(paths, schemas, async (ask) => {
    const { json: one } = await ask('POST', '/wallet/create', { currency: 'GBP' });
    const { json: other } = await ask('POST', '/wallet/create', { currency: 'EUR' });
    assert.notEqual(one.wallet_id, other.wallet_id);
    assert.equal((await ask('POST', '/wallet/get', { wallet_id: other.wallet_id })).json.currency, 'EUR');
    const ids = (await ask('POST', '/wallet/list', { currency: 'EUR' })).json.wallets;
    assert.deepEqual(
      ids.map(({ wallet_id }: { wallet_id: string }) => wallet_id),
      [other.wallet_id],
    );
    assert.equal((await ask('POST', '/wallet/get', { wallet_id: 'none' })).status, 404);
  });
});

test('an answer of which nothing is known has no second page', async () => {
  const page = object({ lines: list(string), next: string });
  const example = { lines: ['a'], next: '/report?cursor=b' };
  const query = { parameters: [{ name: 'cursor', in: 'query', schema: string }] };
  await standIn({ '/report': { get: { ...query, ...answers(page, { example }) } } }, {}, async (ask) => {
    assert.deepEqual((await ask('GET', '/report')).json, example);
    assert.deepEqual((await ask('GET', '/report?cursor=b')).json, { lines: [] });
  });
});

test('a required identifier that is not sent is made up, where one shape is sent and answered; the strict refuse it', async () => {
  const pet = object({ id: string, name: string }, ['id', 'name']);
  const paths = {
    '/pets': { post: { ...sends(ref('Pet')), ...answers(ref('Pet'), {}, '201') } },
    '/pets/{petId}': { ...within('petId'), get: answers(ref('Pet')) },
  };
  await standIn(paths, { Pet: pet }, async (ask) => {
    const { status, json: made, headers } = await ask('POST', '/pets', { name: 'Rex' });
    assert.equal(status, 201);
    assert.match(headers.get('ninefold-warning') ?? '', /body id is required and was not sent/);
    assert.deepEqual((await ask('GET', `/pets/${made.id}`)).json, made);
    assert.equal((await ask('POST', '/pets', { id: 'mine', name: 'Tom' })).json.id, 'mine');
    assert.equal((await ask('POST', '/pets', { id: 'other' })).status, 400);
  });
  const strictly = async (ask: Parameters<Parameters<typeof standIn>[2]>[0]) =>
    assert.equal((await ask('POST', '/pets', { name: 'Rex' })).status, 400);
  await standIn(paths, { Pet: pet }, strictly, {}, true);
});
