import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { importAsyncApi } from '../src/convert/asyncapi/read/import.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { check, readDocument } from '../src/index.ts';
import { take } from './import/source.ts';
import { times } from './long.ts';

const corpus = join(import.meta.dirname, 'fixtures/corpus');

interface Taken {
  readonly says: string;
  readonly source: JsonMap;
  /** The parts that come of it. */
  readonly tree: JsonMap;
  /** Codes of findings, none unless said. */
  readonly findings?: readonly string[];
}

const text = { type: 'string' };
const three = (words: JsonMap): JsonMap => ({ asyncapi: '3.0.0', info: { title: 'T', version: '1' }, ...words });
const two = (words: JsonMap): JsonMap => ({ asyncapi: '2.6.0', info: { title: 'T', version: '1' }, ...words });
const one = (words: JsonMap): JsonMap => ({ asyncapi: '1.2.0', info: { title: 'T', version: '1' }, ...words });
const event = (kinds: JsonMap): JsonMap => ({ events: { envelope: 'none', kinds } });
const sends = { action: 'send', channel: { $ref: '#/channels/c' } };
const schemes = (stated: JsonMap, accept?: Json): JsonMap => ({
  authentication: { schemes: stated, ...(accept !== undefined && { accept }) },
});

const cases: readonly Taken[] = [
  { says: 'a document that says nothing states nothing', source: three({}), tree: {} },
  {
    says: 'what a service sends is a kind of event, called as it is',
    source: three({ channels: { c: { messages: { k: { name: 'thing.made', payload: text } } } }, operations: { o: sends } }),
    tree: event({ 'thing.made': { payload: 'string' } }),
  },
  {
    says: 'a message without a name is called by its key',
    source: three({ channels: { c: { messages: { k: { payload: text } } } }, operations: { o: sends } }),
    tree: event({ k: { payload: 'string' } }),
  },
  {
    says: 'an operation may name some of the messages of its channel',
    source: three({
      channels: { c: { messages: { a: { payload: text }, b: {} } } },
      operations: { o: { ...sends, messages: [{ $ref: '#/channels/c/messages/b' }] } },
    }),
    tree: event({ b: {} }),
  },
  {
    says: 'what a service takes is none of its events',
    source: three({ channels: { c: { messages: { k: {} } } }, operations: { o: { ...sends, action: 'receive' } } }),
    tree: {},
  },
  {
    says: 'one message over two channels is one kind',
    source: three({
      channels: {
        c: { messages: { k: { $ref: '#/components/messages/m' } } },
        d: { messages: { k: { $ref: '#/components/messages/m' } } },
      },
      operations: { o: sends, p: { ...sends, channel: { $ref: '#/channels/d' } } },
      components: { messages: { m: { payload: text } } },
    }),
    tree: event({ m: { payload: 'string' } }),
  },
  {
    says: 'two messages of one name are two kinds, and that is found',
    source: three({
      channels: { c: { messages: { a: { name: 'k', payload: text }, b: { name: 'k', payload: { type: 'integer' } } } } },
      operations: { o: sends },
    }),
    tree: event({ k: { payload: 'string' }, k_2: { payload: 'integer' } }),
    findings: ['import/contradiction'],
  },
  {
    says: 'a schema of the components is a resource, and a payload names it',
    source: three({
      channels: { c: { messages: { k: { payload: { $ref: '#/components/schemas/thing' } } } } },
      operations: { o: sends },
      components: {
        schemas: { thing: { type: 'object', properties: { id: text }, required: ['id'], additionalProperties: false } },
      },
    }),
    tree: { resources: { thing: { fields: { id: 'string' }, required: ['id'] } }, ...event({ k: { payload: 'thing' } }) },
  },
  {
    says: 'a payload in several formats of schema is read where it is one of JSON Schema',
    source: three({
      channels: {
        c: {
          messages: {
            a: { payload: { schemaFormat: 'application/schema+json;version=draft-07', schema: text } },
            b: { payload: { schemaFormat: 'application/vnd.apache.avro;version=1.9.0', schema: { type: 'record' } } },
          },
        },
      },
      operations: { o: sends },
    }),
    tree: event({ a: { payload: 'string' }, b: {} }),
  },
  {
    says: 'servers that speak HTTP are base addresses, variables at their defaults; others are not carried',
    source: three({
      servers: {
        a: { host: 'a.example:{port}', pathname: '/v1/', protocol: 'https', variables: { port: { default: '8443' } } },
        b: { host: 'b.example', protocol: 'kafka' },
        c: { host: '{host}', protocol: 'https' },
      },
    }),
    tree: { purpose: { base_url: 'https://a.example:8443/v1' } },
  },
  {
    says: 'a scheme that a server asks for is accepted, one that stands nowhere is not',
    source: three({
      servers: { s: { host: 'a.example', protocol: 'https', security: [{ $ref: '#/components/securitySchemes/a' }] } },
      components: {
        securitySchemes: {
          a: { type: 'httpApiKey', in: 'header', name: 'X-Key' },
          b: { type: 'http', scheme: 'basic' },
          c: { type: 'userPassword' },
        },
      },
    }),
    tree: {
      purpose: { base_url: 'https://a.example' },
      ...schemes({ a: { type: 'api_key', header: 'X-Key' }, b: { type: 'basic' } }, ['a']),
    },
  },
  {
    says: 'a scheme that stands where it is asked for is called by its type',
    source: three({
      operations: { o: { action: 'receive', channel: { $ref: '#/channels/c' }, security: [{ type: 'http', scheme: 'bearer' }] } },
      channels: { c: {} },
    }),
    tree: schemes({ http: { type: 'api_key', header: 'Authorization', prefix: 'Bearer' } }),
  },
  {
    says: 'version 2: whoever subscribes is sent to, and a message may be one of several',
    source: two({
      channels: {
        'a/b': {
          subscribe: {
            operationId: 'onIt',
            message: { oneOf: [{ name: 'x', payload: text }, { $ref: '#/components/messages/y' }, { payload: text }] },
          },
          publish: { message: { name: 'z', payload: text } },
        },
      },
      components: { messages: { y: { payload: { type: 'integer' } } } },
    }),
    tree: event({ x: { payload: 'string' }, y: { payload: 'integer' }, 'onIt.3': { payload: 'string' } }),
  },
  {
    says: 'version 2: servers are addresses, and schemes are asked for by name',
    source: two({
      servers: { s: { url: 'a.example/v1', protocol: 'https', security: [{ k: [] }] } },
      channels: {},
      components: { securitySchemes: { k: { type: 'httpApiKey', in: 'query', name: 'key' } } },
    }),
    tree: { purpose: { base_url: 'https://a.example/v1' }, ...schemes({ k: { type: 'api_key', query: 'key' } }) },
  },
  {
    says: 'version 2: a scheme that is not there is found',
    source: two({ servers: { s: { url: 'kafka.example', protocol: 'kafka', security: [{ k: [] }] } }, channels: {} }),
    tree: {},
    findings: ['import/ref-unresolved'],
  },
  {
    says: 'version 1: a topic is the name of what is subscribed to there',
    source: one({ topics: { 'a.b': { subscribe: { payload: text, summary: 'S.' }, publish: { payload: text } } } }),
    tree: event({ 'a.b': { payload: 'string' } }),
  },
  {
    says: 'version 1: frames of a stream and events are read where they come from the service',
    source: one({
      stream: { read: [{ name: 'x', payload: text }], write: [{ name: 'y' }] },
      events: { send: [{ payload: text }] },
    }),
    tree: event({ x: { payload: 'string' }, 'events.send.1': { payload: 'string' } }),
  },
  {
    says: 'an action that there is not is found',
    source: three({ operations: { o: { action: 'shout', channel: { $ref: '#/channels/c' } } }, channels: { c: {} } }),
    tree: {},
    findings: ['import/invalid'],
  },
  {
    says: 'a reference to nothing is found',
    source: three({ operations: { o: sends }, channels: {} }),
    tree: {},
    findings: ['import/ref-unresolved', 'import/invalid'],
  },
];

