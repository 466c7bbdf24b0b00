import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import type { JsonMap } from '../src/document/document.ts';
import { valueAt } from '../src/document/source.ts';
import { parseDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { startReceiver } from './events/receiver.ts';
import { startTrial, things } from './events/trial.ts';

/** What a service really posts is what its AsyncAPI says, in its header fields, its envelope and what it carries. */
const own = 'signature: { header: X-Sign, value: "t={timestamp},v1={hmac-sha256:hex}", signs: "{timestamp}.{body}" }';
const documents: readonly (readonly [says: string, text: string])[] = [
  ['by Standard Webhooks', things()],
  [
    'with header fields and an envelope of its own',
    withEnvelope(things('headers: { X-Kind: event.kind, X-Hook: subscriber.id }')),
  ],
];

for (const [says, text] of documents) {
  test(`what is posted ${says} is what AsyncAPI says of it`, async (context) => {
    const asyncapi = JSON.parse(JSON.stringify(toAsyncapi(readSpec(parseDocument(text, 'trial.yaml'))))) as JsonMap;
    const messages = valueAt(asyncapi, '/channels/webhooks/messages') as Readonly<Record<string, JsonMap>>;
    const posted = await post(context, text);
    assert.ok(posted.length >= 3, `${posted.length} were posted`);
    for (const { headers, body } of posted) {
      const value = JSON.parse(body) as Readonly<Record<string, string>>;
      const { payload, headers: stated, correlationId } = messages[value.type ?? value.kind ?? ''] as JsonMap;
      assertFits(asyncapi, `document${(payload as JsonMap).$ref}`, value);
      // Names of header fields know no case.
      const properties = Object.fromEntries(
        Object.entries((stated as JsonMap).properties as JsonMap).map(([name, one]) => [name.toLowerCase(), one]),
      );
      const required = ((stated as { readonly required?: readonly string[] }).required ?? []).map((name) => name.toLowerCase());
      assertFits(asyncapi, { ...(stated as JsonMap), properties, required }, headers);
      for (const name of Object.keys(properties)) assert.ok(headers[name] !== undefined, `${name} is not sent`);
      const location = String((correlationId as JsonMap | undefined)?.location ?? '');
      if (location.startsWith('$message.header#/')) assert.ok(headers[location.slice('$message.header#/'.length)]);
    }
  });
}

function withEnvelope(text: string): string {
  return text
    .replace('signature: standard-webhooks', own)
    .replace(
      '    stream:',
      '    envelope: { id: event.id, kind: event.kind, about: event.payload, at: event.at, v: "1" }\n    stream:',
    );
}

/** Lets things happen, and gives what a subscriber was sent. */
async function post(context: TestContext, text: string) {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, text);
  await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url });
  const { id } = (await trial.send('owner/o1', 'POST', '/things', { name: 'a', pin: 'p' })).json;
  await trial.service.settled();
  await trial.send('owner/o1', 'PATCH', `/things/${id}`, { name: 'b' });
  await trial.service.settled();
  await trial.send('owner/o1', 'POST', `/things/${id}/finish`);
  await trial.service.settled();
  await trial.send('owner/o1', 'DELETE', `/things/${id}`);
  await trial.service.settled();
  return receiver.received as readonly { readonly headers: Readonly<Record<string, string>>; readonly body: string }[];
}

function assertFits(asyncapi: JsonMap, schema: string | JsonMap, value: unknown): void {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  ajv.addSchema(asyncapi, 'document');
  const validate = ajv.compile(typeof schema === 'string' ? { $ref: schema } : schema);
  assert.ok(validate(value), `${JSON.stringify(value)}: ${JSON.stringify(validate.errors)}`);
}
