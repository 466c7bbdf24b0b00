import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { startTrial } from './events/trial.ts';
import { editions, exported, flaws, plain, readBack } from './openapi/harness.ts';
import { accounts } from './values/accounts.ts';

test('null is a value of a field that keeps it, and a patch sets it', async (context) => {
  const trial = await startTrial(context, accounts);
  const made = await trial.send('', 'POST', '/accounts', { id: 'a', name: 'Ann', nickname: 'A', limit: null });
  assert.deepEqual(made.json, { id: 'a', name: 'Ann', nickname: 'A', limit: null, saves: 1 });
  const cleared = await trial.send('', 'PATCH', '/accounts/a', { nickname: null });
  assert.deepEqual(cleared.json, { id: 'a', name: 'Ann', nickname: null, limit: null, saves: 2 });
  const refused = await trial.send('', 'PATCH', '/accounts/a', { name: null });
  assert.equal(refused.status, 422);
  await trial.send('', 'PATCH', '/accounts/a', { nickname: 'B' });
  const older = await trial.service.fetch(
    new Request('http://127.0.0.1/accounts/a', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-version': 'v1' },
      body: JSON.stringify({ alias: null }),
    }),
  );
  assert.deepEqual(await older.json(), { id: 'a', name: 'Ann', alias: null, limit: null, saves: 4 });
});

test('an update that always counts is a change where nothing is another', async (context) => {
  const trial = await startTrial(context, accounts);
  await trial.send('', 'POST', '/accounts', { id: 'a', name: 'Ann', nickname: 'A', limit: null });
  const again = await trial.send('', 'PATCH', '/accounts/a', { nickname: 'A' });
  assert.deepEqual(again.json, { id: 'a', name: 'Ann', nickname: 'A', limit: null, saves: 2 });
  assert.deepEqual(await trial.outbox((outbox) => outbox.events(0, 9).map(({ kind }) => kind)), ['account.saved']);
});

test('an end that is announced alone never comes', async (context) => {
  const trial = await startTrial(context, accounts);
  const answer = await trial.service.fetch(new Request('http://127.0.0.1/accounts', { headers: { 'x-version': 'v1' } }));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('sunset'), 'Wed, 01 Jan 2020 00:00:00 GMT');
});

test('of several examples of a reply the first is answered', async (context) => {
  const trial = await startTrial(context, accounts);
  assert.deepEqual((await trial.send('', 'GET', '/tip')).json, { tip: 'Save often.' });
});

test('what is stated comes back from OpenAPI as it is', async () => {
  const document = parseDocument(accounts, 'accounts.yaml');
  for (const edition of Object.keys(editions)) {
    const written = exported(document, edition);
    assert.deepEqual(readBack(written), plain(document.tree), edition);
    assert.deepEqual(await flaws(written), [], edition);
  }
});
