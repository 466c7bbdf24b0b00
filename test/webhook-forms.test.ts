import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import { check, parseDocument } from '../src/index.ts';
import { webhookForm } from '../src/kinds/deliveries/webhook.ts';
import { readSpec } from '../src/parts/spec.ts';
import { startReceiver } from './events/receiver.ts';
import { startTrial } from './events/trial.ts';
import { exported, flaws, plain, readBack } from './openapi/harness.ts';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const document = `
title: Parcels
purpose:
  purpose: Tells of parcels.
  base_url: http://127.0.0.1/v1
  users: { sender: Sends parcels. }
  functions: { send: [create parcel, read parcel], hear: [create hook, read hook, delete hook] }
resources:
  parcel:
    identifier: { field: id, generate: uuid }
    fields: { id: string, to: { type: string, maxLength: 40 }, grams: { type: integer, minimum: 1, maximum: 5000 } }
    required: [id, to, grams]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, url: { type: string, format: uri, maxLength: 200 }, secret: { type: string, readOnly: true, generate: "{random:32}", reveal: once } }
    required: [id, url, secret]
states: none
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels/{id}: { does: read parcel }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, placeholder: "{key}" } }
  permissions: none
events:
  delivery:
    webhook_form:
      signature: { header: X-Signature, value: "sha256={hmac-sha256:hex}", signs: "{body}" }
      retry: [5s]
      timeout: 2s
      order: any
      subscribers: { resource: hook, url: url, secret: secret }
  kinds:
    parcel.sent: { on: [create parcel], payload: parcel }
errors: { payload: problem }
limits: { rate: none, pagination: none }
versioning: none
`;
interface Written {
  readonly webhooks: Record<'parcel.sent', { post: { requestBody: { content: Record<string, { encoding: unknown }> } } }>;
}
interface Sent {
  readonly channels: { webhookForms: { messages: Record<string, { contentType: string }> } };
}
const serve = { allowPrivateWebhooks: true };

test('an event is a form of one member, and what is signed is the form', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, document);
  const { secret } = (await trial.send('sender/s1', 'POST', '/v1/hooks', { url: receiver.url })).json;
  const sent = await trial.send('sender/s1', 'POST', '/v1/parcels', { to: 'é & ü=+', grams: 7 });
  assert.equal(sent.status, 201);
  await trial.service.settled();
  const [{ headers, body } = { headers: {} as Record<string, unknown>, body: '' }] = receiver.received;
  assert.equal(headers['content-type'], 'application/x-www-form-urlencoded');
  assert.equal(headers['x-signature'], `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const form = [...new URLSearchParams(body)];
  assert.deepEqual(
    form.map(([name]) => name),
    ['payload'],
  );
  const told = JSON.parse(form[0]?.[1] ?? '');
  assert.deepEqual([told.type, told.data.to, told.data.grams], ['parcel.sent', 'é & ü=+', 7]);
});

test('what is written is read, and no other form is', () => {
  const json = '{"a":"1 & 2","b":[true]}';
  assert.deepEqual(webhookForm.read(webhookForm.write(json)), JSON.parse(json));
  for (const body of ['', json, 'payload=', 'payload=%7B', 'data=%7B%7D', 'payload=%7B%7D&payload=%7B%7D'])
    assert.equal(webhookForm.read(body), undefined, body);
});

test('it is found where it is misspelt, and is the same after OpenAPI and back', async () => {
  const misspelt = check(parseDocument(document.replace('webhook_form', 'webhook_forms'), 'parcels.yaml'));
  assert.deepEqual(
    misspelt.findings.map(({ code }) => code),
    ['form/unknown-key', 'events/undelivered'],
  );
  const stated = parseDocument(document, 'parcels.yaml');
  const openapi = exported(stated);
  assert.deepEqual(await flaws(openapi), []);
  const { content } = (openapi as never as Written).webhooks['parcel.sent'].post.requestBody;
  const type = 'application/x-www-form-urlencoded';
  assert.deepEqual(content[type]?.encoding, { payload: { contentType: 'application/json' } });
  assert.deepEqual(readBack(openapi).events, plain(stated.tree.events ?? null));
  const { channels } = plain(toAsyncapi(readSpec(stated))) as never as Sent;
  assert.equal(channels.webhookForms.messages['parcel.sent']?.contentType, type);
});

test('a service that sends forms is held to them', async () => {
  const stand = await openStand(document, { serve, inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['events'] });
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ kind }) => kind === 'delivery mechanism');
    assert.match(fact?.why ?? '', /^1 of 3 looks; missing: nothing to anybody else/);
  } finally {
    await stand.close();
  }
});

servedOtherwise(
  document,
  [
    ['bodies are JSON', 'webhook_form:', 'webhook:', 'delivery mechanism:service', /./],
    ['something else is signed', 'signs: "{body}"', 'signs: "{id}.{body}"', 'delivery mechanism:service', /./],
    ['another hash is taken', '{hmac-sha256:hex}', '{hmac-sha512:hex}', 'delivery mechanism:service', /./],
  ],
  serve,
);
