import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { payments } from './values/payments.ts';

type Fields = Readonly<Record<string, unknown>>;

test('a card that is declined leaves its payment declined, and is told as an error, under a key each time', async () => {
  const { send, close } = await tryService(payments);
  const { id } = (await send('POST', '/payments', { body: { amount: 3, card: 'empty' } })).json as { id: string };
  const headers = { 'idempotency-key': 'one' };
  for (let time = 0; time < 2; time++) {
    const { status, json } = await send('POST', `/payments/${id}/capture`, { headers });
    assert.deepEqual([status, (json as Fields).code, (json as Fields).detail], [402, 'card_declined', 'The card was declined.']);
  }
  const row = async () => (await send('GET', `/payments/${id}`)).json as Fields;
  assert.deepEqual([(await row()).state, (await row()).tries], ['declined', 1]);
  // What follows from the change follows, once.
  assert.equal(((await send('GET', '/notes')).json as unknown[]).length, 1);
  // Where it leads elsewhere, it is answered as ever; and an update that is the transition is answered like it.
  assert.equal((await send('PATCH', `/payments/${id}`, { body: { state: 'blocked', card: 'stolen' } })).status, 402);
  assert.deepEqual([(await row()).state, (await row()).card, (await row()).tries], ['blocked', 'stolen', 2]);
  const again = (await send('POST', '/payments', { body: { amount: 3, card: 'good' } })).json as { id: string };
  const paid = await send('POST', `/payments/${again.id}/capture`);
  assert.deepEqual([paid.status, (paid.json as Fields).state], [200, 'paid']);
  await close();
});

test('an answer that is an error is read back from OpenAPI as it was stated, and its answers are listed', () => {
  const document = parseDocument(`title: Payments\n${payments}`, 'payments.yaml');
  for (const to of Object.keys(editions)) {
    const text = exported(document, to);
    assert.deepEqual(readBack(text), plain(document.tree));
    assert.match(JSON.stringify(text.components), /card_declined/);
  }
});
