import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { generateDocument } from '../serving/generated-document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { strangeDocument } from '../strange/document.ts';

/** A document drawn from the whole grammar as it is, or one that tells of events in a way that need not fit together. */
export function generateEvents(draw: Draw): JsonMap {
  return draw(fc.boolean) ? strangeDocument(draw).document : generateOddEvents(draw);
}

/** One whose events may be open, of anything, or none, and are told in one way or another. */
function generateOddEvents(draw: Draw): JsonMap {
  const { document, resources } = generateDocument(draw);
  const names = resources.map(({ name }) => name);
  const kinds = Object.fromEntries(
    names.flatMap((name) => {
      const count = draw(fc.nat, { max: 2 });
      return Array.from({ length: count }, (_, index): [string, Json] => [
        pick(draw, [`${name}.created`, `${name} ${index}`, `${name}/${index}~`, `${name}_${index}_payload`, `${name}.${index}`]),
        kindOf(draw, name),
      ]);
    }),
  );
  const envelope = pick<Json | undefined>(draw, [
    undefined,
    undefined,
    'none',
    { 'the/id': 'event.id', about: 'event.payload' },
    { fixed: "'1'", n: 7, at: 'event.at' },
  ]);
  return {
    title: pick(draw, ['', 'A service', 'Größe: "x"']),
    ...document,
    purpose: {
      ...(document.purpose as JsonMap),
      purpose: pick<Json>(draw, ['Tries.', `${'Long. '.repeat(80)}`, 'Two\n\nparagraphs.', { $open: 'What for?' }, '']),
      ...pick<JsonMap>(draw, [
        {},
        { base_url: 'https://a.example/v1' },
        { base_url: ['http://a.example', 'https://b.example:8443/x/'] },
        { base_url: 'none' },
      ]),
    },
    ...(draw(fc.boolean) && { authentication: authenticationOf(draw) }),
    events: pick<Json>(draw, [
      'none',
      { $open: 'Which?' },
      ...Array.from({ length: 4 }, () => ({
        kinds: pick<Json>(draw, [kinds, kinds, kinds, 'none', { ...kinds, others: 'any' }]),
        ...pick<JsonMap>(draw, [
          {},
          { delivery: 'none' },
          { delivery: { $open: 'How?' } },
          { delivery: deliveryOf(draw, envelope) },
          { delivery: deliveryOf(draw, envelope) },
        ]),
      })),
    ]),
  };
}

function kindOf(draw: Draw, name: string): Json {
  return {
    ...pick<JsonMap>(draw, [{ on: [`create ${name}`] }, { on: [`all ${name}`] }, {}]),
    ...pick<JsonMap>(draw, [
      { payload: name },
      { payload: `${name}?` },
      { payload: [name] },
      { payload: 'none' },
      { payload: { $open: 'What?' } },
      {},
      { payload: { type: 'object', properties: { one: name, at: { type: 'string', format: 'date-time' } }, required: ['one'] } },
      { payload: { oneOf: ['circle', 'square'], description: 'One of two.' } },
      {
        payload: {
          type: 'object',
          properties: { n: { type: 'integer', format: 'int64', examples: [1] } },
          additionalProperties: false,
        },
      },
      { payload: { type: 'array', prefixItems: ['string', name], items: false } },
    ]),
  };
}

function deliveryOf(draw: Draw, envelope: Json | undefined): JsonMap {
  const signature = pick<Json | undefined>(draw, [
    undefined,
    'standard-webhooks',
    { header: 'X-Time', value: 't={timestamp},v1={hmac-sha512:base64}', signs: '{id}.{timestamp}.{body}' },
    'none',
    { header: 'X-Signature', value: '{hmac-sha256:hex}', signs: '{body}' },
  ]);
  return {
    ...(draw(fc.boolean) && {
      webhook: {
        ...(signature !== undefined && { signature }),
        ...(draw(fc.boolean) && { headers: { 'X-Kind': 'event.kind' } }),
        ...(draw(fc.boolean) && { retry: ['5s', '1m'] }),
        ...pick<JsonMap>(draw, [
          {},
          { confirm: 'challenge' },
          { confirm: 'ping' },
          {
            confirm: {
              method: 'GET',
              parameters: { 'hub.challenge': '{challenge}', 'hub.mode': 'subscribe' },
              headers: { 'X-Hook': '{id}' },
              answer: '{challenge}',
            },
          },
          { confirm: { body: { ask: { what: '{challenge}', who: 'us' } }, answer: { is: '{challenge}' } } },
        ]),
      },
    }),
    ...(draw(fc.boolean) && {
      broker: pick<JsonMap>(draw, [
        { kind: 'nats', subject: 'the.events' },
        { kind: 'cloudevents', source: 'https://the.example/' },
      ]),
    }),
    ...(draw(fc.boolean) && { stream: { path: 'GET /the/stream', format: 'sse', keep: '1h' } }),
    ...(envelope !== undefined && { envelope }),
  };
}

function authenticationOf(draw: Draw): JsonMap {
  const schemes: JsonMap = {
    key: pick<JsonMap>(draw, [
      { type: 'api_key', header: 'X-Key', generate: 'k_{random:32}' },
      { type: 'api_key', query: 'key' },
      { type: 'api_key', header: 'Authorization', prefix: 'Bearer' },
    ]),
    ...(draw(fc.boolean) && { 'the password': { type: 'basic' } }),
    ...(draw(fc.boolean) && {
      token: {
        type: 'jwt',
        issuer: 'https://id.example',
        jwks: 'https://id.example/jwks.json',
        algorithms: ['ES256'],
        caller: { id: 'claims.sub' },
      },
    }),
  };
  return { schemes, permissions: 'none', ...(draw(fc.boolean) && { accept: ['key'] }) };
}
