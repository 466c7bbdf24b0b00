import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  compareSignatures,
  signatureKind,
  signatureKinds,
  signatureOfMembers,
  signatureWord,
} from '../src/kinds/signatures/all.ts';
import type { Received, SignatureFacts, SignatureKind } from '../src/kinds/signatures/kind.ts';

const kinds: readonly SignatureKind[] = signatureKinds;
const nowSeconds = 1_780_000_000;
const text = '{"id":"evt_1","type":"order.paid"}';
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

/** Statements of each kind, the first of them sound. */
const statements: Readonly<Record<string, readonly SignatureFacts[]>> = {
  'own-template': [
    { header: 'Stripe-Signature', value: 't={timestamp},v1={hmac-sha256:hex}', signs: '{timestamp}.{body}' },
    { header: 'X-Sign', value: 'sha256={hmac-sha256:base64}', signs: '{body}' },
    { header: 'stripe-signature', value: 't={timestamp},v1={hmac-sha256:hex}', signs: '{timestamp}.{body}' },
  ],
};

for (const kind of kinds) {
  const stated = statements[kind.word] ?? [{}];
  for (const facts of stated) {
    const name = `${kind.word} ${JSON.stringify(facts)}`;

    test(`what it signs is good, with an old secret too, and no near miss is: ${name}`, () => {
      const signedWith = (...secrets: readonly string[]): Received => {
        const headers = kind.compile(facts).sign({ id: 'evt_1', timestamp: nowSeconds, body: text }, secrets);
        assert.ok(!('wrong' in headers));
        return { headers: headers as Record<string, string>, text, id: 'evt_1' };
      };
      const good = signedWith(secret);
      assert.equal(kind.flaw(facts, good, secret, nowSeconds), undefined);
      assert.equal(kind.flaw(facts, signedWith(secret, other), secret, nowSeconds), undefined);
      for (const { how, received } of kind.nearMisses(facts, good))
        assert.notEqual(kind.flaw(facts, received, secret, nowSeconds), undefined, how);
      if (!kind.usesSecret(facts)) return;
      assert.ok(kind.nearMisses(facts, good).length > 2);
      const stranger = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
      assert.notEqual(kind.flaw(facts, good, stranger, nowSeconds), undefined, 'with a secret that signs nothing of it');
      assert.ok('wrong' in kind.compile(facts).sign({ id: 'evt_1', timestamp: nowSeconds, body: text }, ['']));
    });

    test(`the header fields that it names are those that it sends: ${name}`, () => {
      const headers = kind.compile(facts).sign({ id: 'evt_1', timestamp: nowSeconds, body: text }, [secret]);
      const names = kind.headers(facts).map((header) => header.name.toLowerCase());
      assert.deepEqual(Object.keys(headers).sort(), names.sort());
      for (const { name: header, pattern } of kind.headers(facts))
        if (pattern !== undefined)
          assert.match((headers as Record<string, string>)[header.toLowerCase()] ?? '', new RegExp(pattern));
      if (kind.idHeader !== undefined) assert.equal((headers as Record<string, string>)[kind.idHeader], 'evt_1');
    });
  }

  test(`it is found by its word or its members, and compares by the laws: ${kind.word}`, () => {
    const names = Object.keys(kind.members);
    assert.equal(names.length > 0 ? signatureOfMembers(names) : signatureWord(kind.word), kind.word);
    for (const one of stated)
      for (const two of stated) assert.equal(kind.compare(one, two), kind.compare(two, one), 'neither side is tighter');
    for (const one of stated) assert.equal(kind.compare(one, { ...one }), 'same');
  });
}

test('a template is another one by what it signs and where, and not by the case of its header', () => {
  const [first = {}, second = {}, third = {}] = statements['own-template'] ?? [];
  const kind = signatureKind({ word: 'own-template' });
  assert.equal(kind?.compare(first, second), 'other');
  assert.equal(kind?.compare(first, third), 'same');
});

test('the library of Standard Webhooks refuses every near miss too', () => {
  const kind = signatureKind({ word: 'standard-webhooks' });
  const at = Math.floor(Date.now() / 1000);
  const headers = kind?.compile({}).sign({ id: 'evt_1', timestamp: at, body: text }, [secret]) as Record<string, string>;
  const good: Received = { headers, text, id: 'evt_1' };
  assert.doesNotThrow(() => new Webhook(secret).verify(text, headers));
  for (const { how, received } of kind?.nearMisses({}, good) ?? [])
    assert.throws(() => new Webhook(secret).verify(received.text, { ...received.headers }), Error, how);
});

test('no word and no members of another name are of a kind', () => {
  assert.equal(signatureWord('standard-webhook'), undefined);
  assert.equal(signatureWord('own-template'), undefined, 'it is stated by its members');
  assert.equal(signatureWord(undefined), undefined);
  assert.equal(signatureOfMembers(['header', 'algorithm']), undefined);
});

test('a signature of another kind is another one', () => {
  const [first = {}] = statements['own-template'] ?? [];
  const stated = [
    { word: 'own-template', facts: first },
    { word: 'standard-webhooks', facts: {} },
    { word: 'none', facts: {} },
    { word: undefined, facts: {} },
  ] as const;
  for (const one of stated)
    for (const two of stated)
      assert.equal(
        compareSignatures(one, two),
        one === two && one.word !== undefined ? 'same' : 'other',
        `${one.word} ${two.word}`,
      );
});
