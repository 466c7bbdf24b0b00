import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addKinds } from './kinds/toy.ts';
import type { Stand } from './verify/stand.ts';

const toy = (sort: string, name: string) => ({ sort, name, source: new URL(`./fixtures/kinds/${name}.ts`, import.meta.url) });
await addKinds([
  toy('signatures', 'crossed'),
  toy('schemes', 'badge'),
  toy('envelopes', 'parcelled'),
  toy('streams', 'lines'),
  toy('deliveries', 'dispatch'),
  toy('deliveries', 'feed'),
]);

const { check, parseDocument } = await import('../src/index.ts');
const { toOpenApi } = await import('../src/convert/openapi.ts');
const { toAsyncapi } = await import('../src/convert/asyncapi.ts');
const { openStand } = await import('./verify/stand.ts');
const { smallService } = await import('./verify/small-service.ts');

const service = smallService
  .replace('type: api_key, header: X-Key,', 'type: badge, colour: red,')
  .replace('signature: standard-webhooks', 'signature: { field: X-Crossed }')
  .replace('format: sse', 'format: lines')
  .replace('delivery:\n', 'delivery:\n    envelope: parcelled\n')
  .replace('    webhook:', '    dispatch:')
  .replace('stream: { path: GET /events', 'feed: { path: POST /feed')
  .replace('[stream events]', '[follow feed]');
const findings = (text: string) =>
  check(parseDocument(text, 'small.yaml')).findings.flatMap(({ code, at }) =>
    code.startsWith('purpose/') ? [] : [`${code} @ ${at}`],
  );
const scheme = '/authentication/schemes/key';

test('what states kinds from outside is sound, and their misuses are findings', () => {
  assert.deepEqual(findings(service), findings(smallService));
  const of = (from: string, to: string) => findings(service.replace(from, to));
  assert.deepEqual(of('field: X-Crossed', 'field: Crossed'), [
    'events/signature-template @ /events/delivery/dispatch/signature/field',
  ]);
  assert.deepEqual(of('colour: red, ', ''), [`authentication/unverifiable-token @ ${scheme}`]);
  assert.deepEqual(of('colour: red', 'colour: green'), [`form/wrong-value @ ${scheme}/colour`]);
  assert.deepEqual(of('format: lines', 'format: websocket'), ['form/wrong-value @ /events/delivery/feed/format']);
  assert.deepEqual(of('envelope: parcelled', 'envelope: parceled'), ['form/wrong-value @ /events/delivery/envelope']);
  assert.ok(of('field: X-Crossed', 'feild: X-Crossed').includes('form/unknown-key @ /events/delivery/dispatch/signature/feild'));
  assert.deepEqual(of('POST /feed', 'GET /feed'), ['events/stream-path @ /events/delivery/feed/path']);
  const both = of('    dispatch:', '    webhook: { retry: none }\n    dispatch:');
  assert.ok(
    both.some((one) => one.startsWith('form/') && one.includes('/events/delivery')),
    both.join('\n'),
  );
  assert.ok(of('type: badge', 'type: bagde').includes(`form/wrong-value @ ${scheme}/type`));
});

const only = ['header names', 'token formats', 'schemes:service', 'delivery mechanism'];
let stand: Stand;
before(async () => {
  stand = await openStand(service, { inPairs: true, serve: { allowPrivateWebhooks: true } });
});
after(() => stand.close());

test('they are served, and what is served is held to be what is stated', { timeout: 300_000 }, async () => {
  const refused = await fetch(`${stand.url}/v1/notes`);
  assert.equal(refused.status, 401);
  assert.match(refused.headers.get('www-authenticate') ?? '', /^Badge realm="Small"/);
  const facts = ['header names:key', 'schemes:service', 'delivery mechanism:service'];
  // A delivery that a busy machine is late with shows nothing, and is looked for again; what is broken is broken each time.
  for (let tries = 3; facts.length > 0; tries--) {
    const report = await stand.verify({ only });
    assert.deepEqual(report.breaches, []);
    const held = report.facts.filter(({ verdict }) => verdict === 'held').map(({ kind, subject }) => `${kind}:${subject}`);
    for (const fact of held) if (facts.includes(fact)) facts.splice(facts.indexOf(fact), 1);
    assert.ok(facts.length === 0 || tries > 1, `not held: ${facts.join(', ')} ${JSON.stringify(report.facts)}`);
  }
});

const otherwise: Readonly<Record<string, readonly [string, string, string, RegExp]>> = {
  'a signature': ['field: X-Crossed', 'field: X-Uncrossed', 'delivery mechanism', /X-Crossed/],
  'an envelope': [
    'envelope: parcelled',
    'envelope: { nr: event.id, what: event.kind, when: event.at, inside: event.payload }',
    'delivery mechanism',
    /there is no version/,
  ],
  'a push': ['    dispatch:', '    webhook:', 'delivery mechanism', /dispatches are put/],
  'a stream': ['format: lines', 'format: sse', 'delivery mechanism', /stream/],
  'a scheme': ['type: badge, colour: red,', 'type: api_key, header: X-Badges,', 'header names', /X-Badge/],
};
for (const [name, [from, to, fact, seen]] of Object.entries(otherwise)) {
  test(`a service that keeps another is found out: ${name}`, { timeout: 300_000 }, async () => {
    const other = await openStand(service, {
      served: service.replace(from, to),
      inPairs: true,
      serve: { allowPrivateWebhooks: true },
    });
    try {
      const { breaches } = await other.verify({ only: [fact] });
      const text = JSON.stringify(breaches.map(({ kind, promised, seen }) => ({ kind, promised, seen })));
      assert.ok(
        breaches.some(({ kind }) => kind === fact),
        text,
      );
      assert.match(text, seen);
    } finally {
      await other.close();
    }
  });
}

test('they are exported, and an export that is read back states them', () => {
  const { spec } = check(parseDocument(service, 'small.yaml'));
  const openApi = JSON.stringify(toOpenApi(spec));
  for (const word of [
    '"x-badge":true',
    '"application/x-ndjson"',
    '"X-Crossed"',
    '"inside"',
    '"version":{"type":"string","const":"1.0"}',
    '"put":{"operationId":"onNoteMade"',
    '"application/vnd.dispatch+json"',
    '"operationId":"followFeed"',
  ])
    assert.ok(openApi.includes(word), word);
  const back = check(parseDocument(openApi, 'small.json')).spec.document.tree;
  const own = spec.document.tree;
  assert.deepEqual(JSON.parse(JSON.stringify(back.authentication)), JSON.parse(JSON.stringify(own.authentication)));
  assert.deepEqual(JSON.parse(JSON.stringify(back.events)), JSON.parse(JSON.stringify(own.events)));
  const asyncApi = JSON.stringify(toAsyncapi(spec));
  for (const word of ['"X-Badge"', '"X-Crossed"', '"inside"', '"dispatches":{', '"putEvents":{', '"followFeed":{'])
    assert.ok(asyncApi.includes(word), word);
});

test('a document of others that has them is read as theirs', () => {
  const foreign = {
    openapi: '3.1.0',
    info: { title: 'Theirs', version: '1' },
    paths: { '/notes': { get: { responses: { 200: { description: 'x' } } } } },
    components: { securitySchemes: { one: { type: 'badge' } } },
    security: [{ one: [] }],
  };
  const { tree } = parseDocument(JSON.stringify(foreign), 'theirs.json');
  assert.deepEqual(JSON.parse(JSON.stringify(tree.authentication)), {
    schemes: { one: { type: 'badge', header: 'X-Badge' } },
  });
});
