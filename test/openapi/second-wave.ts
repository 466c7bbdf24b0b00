import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import { isMap } from '../../src/document/values.ts';

type Draw = fc.GeneratorValue;

/** One of several. */
function pick<T>(draw: Draw, values: readonly T[]): T {
  return draw(fc.constantFrom as (...list: T[]) => fc.Arbitrary<T>, ...values);
}

/**
 * A drawn document with statements that came later laid over it: what callers choose, rows that have moved, children that changes take, a log,
 * addresses that are asked first, signed requests. They need not fit it: an export gives back what is stated.
 */
export function withSecondWave(draw: Draw, tree: JsonMap): JsonMap {
  const { resources, endpoints, authentication, events, errors, ...rest } = tree;
  const names = isMap(resources) ? Object.keys(resources) : [];
  return {
    ...rest,
    resources: mapped(resources, (resource, name) => withRows(draw, withChildren(draw, resource, name, names))),
    endpoints: {
      ...mapped(endpoints, (endpoint, key) =>
        key.includes(' /') ? withParameters(draw, withChoices(draw, endpoint), key) : endpoint,
      ),
      ...prefixes(draw, names),
    },
    authentication: { ...mapOf(authentication), schemes: { ...schemesOf(authentication), ...signedSchemes(draw) } },
    events: withDelivery(draw, mapOf(events), names),
    errors: {
      ...mapOf(errors),
      ...pick<JsonMap>(draw, [{}, { paths: 'bracketed' }, { paths: 'dotted' }]),
      ...pick<JsonMap>(draw, [{}, { order: 'any' }, { order: ['parameters', 'body'] }, { order: ['caller', 'row', 'user'] }]),
      codes: {
        ...mapOf(mapOf(errors).codes),
        ...pick<JsonMap>(draw, [
          {},
          { long: { status: 414, when: 'limit.size.url' }, headed: { status: 431, when: ['limit.size.headers'] } },
        ]),
        ...pick<JsonMap>(draw, [{}, { elsewhere: { status: 308, when: 'resource.moved', message: 'It has another name.' } }]),
      },
    },
  };
}

function mapOf(value: Json | undefined): JsonMap {
  return isMap(value) ? value : {};
}

function schemesOf(authentication: Json | undefined): JsonMap {
  return mapOf(mapOf(authentication).schemes);
}

function mapped(value: Json | undefined, of: (one: JsonMap, key: string) => JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(mapOf(value)).map(([key, one]) => [key, isMap(one) ? of(one, key) : one]));
}

function withChildren(draw: Draw, resource: JsonMap, name: string, names: readonly string[]): JsonMap {
  if (!isMap(resource.fields) || !pick(draw, [true, false])) return resource;
  const taken = pick<JsonMap>(draw, [
    {},
    { taken_by: ['create', 'update'] },
    { taken_by: ['update', 'replace'] },
    { taken_by: 'update' },
  ]);
  const envelope = pick<JsonMap>(draw, [{}, { envelope: { items: 'data', has_more: 'more', data: { object: 'list' } } }]);
  return {
    ...resource,
    fields: {
      ...resource.fields,
      kids: { children: `${pick(draw, names)}.${name}`, page: 20, maxItems: 9, ...taken, ...envelope },
      place: { type: 'string', readOnly: true, set: { write: 'link(next)' } },
    },
  };
}

/** Rows that are there from the start, and fields of which exactly one is. */
function withRows(draw: Draw, resource: JsonMap): JsonMap {
  if (!isMap(resource.fields) || !('id' in resource.fields)) return resource;
  const fields = Object.keys(resource.fields);
  return {
    ...resource,
    ...pick<JsonMap>(draw, [
      {},
      { rows: [{ id: 'a' }] },
      {
        rows: [
          { id: 1, 'a/b': { c: [null, 2.5] } },
          { id: '__proto__', text: '' },
        ],
      },
      { rows: 'none' },
    ]),
    ...pick<JsonMap>(draw, [{}, {}, { one_of: [fields.slice(0, 2)] }, { one_of: [fields.slice(0, 2), fields.slice(1)] }]),
  };
}

/** Whole trees of paths, which mean a row. */
function prefixes(draw: Draw, names: readonly string[]): JsonMap {
  const [one = '', other = ''] = [pick(draw, names), pick(draw, names)];
  return pick<JsonMap>(draw, [
    {},
    { under: { '/of/{name}': { [one]: { name: 'name' } } } },
    {
      under: {
        '/of/{owner}/{name}': { [one]: { 'owner.login': 'owner', name: 'name' } },
        '/of/{n}/its/{m}': { [other]: { n: 'm' } },
      },
    },
    { under: 'none' },
  ]);
}

function withChoices(draw: Draw, endpoint: JsonMap): JsonMap {
  return {
    ...endpoint,
    ...pick<JsonMap>(draw, [{}, { select: { parameter: 'fields' } }, { select: { parameter: 'only[]' } }, { select: 'none' }]),
    ...pick<JsonMap>(draw, [{}, {}, { ties: 'newest' }]),
    ...pick<JsonMap>(draw, [{}, {}, { moved: 'params.old == "a" ? "b" : null' }]),
  };
}

/** A part of the path that names no row, and rows below of which each value that is sent has to be there. */
function withParameters(draw: Draw, endpoint: JsonMap, key: string): JsonMap {
  const [, name] = /\{(\w+)\}/.exec(key) ?? [];
  if (endpoint.parameters !== undefined || !pick(draw, [true, false])) return endpoint;
  const apart: JsonMap = name === undefined ? {} : { [name]: { in: 'path', filters: 'none', enum: ['a', 'b'] } };
  const several: JsonMap = { kids: { in: 'query', filters: 'kid.of.name', split: pick(draw, [',', '|', ' ']), match: 'all' } };
  return { ...endpoint, parameters: { ...apart, ...pick<JsonMap>(draw, [{}, several]) } };
}

function signedSchemes(draw: Draw): JsonMap {
  return pick<JsonMap>(draw, [
    {},
    {
      till: {
        type: 'hmac',
        header: 'X-Signature',
        value: 't={timestamp},n={nonce},v1={hmac-sha512:base64}',
        headers: { 'X-Till': '{key_id}' },
        signs: '{method}\n{target}\n{timestamp}\n{nonce}\n{body}',
        replay: 'refuse',
      },
      vendor: {
        type: 'hmac',
        header: 'Authorization',
        prefix: 'HMAC-SHA256',
        value: 'Key={key_id}, Sig={hmac-sha256:hex}',
        signs: '{body}',
      },
    },
    { system: { type: 'http_signature', algorithms: ['ed25519'], covers: ['@method', '@target-uri'], tolerance: '2m' } },
    { system: { type: 'http_signature', header: 'Signature', algorithms: ['hmac-sha256'], covers: ['@method'] } },
  ]);
}

function withDelivery(draw: Draw, events: JsonMap, names: readonly string[]): JsonMap {
  const confirm = pick<JsonMap>(draw, [
    {},
    { confirm: 'challenge' },
    { confirm: { method: 'GET', parameters: { 'hub.challenge': '{challenge}' }, answer: '{challenge}' } },
  ]);
  const log = pick<JsonMap>(draw, [
    {},
    {
      log: {
        resource: pick(draw, names),
        keep: '30d',
        set: { kind: 'event.kind', at: 'link(row)', data: { object: 'event.payload' } },
      },
    },
  ]);
  const delivery = mapOf(events.delivery);
  const webhook = { ...mapOf(delivery.webhook), ...confirm };
  return { ...events, ...log, delivery: { ...delivery, ...(Object.keys(webhook).length > 0 && { webhook }) } };
}
