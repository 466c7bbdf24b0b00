import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import type { Received } from '../src/kinds/signatures/kind.ts';
import { standardWebhooks } from '../src/kinds/signatures/standard-webhooks.ts';
import { template } from '../src/kinds/signatures/template.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const now = 1_780_000_000;
const text = '{"id":"evt_1","type":"order.paid"}';
const id = 'evt_1';

const good = (): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(now),
  'webhook-signature': new Webhook(secret).sign(id, new Date(now * 1000), text),
});
const flawOf = (changed: Record<string, string | undefined>, more: Partial<Received> = {}, by = secret) => {
  const headers = Object.fromEntries(Object.entries({ ...good(), ...changed }).filter(([, value]) => value !== undefined));
  return standardWebhooks.flaw({}, { headers: headers as Record<string, string>, text, id, ...more }, by, now);
};

test('what Standard Webhooks’ own library signs is good, with the prefix of the secret or without', () => {
  assert.equal(flawOf({}), undefined);
  assert.equal(flawOf({}, {}, secret.slice('whsec_'.length)), undefined);
  assert.equal(flawOf({ 'webhook-signature': `v1,AAAA v1a,BBBB ${good()['webhook-signature']}` }), undefined, 'one of several');
});

const bad: Readonly<Record<string, readonly [Record<string, string | undefined>, Partial<Received>, RegExp]>> = {
  'no signature': [{ 'webhook-signature': undefined }, {}, /there is no webhook-signature/],
  'no time': [{ 'webhook-timestamp': undefined }, {}, /there is no webhook-timestamp/],
  'another body': [{}, { text: `${text} ` }, /with the secret it would be v1,/],
  'another time': [{ 'webhook-timestamp': String(now + 1) }, {}, /with the secret/],
  'a time long past': [{ 'webhook-timestamp': String(now - 301) }, {}, /more than 300 s/],
  milliseconds: [{ 'webhook-timestamp': `${now}000` }, {}, /more than 300 s/],
  'a time that is none': [{ 'webhook-timestamp': '2026-06-01T09:00:00Z' }, {}, /no whole number/],
  'an id that is not the event’s': [{}, { id: 'evt_2' }, /the event is evt_2/],
  'hex for Base64': [{ 'webhook-signature': `v1,${createHmac('sha256', 'x').update('x').digest('hex')}` }, {}, /with the secret/],
  'no version': [{ 'webhook-signature': String(good()['webhook-signature']).slice(3) }, {}, /with the secret/],
};
for (const [name, [headers, more, says]] of Object.entries(bad)) {
  test(`a standard signature is not good: ${name}`, () => assert.match(flawOf(headers, more) ?? 'none', says));
}

test('where the sender’s clock is not known its time is not looked at', () => {
  const headers = { ...good(), 'webhook-timestamp': '5' };
  const signature = new Webhook(secret).sign(id, new Date(5000), text);
  const signed = { headers: { ...headers, 'webhook-signature': signature }, text, id };
  assert.equal(standardWebhooks.flaw({}, signed, secret, undefined), undefined);
});

test('a signature of one’s own is read by its template: Stripe’s library agrees', () => {
  const facts = { header: 'Stripe-Signature', value: 't={timestamp},v1={hmac-sha256:hex}', signs: '{timestamp}.{body}' };
  const value = new Stripe('sk_test', {} as never).webhooks.generateTestHeaderString({
    payload: text,
    secret,
    timestamp: now,
  } as never);
  const flaw = (header: string, body = text, by = secret) =>
    template.flaw(facts, { headers: { 'stripe-signature': header }, text: body, id }, by, now);
  assert.equal(flaw(value), undefined);
  assert.equal(flaw(`${value},v1=${'0'.repeat(64)}`), undefined, 'two secrets sign');
  assert.match(flaw(value, `${text} `) ?? 'none', /no HMAC in it is that of/);
  assert.match(flaw(value, text, 'another') ?? 'none', /no HMAC/);
  assert.match(flaw(value.replace(/^t=\d+,/, '')) ?? 'none', /not of the form/);
  assert.match(flaw(value.replace(/^t=/, 'time=')) ?? 'none', /not of the form/);
  assert.match(template.flaw(facts, { headers: {}, text, id }, secret, now) ?? 'none', /there is no Stripe-Signature/);
});

const templates = [
  { header: 'X-Hub-Signature-256', value: 'sha256={hmac-sha256:hex}', signs: '{body}' },
  { header: 'X-Sign', value: '{id};{timestamp};{hmac-sha512:base64}', signs: '{id}.{timestamp}.{body}' },
  { header: 'X-Sign', value: '{hmac-sha1:base64}', signs: '{id}{body}' },
];
for (const facts of templates) {
  test(`what our engine signs by a template is good, and nothing else is: ${facts.value}`, () => {
    const headers = template.compile(facts).sign({ id, timestamp: now, body: text }, ['a secret']) as Record<string, string>;
    assert.equal(template.flaw(facts, { headers, text, id }, 'a secret', now), undefined);
    assert.notEqual(template.flaw(facts, { headers, text, id }, 'another secret', now), undefined);
    assert.notEqual(template.flaw(facts, { headers, text: `${text}\n`, id }, 'a secret', now), undefined);
  });
}

test('what our engine signs by the standard is good', () => {
  const headers = standardWebhooks.compile().sign({ id, timestamp: now, body: text }, [secret]) as Record<string, string>;
  assert.equal(standardWebhooks.flaw({}, { headers, text, id }, secret, now), undefined);
});
