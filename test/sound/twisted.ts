/** Documents that a grammar draws, twisted: words of fields, resources and endpoints laid where nobody would write them. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { strangeDocument } from '../strange/document.ts';
import { isMap, mapAt, merged } from '../strange/layers.ts';

/** Draws one. Most are not sound; what is has to run. */
export function twistedDocument(draw: Draw): JsonMap {
  let document = strangeDocument(draw).document;
  for (let left = 1 + draw(fc.nat, { max: 2 }); left > 0; left--) document = merged(document, twist(draw, document));
  return document;
}

function twist(draw: Draw, document: JsonMap): JsonMap {
  const resources = Object.keys(mapAt(document, 'resources')).filter((name) => isMap(mapAt(document, 'resources')[name]));
  const resource = pick(draw, resources);
  const fields = Object.keys(mapAt(document, 'resources', resource, 'fields'));
  const how = draw(fc.nat, { max: 9 });
  if (how === 0) return { resources: { [resource]: { identifier: { generate: pick(draw, makers) } } } };
  if (how === 1) return { resources: { [resource]: { unique: [[pick(draw, fields)]] } } };
  if (how === 2) return { purpose: { base_url: pick(draw, bases) } };
  if (how === 3) return endpointTwist(draw, document, fields);
  const field = draw(fc.nat, { max: 2 }) === 0 ? 'twisted' : pick(draw, fields);
  const stated = mapAt(document, 'resources', resource, 'fields')[field];
  const words = wordsOf(draw, resources, fields);
  const whole = isMap(stated) || stated === undefined ? words : { type: stated, ...words };
  return {
    resources: { [resource]: { fields: { [field]: stated === undefined ? { type: pick(draw, types), ...whole } : whole } } },
  };
}

function endpointTwist(draw: Draw, document: JsonMap, fields: readonly string[]): JsonMap {
  const routes = Object.keys(mapAt(document, 'endpoints')).filter((route) => / /.test(route));
  const expression = expressionOf(draw, fields);
  const data: JsonMap = { it: expression };
  const change = pick<JsonMap>(draw, [
    { response: { 200: { data } } },
    { response: { 200: { shape: { type: 'object', properties: { it: 'string' } }, data } } },
    { response: { 200: { headers: { 'X-It': expression } } } },
    { etag: 'strong', if_match: 'required' },
    { idempotency: { header: 'Idempotency-Key' } },
    { order: pick(draw, fields) },
    { parameters: { it: { in: 'query', filters: pick(draw, fields), op: pick(draw, ['=', '>=', 'in', 'prefix', 'contains']) } } },
  ]);
  return { endpoints: { [pick(draw, routes)]: change } };
}

/** Words of one field, one to three of them. */
function wordsOf(draw: Draw, resources: readonly string[], fields: readonly string[]): JsonMap {
  const words: Record<string, Json> = {};
  for (let left = 1 + draw(fc.nat, { max: 2 }); left > 0; left--) Object.assign(words, oneWord(draw, resources, fields));
  return words;
}

function oneWord(draw: Draw, resources: readonly string[], fields: readonly string[]): JsonMap {
  const change = pick(draw, ['create', 'update', 'write', 'replace']);
  return pick<() => JsonMap>(draw, [
    () => ({ default: pick<Json>(draw, [null, 0, 7, -1, 'x', '', true, [], {}, ['a'], 0.5]) }),
    () => ({ set: { [change]: expressionOf(draw, fields) } }),
    () => ({ set: { [change]: expressionOf(draw, fields) }, readOnly: true }),
    () => ({ set: { write: expressionOf(draw, fields) }, readOnly: true, maxLength: 2 }),
    () => ({ set: { write: expressionOf(draw, fields) }, readOnly: true, maximum: 2 }),
    () => ({ generate: pick(draw, makers) }),
    () => ({ pattern: pick(draw, ['^[a-z]+$', '^x', '^[0-9]{3}$', '^usr_', '^.{0,5}$']) }),
    () => ({ format: pick(draw, ['uuid', 'email', 'date-time', 'decimal', 'uri', 'unix-time', 'ulid']) }),
    () => ({ ref: pick(draw, resources) }),
    () => ({ ref: `${pick(draw, resources)}?` }),
    () => ({ type: pick(draw, types) }),
    () => ({ minimum: pick(draw, [5, -3]), maximum: 6 }),
    () => ({ minLength: pick(draw, [1, 40]) }),
    () => ({ maxLength: pick(draw, [0, 3, 30]) }),
    () => ({ enum: pick<Json>(draw, [['a', 'b'], [1, 2], [null], ['x', 1, null]]) }),
    () => ({ readOnly: true }),
    () => ({ readOnly: true, required: true }),
    () => ({ writeOnly: true }),
    () => ({ reveal: 'once', generate: '{random:12}', readOnly: true }),
    () => ({ immutable: true }),
    () => ({ required: pick(draw, [true, false]) }),
    () => ({ stored: false }),
    () => ({ visible: 'none' }),
    () => ({ ignore_case: true }),
    () => ({ onDelete: pick(draw, ['restrict', 'cascade', 'clear']) }),
    () => ({ show: 'expand' }),
  ])();
}

function expressionOf(draw: Draw, fields: readonly string[]): string {
  const field = pick(draw, fields);
  return pick(draw, [
    'now',
    'caller.id',
    'caller.user',
    'next.id',
    'string(next.id)',
    `next.${field}`,
    `resource.${field}`,
    `request.${field}`,
    `has(next.${field}) ? next.${field} : null`,
    `string(next.${field})`,
    `size(next.${field})`,
    `next.${field} + 1`,
    `10 / (next.${field} - 1)`,
    `10 / (request.${field} - 1)`,
    `int(request.${field})`,
    `has(request.${field}) ? request.${field} : null`,
    `string(request.${field}) + 'xxxxxxxx'`,
    `[request.${field}][size(string(request.${field})) - 1]`,
    `next.${field} == request.${field}`,
    '1',
    '3.5',
    "'x'",
    "''",
    '[1]',
    '{"a": 1}',
    'operation',
    'version',
    'now + duration("1h")',
    'true',
    'null',
  ]);
}

const types: readonly Json[] = ['string', 'integer', 'number', 'boolean', 'object', 'array', 'string?', 'integer?', ['string']];
const makers: readonly string[] = ['integer', 'uuid', 'ulid', 'client', 'usr_{ulid}', '{random:8}', 'x-{uuid}', '{base64:32}'];
const bases: readonly Json[] = [
  'https://twisted.example',
  'https://twisted.example/',
  'https://twisted.example/{version}',
  '/v1',
  ['https://a.example/x', 'https://a.example/x/'],
];