suite('what a document of AsyncAPI says, and no more', () => {
  for (const { says, source, tree, findings = [] } of cases) {
    test(says, () => {
      const document = take(JSON.stringify(source, undefined, 1));
      assert.deepEqual(JSON.parse(JSON.stringify(document.tree)), tree);
      assert.deepEqual(
        document.findings.map(({ code }) => code),
        findings,
      );
      for (const { place } of document.findings) assert.ok(place.line > 1, 'a finding stands at no place');
    });
  }
});

test('a JSON Schema by itself is a resource, and so is each of its definitions', () => {
  const source = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'thing',
    type: 'object',
    properties: { a: { $ref: '#/definitions/size' }, b: { $ref: '#/$defs/list' } },
    definitions: { size: { enum: [1, 2] } },
    $defs: { list: { type: 'array', items: [{ type: 'string' }] }, alone: { type: 'boolean' } },
  };
  assert.deepEqual(JSON.parse(JSON.stringify(take(JSON.stringify(source)).tree)), {
    resources: {
      thing: { fields: { a: 'size', b: 'list' }, required: [], additionalProperties: true },
      list: { shape: { type: 'array', prefixItems: ['string'] } },
      size: { shape: { enum: [1, 2] } },
      alone: { shape: 'boolean' },
    },
  });
});

test('what is said in words is prose where it belongs', () => {
  const source = three({
    channels: { c: { messages: { k: { title: 'Made', summary: 'A thing was made.', description: 'By somebody.' } } } },
    operations: { o: sends },
  });
  const [prose] = take(JSON.stringify(source)).prose;
  assert.deepEqual([prose?.at, prose?.text], ['/events/kinds/k', 'Made\n\nA thing was made.\n\nBy somebody.']);
});

