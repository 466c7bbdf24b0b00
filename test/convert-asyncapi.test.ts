import assert from 'node:assert/strict';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import { toDraft07 } from '../src/convert/asyncapi/write/messages.ts';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { valueAt } from '../src/document/source.ts';
import { parseDocument, readDocument } from '../src/index.ts';
import { formats } from '../src/kinds/formats/all.ts';
import { readSpec } from '../src/parts/spec.ts';

const parcels = plain(toAsyncapi(readSpec(await readDocument(join(import.meta.dirname, '../examples/parcels.md')))));

/** Places of the parcels example as AsyncAPI, and what stands there. */
const facts: readonly (readonly [says: string, pointer: string, value: Json])[] = [
  ['the version of the format', '/asyncapi', '3.0.0'],
  ['the current version of the interface', '/info/version', '2026-06-01'],
  ['what the service is for', '/info/description', 'Lets merchants hand parcels to couriers and follow them to the door.'],
  [
    'where it stands',
    '/servers/service',
    {
      host: 'api.parcels.example',
      protocol: 'https',
      pathname: '/v1',
      security: [{ $ref: '#/components/securitySchemes/key' }, { $ref: '#/components/securitySchemes/token' }],
    },
  ],
  ['who listens, at an address that it alone knows', '/servers/subscriber/host', '{host}'],
  ['a key', '/components/securitySchemes/key', { type: 'httpApiKey', in: 'header', name: 'X-API-Key' }],
  ['a token', '/components/securitySchemes/token', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }],
  ['the channel of web hooks, whose address is not known', '/channels/webhooks/address', null],
  ['the channel of the stream', '/channels/stream/address', '/events'],
  [
    'a message of the stream, which stands once',
    '/channels/stream/messages/parcel.created',
    { $ref: '#/components/messages/parcel.created' },
  ],
  ['what is posted', '/operations/postEvents/bindings/http/method', 'POST'],
  ['what is streamed', '/operations/streamEvents/bindings/http/method', 'GET'],
  ['the service sends', '/operations/streamEvents/action', 'send'],
  ['all kinds', '/operations/postEvents/messages/4', { $ref: '#/channels/webhooks/messages/parcel.delivered' }],
  ['who may stream', '/operations/streamEvents/security/0', { $ref: '#/components/securitySchemes/key' }],
  ['what a message is called', '/components/messages/parcel.seen/name', 'parcel.seen'],
  ['its envelope', '/components/schemas/parcel.seen_event/required', ['id', 'type', 'timestamp', 'data']],
  ['its kind, which is always the same', '/components/schemas/parcel.seen_event/properties/type/const', 'parcel.seen'],
  ['what it carries', '/components/schemas/parcel.seen_event/properties/data', { $ref: '#/components/schemas/scan' }],
  ['what relates two tries', '/channels/webhooks/messages/parcel.seen/correlationId/location', '$message.header#/webhook-id'],
  ['what relates two messages of the stream', '/components/messages/parcel.seen/correlationId/location', '$message.payload#/id'],
  [
    'the header fields of a signature',
    '/channels/webhooks/messages/parcel.seen/headers/required',
    ['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  ],
  ['what no other format says', '/x-ninefold/events/delivery/webhook/retry/0', '5s'],
  ['nor when a kind is emitted', '/x-ninefold/events/kinds/parcel.seen', { on: ['create scan'] }],
];

suite('the events of the parcels example in AsyncAPI', () => {
  for (const [says, pointer, value] of facts) {
    test(says, () => assert.deepEqual(valueAt(parcels, pointer), value));
  }
});

test('what AsyncAPI says is not said beside it', () => {
  const own = parcels['x-ninefold'] as JsonMap;
  assert.equal(valueAt(own, '/purpose/purpose'), undefined);
  assert.equal(valueAt(own, '/purpose/base_url'), undefined);
  assert.equal(valueAt(own, '/authentication/schemes/key/header'), undefined);
  assert.equal(valueAt(own, '/events/kinds/parcel.delivered/payload'), undefined);
});

test('every example fits the schema of its message', () => {
  const ajv = new Ajv({ strict: false, allErrors: true });
  ajvFormats.default(ajv);
  for (const { word: name } of formats) if (!ajv.formats[name]) ajv.addFormat(name, true);
  ajv.addSchema(parcels, 'document');
  const messages = Object.values(valueAt(parcels, '/components/messages') as JsonMap) as JsonMap[];
  assert.equal(messages.length, 5);
  for (const { name, payload, examples } of messages) {
    const validate = ajv.compile({ $ref: `document${(payload as JsonMap).$ref}` });
    assert.ok(validate(valueAt(examples ?? null, '/0/payload')), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

test('an example shows what everybody is shown, and identifiers as they are made', () => {
  const fields = {
    id: 'string',
    name: { const: 'a' },
    pin: { type: 'string', writeOnly: true },
    cost: { type: 'integer', visible: ['clerk'] },
  };
  const tree = {
    resources: { thing: { identifier: { field: 'id', generate: 'thg_{uuid}' }, fields, required: Object.keys(fields) } },
    events: {
      kinds: {
        k: { payload: { type: 'array', items: 'thing', minItems: 1 } },
        odd: { payload: { oneOf: ['thing', { type: 'object', required: ['z'] }] } },
      },
      delivery: { envelope: 'none' },
    },
  };
  const written = plain(toAsyncapi(readSpec(parseDocument(JSON.stringify(tree), 'trial.json'))));
  const shape = { kinds: valueAt(written, '/components/messages') as JsonMap };
  const [example] = (shape.kinds.k as JsonMap).examples as readonly { readonly payload: readonly JsonMap[] }[];
  for (const one of example?.payload ?? []) {
    assert.deepEqual(Object.keys(one), ['id', 'name']);
    assert.match(String(one.id), /^thg_[\da-f-]{36}$/);
  }
  assert.equal((shape.kinds.odd as JsonMap).examples, undefined);
});

interface Written {
  readonly says: string;
  readonly tree: JsonMap;
  readonly at: string;
  readonly value: Json | undefined;
}

const kinds = { 'a/b c': { payload: 'string' } };
const written: readonly Written[] = [
  { says: 'nothing is said of events, and there is no channel', tree: {}, at: '/channels', value: undefined },
  {
    says: 'delivery is open, and events go nobody knows where',
    tree: { events: { kinds } },
    at: '/channels/events/address',
    value: null,
  },
  {
    says: 'a kind whose name is no key is called by it all the same',
    tree: { events: { kinds } },
    at: '/components/messages/a_b_c/name',
    value: 'a/b c',
  },
  {
    says: 'a payload that is open is any value, and the schema says why',
    tree: { events: { kinds: { k: { payload: { $open: 'What?' } } } } },
    at: '/components/schemas/k_event/properties/data',
    value: { $comment: 'Open: what k carries: What?' },
  },
  {
    says: 'a stated envelope stands around it',
    tree: {
      events: {
        kinds,
        delivery: { envelope: { what: 'event.kind', v: 2, by: "'us'", about: 'event.payload', odd: 'event.id + "x"' } },
      },
    },
    at: '/components/schemas/a_b_c_event/properties',
    value: {
      what: { type: 'string', const: 'a/b c' },
      v: { type: 'integer', const: 2 },
      by: { type: 'string', const: 'us' },
      about: { type: 'string' },
      odd: {},
    },
  },
  {
    says: 'nothing stands around a payload that is sent as it is',
    tree: { events: { kinds, delivery: { envelope: 'none' } } },
    at: '/components/messages/a_b_c/payload',
    value: { type: 'string' },
  },
  {
    says: 'an own signature has the header that it names, beside the stated ones',
    tree: {
      events: {
        kinds,
        delivery: {
          webhook: {
            signature: { header: 'X-Sig', value: '{hmac-sha256:hex}', signs: '{body}' },
            headers: { 'X-Kind': 'event.kind' },
          },
        },
      },
    },
    at: '/channels/webhooks/messages/a_b_c/headers',
    value: {
      type: 'object',
      properties: {
        'X-Sig': { type: 'string', description: '`{hmac-sha256:hex}`, which signs `{body}`.' },
        'X-Kind': { type: 'string' },
      },
      required: ['X-Sig'],
    },
  },
  {
    says: 'a public stream asks for nothing',
    tree: {
      authentication: { schemes: { key: { type: 'api_key', query: 'k' } }, public: ['stream events'] },
      events: { kinds, delivery: { stream: { path: 'GET /s', format: 'sse' } } },
    },
    at: '/operations/streamEvents/security',
    value: undefined,
  },
  {
    says: 'a flow of OAuth 2.0 is written in the words of AsyncAPI',
    tree: {
      authentication: {
        schemes: {
          o: { type: 'oauth2', flows: { client_credentials: { token_url: 'https://id.example/t' } }, scopes: { a: 'An A.' } },
        },
      },
    },
    at: '/components/securitySchemes/o',
    value: {
      type: 'oauth2',
      flows: { clientCredentials: { tokenUrl: 'https://id.example/t', availableScopes: { a: 'An A.' } } },
    },
  },
];

suite('of a document that says less', () => {
  for (const { says, tree, at, value } of written) {
    test(says, () => {
      const spec = readSpec(parseDocument(JSON.stringify(tree), 'trial.json'));
      assert.deepEqual(valueAt(plain(toAsyncapi(spec)), at), value);
    });
  }
});

test('a schema of 2020-12 says the same in draft 07', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { $ref: '#/x', description: 'A.' },
      b: { $ref: '#/y' },
      t: { type: 'array', prefixItems: [{ $ref: '#/x' }, true], items: false },
    },
    dependentRequired: { a: ['b'] },
    dependentSchemas: { b: { required: ['a'] } },
  };
  assert.deepEqual(plain(toDraft07(schema)), {
    type: 'object',
    properties: {
      a: { description: 'A.', allOf: [{ $ref: '#/x' }] },
      b: { $ref: '#/y' },
      t: { type: 'array', items: [{ $ref: '#/x' }, true], additionalItems: false },
    },
    dependencies: { a: ['b'], b: { required: ['a'] } },
  });
});

function plain(value: JsonMap): JsonMap {
  return JSON.parse(JSON.stringify(value)) as JsonMap;
}
