import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { importAsyncApi } from '../src/convert/asyncapi/read/import.ts';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { valueAt } from '../src/document/source.ts';
import { parseDocument, readDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { confirmed } from './values/confirmed.ts';

/** What AsyncAPI says of signatures and of addresses that are asked first, and what is said beside it, so that reading it back loses nothing. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as JsonMap;
const mill = await readDocument(join(import.meta.dirname, '../examples/wholesale.md'));
const exported = plain(toAsyncapi(readSpec(mill)));
const notes = (confirm: string, signature = 'standard-webhooks') =>
  parseDocument(
    `title: Notes\n${confirmed.replace('confirm: challenge', `confirm: ${confirm}\n      signature: ${signature}`)}`,
    'notes.yaml',
  );
const own = '{ header: X-Sign, value: "t={timestamp},v1={hmac-sha512:base64}", signs: "{id}.{timestamp}.{body}" }';
const hub = '{ method: GET, parameters: { hub.mode: subscribe, hub.challenge: "{challenge}" }, answer: "{challenge}" }';

const nowhere = { file: '', line: 1, column: 1, endLine: 1, endColumn: 1 };
const taken = (value: JsonMap) =>
  importAsyncApi({ file: 'a.json', value, place: () => nowhere, sources: new Map(), findings: [] }, true);

suite('an export says', () => {
  const facts: readonly (readonly [says: string, at: string, value: Json | undefined])[] = [
    [
      'in which header fields a till signs, as far as a key says it',
      '/components/securitySchemes/till',
      { type: 'httpApiKey', in: 'header', name: 'X-Signature' },
    ],
    [
      'what is signed, beside it',
      '/x-ninefold/authentication/schemes/till/signs',
      '{method}\n{target}\n{timestamp}\n{nonce}\n{body}',
    ],
    [
      'what a signature of RFC 9421 covers, beside it',
      '/x-ninefold/authentication/schemes/system/covers',
      ['@method', '@target-uri', 'content-digest'],
    ],
    [
      'the header fields of a signed delivery',
      '/channels/webhooks/messages/order.placed/headers/required',
      ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
    ],
    ['how it is signed, beside it', '/x-ninefold/events/delivery/webhook/signature', 'standard-webhooks'],
    ['that an address is asked, and by which method', '/operations/confirmAddress/bindings/http/method', 'POST'],
    [
      'with what it is asked',
      '/channels/addresses/messages/asked/payload',
      {
        type: 'object',
        properties: {
          type: { const: 'url_verification' },
          challenge: { type: 'string', description: '`{challenge}`, of this address alone.' },
        },
        required: ['type', 'challenge'],
      },
    ],
    [
      'that its reply gives the challenge back',
      '/operations/confirmAddress/reply/messages/0/$ref',
      '#/channels/addresses/messages/answered',
    ],
    ['that it is asked, in its own words too', '/x-ninefold/events/delivery/webhook/confirm', 'challenge'],
  ];
  for (const [says, at, value] of facts) test(says, () => assert.deepEqual(valueAt(exported, at), value));

  test('no kind of event of it', () => {
    const { kinds } = valueAt(mill.tree, '/events') as { readonly kinds: JsonMap };
    assert.deepEqual(Object.keys(valueAt(exported, '/channels/webhooks/messages') as JsonMap), Object.keys(kinds));
  });

  test('nothing of it where no address is asked', () => {
    const written = plain(
      toAsyncapi(readSpec(parseDocument(`title: Notes\n${confirmed.replace('confirm: challenge', '')}`, 'n.yaml'))),
    );
    assert.deepEqual(
      [valueAt(written, '/channels/addresses'), valueAt(written, '/operations/confirmAddress')],
      [undefined, undefined],
    );
  });

  test('what stands in the query of an address that is asked by GET', () => {
    const written = plain(toAsyncapi(readSpec(notes(hub))));
    assert.deepEqual(valueAt(written, '/operations/confirmAddress/bindings/http/query/properties/hub.mode'), {
      const: 'subscribe',
    });
    assert.equal(valueAt(written, '/channels/addresses/messages/asked/payload'), undefined);
  });
});

suite('reading it back gives the same', () => {
  for (const [says, document] of [
    ['of the mill', mill],
    ['of a challenge under a signature of its own', notes('challenge', own)],
    ['of a ping under none', notes('ping', 'none')],
    ['of a request of its own', notes(hub)],
  ] as const)
    test(says, () => {
      const back = taken(plain(toAsyncapi(readSpec(document))));
      assert.deepEqual(plain(back.document.tree), plain(document.tree));
    });

  test('what is changed there in words of AsyncAPI counts, and what only follows does not', () => {
    const changed = structuredClone(exported) as { info: { description: string }; operations: Record<string, JsonMap> };
    changed.info.description = 'Sells flour.';
    delete changed.operations.confirmAddress;
    const { tree } = taken(changed as unknown as JsonMap).document;
    assert.equal(valueAt(tree, '/purpose/purpose'), 'Sells flour.');
    assert.equal(valueAt(tree, '/events/delivery/webhook/confirm'), 'challenge');
  });
});

test('of a document of others, what AsyncAPI does not say of signatures and replies is named where it stands', () => {
  const source: JsonMap = {
    asyncapi: '3.0.0',
    info: { title: 'T', version: '1' },
    channels: {
      hooks: {
        address: null,
        messages: {
          made: {
            headers: { type: 'object', properties: { 'webhook-signature': { type: 'string' } } },
            payload: { type: 'object' },
          },
          pong: { payload: { type: 'string' } },
        },
      },
    },
    operations: {
      send: {
        action: 'send',
        channel: { $ref: '#/channels/hooks' },
        messages: [{ $ref: '#/channels/hooks/messages/made' }],
        reply: { channel: { $ref: '#/channels/hooks' }, messages: [{ $ref: '#/channels/hooks/messages/pong' }] },
      },
    },
  };
  const { document, reader } = taken(source);
  assert.deepEqual(Object.keys(valueAt(document.tree, '/events/kinds') as JsonMap), ['made']);
  assert.equal(valueAt(document.tree, '/events/delivery'), undefined);
  assert.deepEqual(
    [...reader.reasons],
    [
      ['/operations/send/reply', 'an answer is no event'],
      [
        '/channels/hooks/messages/made/headers',
        'header fields, and what is signed of them, are of a delivery, which is not said',
      ],
    ],
  );
});