test('what is not carried has its reason', () => {
  const foreign = {
    file: 'a.yaml',
    value: three({ channels: { c: { messages: { k: {} } } }, operations: { o: { ...sends, action: 'receive' } } }),
  };
  const { reader } = importAsyncApi({ ...foreign, place: () => nowhere, sources: new Map(), findings: [] }, true);
  assert.deepEqual([...reader.reasons], [['/operations/o', 'what is sent to a service over a channel is none of its events']]);
});

/** How many kinds of event and resources each file of the corpus has. */
const whole: Readonly<Record<string, readonly [kinds: number, resources: number]>> = {
  'asyncapi/adeo-kafka-request-reply-asyncapi.yml.gz': [0, 10],
  'asyncapi/correlation-id-asyncapi.yml': [1, 3],
  'asyncapi/kraken-websocket-request-reply-multiple-channels-asyncapi.yml': [2, 20],
  'asyncapi/oneof-asyncapi.yml': [2, 2],
  'asyncapi/slack-rtm-asyncapi.yml': [46, 1],
  'asyncapi/streetlights-kafka-asyncapi.yml': [2, 4],
  'asyncapi/streetlights-mqtt-asyncapi.yml': [2, 4],
  'asyncapi/websocket-gemini-asyncapi.yml': [1, 5],
  'asyncapi/social-media/backend/asyncapi.yaml': [2, 3],
  'asyncapi/social-media/comments-service/asyncapi.yaml': [1, 2],
  'asyncapi/social-media/frontend/asyncapi.yaml': [1, 3],
  'asyncapi/social-media/notification-service/asyncapi.yaml': [0, 0],
  'asyncapi/social-media/public-api/asyncapi.yaml': [0, 0],
  'slack/slack_events_api_async_v1.json.gz': [66, 1],
  'slack/slack_common_event_wrapper_schema.json': [0, 1],
};

suite('the documents of others are taken over whole, and are sound', () => {
  for (const [file, [kinds, resources]] of Object.entries(whole)) {
    test(file, async () => {
      const document = await readDocument(join(corpus, file));
      const count = (map: Json | undefined): number => Object.keys((map ?? {}) as JsonMap).length;
      assert.deepEqual(
        [count((document.tree.events as JsonMap | undefined)?.kinds), count(document.tree.resources)],
        [kinds, resources],
      );
      const { findings } = check(document);
      assert.deepEqual(
        findings.filter(({ severity }) => severity === 'error'),
        [],
      );
      for (const { place } of findings) assert.ok(place.line > 1, 'a finding stands at no place');
    });
  }
});

test('a schema that several files share is one resource', async () => {
  const { tree } = await readDocument(join(corpus, 'asyncapi/social-media/backend/asyncapi.yaml'));
  const { kinds } = tree.events as { readonly kinds: JsonMap };
  assert.deepEqual(JSON.parse(JSON.stringify(kinds)), {
    commentLiked: { payload: 'commentLikedPayload' },
    updateCommentLikes: { payload: 'updateCommentLikesPayload' },
  });
});

const sources = ['kraken-websocket-request-reply-multiple-channels', 'streetlights-mqtt', 'correlation-id'].map(
  (name) => parse(readFileSync(join(corpus, `asyncapi/${name}-asyncapi.yml`), 'utf8')) as JsonMap,
);
const strange = fc.constantFrom<Json>(
  null,
  true,
  0,
  -1,
  '',
  'x',
  [],
  {},
  [null],
  { $ref: '#' },
  { $ref: '#/nowhere' },
  { $ref: 'x.yaml' },
  [[]],
  { type: 'x' },
);

test('whatever is changed in a document of AsyncAPI, it is taken over with findings at their places', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...sources),
      fc.array(fc.tuple(fc.nat(), strange), { minLength: 1, maxLength: 5 }),
      (source, changes) => {
        const changed = changes.reduce((value, [at, by]) => replaceNth(value, at, by), source as Json) as JsonMap;
        const value = { ...changed, asyncapi: (changed as JsonMap | null)?.asyncapi ?? '3.0.0' };
        const document = fromForeign({
          file: 'a.yaml',
          value,
          place: () => nowhere,
          sources: new Map([['a.yaml', '']]),
          findings: [],
        });
        if (document)
          for (const { code, message } of check(document).findings) assert.ok(code.includes('/') && message.length > 3);
      },
    ),
    { numRuns: times(50, 300) },
  );
});

const nowhere = { file: 'a.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };

/** A value in which the nth value inside it, counted round, is another one. */
function replaceNth(value: Json, nth: number, by: Json): Json {
  const left = { count: nth % Math.max(1, countOf(value)) };
  const visit = (one: Json): Json => {
    if (left.count-- === 0) return by;
    if (Array.isArray(one)) return (one as readonly Json[]).map(visit);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, inner]) => [key, visit(inner as Json)]));
  };
  return visit(value);
}

function countOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + countOf(inner as Json), 1);
}
