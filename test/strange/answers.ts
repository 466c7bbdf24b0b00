/** Part 4 of strange documents: requests and answers that are stated, in envelopes of all sorts, and operations beside the usual ones. */
import fc from 'fast-check';
import type { Json, JsonMap } from '../../src/document/document.ts';
import type { GeneratedResource } from '../serving/generated-document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, isMap, laid, mapAt, oneIn } from './layers.ts';

/** States what follows by rule otherwise, of some endpoints. */
export function layAnswers(draw: Draw, draft: Draft): Draft {
  const told = new Set<string>();
  const stated: Record<string, Json> = {};
  const byPath = Object.entries(mapAt(draft.document, 'endpoints'));
  for (const resource of draft.resources) {
    for (const [route, endpoint] of byPath) {
      if (!isMap(endpoint) || typeof endpoint.does !== 'string' || !endpoint.does.endsWith(` ${resource.name}`)) continue;
      const [verb = ''] = endpoint.does.split(' ');
      const change = { ...answerOf(draw, verb, resource, told), ...requestOf(draw, verb, resource, draft.document, told) };
      if (Object.keys(change).length > 0) stated[route] = change;
    }
  }
  return laid(draft, { endpoints: { ...stated, ...othersOf(draw, draft, told) } }, ...told);
}

function answerOf(draw: Draw, verb: string, resource: GeneratedResource, told: Set<string>): JsonMap {
  const { name } = resource;
  if (!oneIn(draw, 3)) return verb === 'read' && oneIn(draw, 3) ? { cache: 'private, max-age=60' } : {};
  const enveloped = {
    shape: { type: 'object', properties: { data: name, kind: { const: name } }, required: ['data', 'kind'] },
    data: { data: 'result', kind: `'${name}'` },
  };
  const piece = {
    shape: {
      type: 'object',
      properties: { id: identifierShape(resource), touched: { type: 'string', format: 'date-time' } },
      required: ['id', 'touched'],
    },
    data: { id: 'result.id', touched: 'result.touched' },
  };
  const headers = { headers: { 'X-Count': 'string(result.count)' } };
  const shapes: Readonly<Record<string, JsonMap>> = {
    enveloped,
    piece,
    'with a header': { shape: name, ...headers },
    'enveloped with a header': { ...enveloped, ...headers },
    plain: { shape: name },
  };
  const tell = (what: string): JsonMap => {
    told.add(`${verb} answers ${what}`);
    return shapes[what] ?? {};
  };
  if (verb === 'create') {
    const status = pick(draw, ['201', '201', '202', '200']);
    return { response: { [status]: tell(pick(draw, Object.keys(shapes))) } };
  }
  if (verb === 'list') return listed(draw, resource, told);
  if (verb === 'delete') {
    const deleted = {
      shape: { type: 'object', properties: { deleted: 'boolean' }, required: ['deleted'] },
      data: { deleted: true },
    };
    told.add('delete answers a body');
    return { response: { 200: pick<Json>(draw, [deleted, name]) } };
  }
  if (verb === 'upsert') return {};
  return { response: { 200: tell(pick(draw, Object.keys(shapes))) } };
}

function identifierShape({ identifier }: GeneratedResource): Json {
  return identifier.isInteger ? 'integer' : 'string';
}

function listed(draw: Draw, { name, pages }: GeneratedResource, told: Set<string>): JsonMap {
  if (pages.style === 'none' || !pages.isWrapped) return {};
  const isCounted = draw(fc.boolean);
  told.add('list answers enveloped');
  return {
    response: {
      200: {
        shape: {
          type: 'object',
          properties: { rows: [name], next: 'string?', more: 'boolean', ...(isCounted && { total: 'integer' }) },
          required: ['rows', 'more'],
        },
        data: { rows: 'items', next: 'next_cursor', more: 'has_more', ...(isCounted && { total: 'total' }) },
      },
    },
  };
}

/** The words of a field that are no words of a shape. */
const fieldWords = [
  'required',
  'readOnly',
  'writeOnly',
  'immutable',
  'default',
  'set',
  'generate',
  'reveal',
  'visible',
  'writable',
  'stored',
  'ignore_case',
  'extensible',
  'onDelete',
  'show',
  'deprecated',
];

function requestOf(
  draw: Draw,
  verb: string,
  { name, machine }: GeneratedResource,
  document: JsonMap,
  told: Set<string>,
): JsonMap {
  if (verb === 'create' && oneIn(draw, 4)) {
    const fields = Object.entries(mapAt(document, 'resources', name, 'fields'));
    // Nobody could make a row whose identifier nobody can send.
    const isNamedByClient = mapAt(document, 'resources', name, 'identifier').generate === 'client';
    const sent = fields.filter(
      ([field, stated]) =>
        (field !== 'id' || isNamedByClient) &&
        isMap(stated) &&
        stated.readOnly !== true &&
        !('visible' in stated) &&
        !('writable' in stated),
    );
    told.add('create request stated');
    return {
      request: {
        type: 'object',
        properties: Object.fromEntries(sent.map(([field, stated]): [string, Json] => [field, shapeWords(stated)])),
        required: sent.flatMap(([field, stated]) =>
          isMap(stated) && stated.required === true && !('default' in stated) ? [field] : [],
        ),
        ...(oneIn(draw, 2) && { additionalProperties: false }),
      },
    };
  }
  if (!machine?.transitions.includes(verb) || !oneIn(draw, 3)) return {};
  told.add('transition request stated');
  return {
    request: { type: 'object', properties: { reason: { type: 'string', minLength: 3, maxLength: 40 } }, required: ['reason'] },
    ...(oneIn(draw, 3) && { body: 'optional' }),
  };
}

function shapeWords(stated: Json): Json {
  if (!isMap(stated)) return stated;
  return Object.fromEntries(
    Object.entries(stated).filter(([word, value]) => !fieldWords.includes(word) || (word === 'required' && Array.isArray(value))),
  );
}

/** What is said, what is handled, and a row of which the caller itself is the identifier. */
function othersOf(draw: Draw, { document }: Draft, told: Set<string>): JsonMap {
  const others: Record<string, Json> = {};
  if (oneIn(draw, 3)) {
    told.add('reply');
    others['GET /about'] = {
      does: 'reply',
      as: 'about',
      response: {
        200: { shape: { type: 'object', properties: { name: 'string' }, required: ['name'] }, example: { name: 'Strange' } },
      },
    };
  }
  if (oneIn(draw, 3)) {
    told.add('handler');
    const headers = oneIn(draw, 2) ? { headers: { 'X-Twice': 'string(result.twice)' } } : {};
    others['GET /twice/{n}'] = {
      does: 'handler twice',
      parameters: {
        n: { in: 'path', type: 'integer', minimum: 0, maximum: 1000 },
        tone: { in: 'query', enum: ['low', 'high'], default: 'low' },
      },
      response: {
        200: {
          shape: { type: 'object', properties: { twice: 'integer', tone: 'string' }, required: ['twice', 'tone'] },
          ...headers,
        },
      },
    };
  }
  const defaults = pick<Json | undefined>(draw, [
    undefined,
    undefined,
    { all: { cache: 'no-store' } },
    { POST: { idempotency: { header: 'Idempotency-Key', keep: '1h' } } },
  ]);
  if (defaults !== undefined && !('defaults' in document)) others.defaults = defaults;
  return others;
}
