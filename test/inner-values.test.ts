import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { tryService } from './serving/tried.ts';
import { cards } from './values/cards.ts';

interface Payment {
  readonly id: string;
  readonly source: Readonly<Record<string, string>>;
  readonly marks: readonly unknown[];
  readonly shown_as: string;
}

test('what a value is made of is set and generated in it, once and where it is another', async () => {
  const { send, close, failures } = await tryService(cards);
  const does = async (method: string, path: string, body: unknown) => {
    const { status, json } = await send(method, path, { body });
    assert.ok(status < 300, JSON.stringify(json));
    return json as Payment;
  };
  const source = { object: 'card', number: '4242424242421234' };
  const made = await does('POST', '/payments', { source, marks: [{ text: 'a' }, { text: 'longer' }] });
  const { fingerprint = '', ...card } = made.source;
  assert.match(fingerprint, /^fp_\w{8}$/);
  assert.deepEqual(card, { object: 'card', last4: '1234', first: '42', brand: 'plain' });
  const marks = [
    { text: 'a', long: false },
    { text: 'longer', long: true },
  ];
  assert.deepEqual([made.marks, made.shown_as], [marks, '*1234']);
  const path = `/payments/${made.id}`;
  // A change of something else, and of a part of it, leaves what was made as it is.
  assert.deepEqual((await does('PATCH', path, { note: 'n' })).source, made.source);
  const part = await does('PATCH', path, { source: { brand: 'best' } });
  assert.deepEqual(part.source, { ...made.source, brand: 'best' });
  const other = await does('PATCH', path, { source: { number: '55556666' }, marks: [{ text: 'longer' }, { text: 'b' }] });
  assert.deepEqual(other.source, { ...part.source, last4: '6666' });
  assert.deepEqual(other.marks, [marks[1], { text: 'b', long: false }]);
  assert.equal(other.shown_as, '*6666');
  const bank = await does('PATCH', path, {
    source: { object: 'bank', iban: 'x', brand: null, fingerprint: null, last4: null, first: null },
  });
  assert.deepEqual([bank.source, bank.shown_as], [{ object: 'bank', iban: 'x' }, 'bank']);
  const put = await does('PUT', path, { source: { object: 'card', number: '99990000', brand: 'b' } });
  assert.equal(put.source.last4, '0000');
  assert.notEqual(put.source.fingerprint, fingerprint);
  // What it is made of has to be there, and is asked for at its place.
  const { status, json } = await send('PATCH', path, { body: { marks: [{ text: 3 }] } });
  assert.equal(status, 422);
  assert.deepEqual(
    (json as { violations: { path: string }[] }).violations.map((one) => one.path),
    ['/marks/0/text'],
  );
  assert.deepEqual(failures, []);
  await close();
});

test('what is made in values is read back from OpenAPI as it was stated', () => {
  const document = parseDocument(cards, 'cards.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
