import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { envelopeLike, envelopeMembers } from '../../../kinds/envelopes/all.ts';
import { inOnePiece, pageStyles } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import {
  endpointOf,
  extendAnswer,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { pageStyleOf } from './page-parameters.ts';
import { pathParts } from './paths.ts';
import { type ListOf, listIn } from './rows.ts';

/** `{ data, has_more }`, `{ items, next_cursor }`, `{ entries, total_count, offset }`, a bare list: what stands around the rows. */
export const listEnvelope: InferenceRule = {
  name: 'list-envelope',
  says: 'The one list of things in the answer of a list holds its rows; words beside it tell of the next page, of more and of all.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      if (typeof endpoint.does !== 'string' || !endpoint.does.startsWith('list ')) continue;
      const status = successOf(endpoint);
      const list = listIn(context.written, shapeOfAnswer(endpoint, status), pathParts(operation.path).segments.at(-1));
      if (status === undefined || list === undefined) continue;
      writePagination(context, operation, status, list);
    }
  },
};

function writePagination(context: InferenceContext, operation: SourceOperation, status: string, list: ListOf): void {
  const endpoint = endpointOf(context, operation);
  // Of a list that stands deeper in its answer, only how its pages are asked for is said, by the next rule.
  if (list.outer !== undefined) return;
  const properties = list.property === undefined ? undefined : context.written.propertiesOf(shapeOfAnswer(endpoint, status));
  const words = properties === undefined ? newMap() : envelopeWords(Object.keys(properties.all), list.property ?? '');
  const style = pageStyleOf(context, operation, words.next !== undefined);
  // A list in one piece has neither a next page nor one before it.
  const { next: _next, previous: _previous, has_more: _more, ...around } = words;
  const { tells } = pageStyles.find(({ word }) => word === style.style) ?? inOnePiece;
  endpoint.pagination = { ...style, ...(tells === 'nothing' ? around : words) };
  const at = placeOfEndpoint(operation);
  const from = context.trail.origin(below(below(below(at, 'response'), status), 'shape')) ?? operation.map.at;
  context.trail.infer(below(at, 'pagination'), listEnvelope.name, from, tells === 'nothing' ? 0.5 : 0.9);
  if (properties === undefined) return;
  const data = dataOf(context, properties.all, properties.required, words, tells);
  if (data === undefined) return;
  extendAnswer(context, operation, status, { data });
  context.trail.infer(below(below(below(at, 'response'), status), 'data'), listEnvelope.name, from, 0.8);
}

/** The words of pagination that the names of an envelope's fields stand for. */
function envelopeWords(names: readonly string[], items: string): OpenMap {
  const words: OpenMap = newMap();
  words.items = items;
  for (const [word, known] of envelope) {
    const name = names.find((one) => known.has(plain(one)));
    if (name !== undefined) words[word] = name;
  }
  return words;
}

const envelope: readonly (readonly [string, ReadonlySet<string>])[] = [
  [
    'next',
    new Set(['nextcursor', 'nextmarker', 'nextpagetoken', 'nexttoken', 'iterator', 'endcursor', 'nextpage', 'next', 'nexturl']),
  ],
  [
    'previous',
    new Set([
      'previouscursor',
      'prevcursor',
      'previousmarker',
      'previous',
      'prev',
      'previousurl',
      'prevpage',
      'previterator',
      'previouspage',
    ]),
  ],
  ['has_more', new Set(['hasmore', 'hasnext', 'hasnextpage'])],
  ['total', new Set(['total', 'totalcount', 'totalresults', 'totalitems', 'totalentries'])],
];

function plain(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}]/gu, '').toLowerCase();
}

/** What makes each field of the envelope; nothing where a field that answers must carry cannot be made. */
function dataOf(
  context: InferenceContext,
  all: Readonly<Record<string, Json>>,
  required: readonly string[],
  words: OpenMap,
  tells: PageStyle['tells'],
): OpenMap | undefined {
  const data: OpenMap = newMap();
  for (const [name, shape] of Object.entries(all)) {
    const expression = expressionOf(context, name, shape, words, tells);
    if (expression !== undefined) data[name] = expression;
    else if (required.includes(name)) return undefined;
  }
  return data;
}

function expressionOf(
  context: InferenceContext,
  name: string,
  shape: Json,
  words: OpenMap,
  tells: PageStyle['tells'],
): string | undefined {
  const { written } = context;
  const type = written.typeOf(shape);
  if (name === words.items) return 'items';
  if (name === words.has_more && type === 'boolean') return 'has_more';
  if (name === words.total && (type === 'integer' || type === 'number')) return type === 'integer' ? 'total' : 'double(total)';
  if (name === words.next || name === words.previous) return linkOf(name === words.next, plain(name), type, tells);
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  if (name === 'done' && type === 'boolean' && words.next !== undefined) return '!has_more';
  if (plain(name) === 'count' && type === 'integer') return 'size(items)';
  if ((name === 'url' || name === 'uri') && type === 'string') return 'path';
  if (name === 'object' && type === 'string') return "'list'";
  const inner = written.propertiesOf(shape)?.all;
  const [key, only] = inner === undefined ? [] : (Object.entries(inner)[0] ?? []);
  if (key !== undefined && only !== undefined && /next_?cursor/i.test(key) && tells === 'token') {
    return `has_more ? {'${key}': next_cursor} : {'${key}': ''}`;
  }
  return undefined;
}

/** A cursor as it is; a whole address is made of the path and the cursor. */
function linkOf(isNext: boolean, name: string, type: string | undefined, tells: PageStyle['tells']): string | undefined {
  if (!isNext || type !== 'string' || (tells !== 'token' && tells !== 'identifier')) return undefined;
  return name.endsWith('url') ? undefined : 'next_cursor';
}

/** A value as CEL writes it. */
export function celOf(value: Json): string | undefined {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  return typeof value === 'boolean' || typeof value === 'number' ? String(value) : undefined;
}

/** `{ ok: true, channel: … }` around the thing that was made, `{ id, deleted: true }` where it is gone. */
export const rowEnvelope: InferenceRule = {
  name: 'row-envelope',
  says: 'An answer about one thing that is no such resource holds it in a property, or tells its identifier and constants.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      const status = successOf(endpoint);
      if (!effect || !('resource' in effect) || effect.verb === 'list' || status === undefined) continue;
      const shape = shapeOfAnswer(endpoint, status);
      if (shape === undefined || shows(context, shape, effect.resource)) continue;
      const data = rowDataOf(context, shape, effect.resource, effect.verb === 'delete');
      if (data === undefined) continue;
      const at = below(below(placeOfEndpoint(operation), 'response'), status);
      const from = context.trail.origin(below(at, 'shape')) ?? operation.map.at;
      extendAnswer(context, operation, status, { data });
      context.trail.infer(below(at, 'data'), rowEnvelope.name, from, 0.7);
    }
  },
};

/** Whether an answer is the thing itself, or a union that the thing is one of. */
function shows(context: InferenceContext, shape: Json, resource: string): boolean {
  if (context.written.resourceOf(shape) === resource) return true;
  return context.written.alternativesOf(shape)?.some((one) => shows(context, one, resource)) ?? false;
}

/** What makes each property of such an answer; nothing where one is left over that it must carry, or that the thing has. */
function rowDataOf(context: InferenceContext, shape: Json, resource: string, isGone: boolean): OpenMap | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const data: OpenMap = newMap();
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = rowExpression(context, name, inner, resource, isGone);
    if (expression !== undefined) data[name] = expression;
    else if (properties.required.includes(name) || isField(context, resource, name)) return undefined;
  }
  return Object.keys(data).length > 0 && speaksOfRow(data) ? data : undefined;
}

function isField({ resources }: InferenceContext, resource: string, name: string): boolean {
  const entry = resources[resource];
  return isMap(entry) && isMap(entry.fields) && Object.hasOwn(entry.fields, name);
}

/** Constants alone would be an answer about nothing. */
function speaksOfRow(data: OpenMap): boolean {
  return Object.values(data).some((expression) => /\b(?:result|resource)\b/.test(String(expression)) || expression === 'true');
}

function rowExpression(
  context: InferenceContext,
  name: string,
  shape: Json,
  resource: string,
  isGone: boolean,
): string | undefined {
  const { written, resources } = context;
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  if (/^(?:is_?)?deleted$/i.test(name) && written.typeOf(shape) === 'boolean') return isGone ? 'true' : undefined;
  const row = isGone ? 'resource' : 'result';
  if (!isGone && shows(context, shape, resource)) return 'result';
  const list = written.itemsOf(shape);
  if (!isGone && list !== undefined && shows(context, list, resource)) return '[result]';
  if (!isGone && /^total_?(?:count)?$/i.test(name) && written.typeOf(shape) === 'integer') return '1';
  const entry = resources[resource];
  if (!isMap(entry) || !isMap(entry.fields) || !Object.hasOwn(entry.fields, name)) return undefined;
  const isSame = written.typeOf(entry.fields[name]) !== undefined && written.typeOf(entry.fields[name]) === written.typeOf(shape);
  if (!isSame || !/^[A-Za-z_]\w*$/.test(name) || written.propertiesOf(shape) !== undefined) return undefined;
  const required = Array.isArray(entry.required) && entry.required.includes(name);
  if (required) return `${row}.${name}`;
  // A thing always has its identifier, whether or not the source says that answers do.
  if (!isMap(entry.identifier) || entry.identifier.field !== name) return undefined;
  return `has(${row}.${name}) ? ${row}.${name} : ${written.typeOf(shape) === 'string' ? "''" : '0'}`;
}

/** `{ type, created_at, data }` around every event is the envelope; what each kind carries is its `data`. */
export const eventEnvelope: InferenceRule = {
  name: 'event-envelope',
  says: 'Where the body of every webhook has `data` beside its name, its time or its identifier, these are the envelope, and `data` the payload.',
  infer(context) {
    const { tree, trail, written } = context;
    if (!isMap(tree.events) || !isMap(tree.events.kinds) || !isMap(tree.events.delivery)) return;
    const { kinds, delivery } = tree.events;
    const bodies = Object.entries(kinds).map(([name, kind]) => ({ name, kind, shape: isMap(kind) ? kind.payload : undefined }));
    const envelopes = bodies.map(({ name, shape }) => envelopeOf(context, name, shape));
    const [first] = envelopes;
    const isSame = envelopes.every((one) => one !== undefined && JSON.stringify(one) === JSON.stringify(first));
    if (first === undefined || !isSame) return;
    for (const { name, kind, shape } of bodies) {
      const at = below(below('/events/kinds', name), 'payload');
      const origin = trail.origin(at) ?? '';
      const data = written.propertiesOf(shape)?.all.data;
      if (data === undefined || !isMap(kind)) continue;
      made(kind).payload = data;
      const target = written.resourceOf(shape);
      if (target === undefined) leaveEnvelope(context, origin, Object.keys(first));
      const inside = target === undefined ? below(origin, 'properties') : below(below('/resources', target), 'fields');
      trail.from(at, target === undefined ? below(inside, 'data') : (trail.origin(below(inside, 'data')) ?? origin));
    }
    // What a word says is written by its word.
    made(delivery).envelope = envelopeLike(constantsIn(context, bodies[0]?.shape)) ?? first;
    trail.infer('/events/delivery/envelope', eventEnvelope.name, trail.origin('/events/delivery') ?? '', 0.8);
  },
};

/** What a webhook says of its own envelope, which one of all webhooks stands for. */
function leaveEnvelope({ reader }: InferenceContext, body: string, names: readonly string[]): void {
  const why = 'the envelope of all events stands for it';
  reader.leave(below(body, 'title'), why);
  for (const name of names) if (name !== 'data') reader.leave(below(below(body, 'properties'), name), why);
}

/** The members of a body, each with its constant where it has one. */
function constantsIn({ written }: Pick<InferenceContext, 'written'>, shape: Json | undefined): Readonly<Record<string, unknown>> {
  const members = Object.entries(written.propertiesOf(shape)?.all ?? {});
  return Object.fromEntries(members.map(([key, inner]) => [key, written.constantOf(inner)?.value]));
}

function envelopeOf({ written }: InferenceContext, name: string, shape: Json | undefined): OpenMap | undefined {
  const properties = written.propertiesOf(shape);
  if (properties?.all.data === undefined) return undefined;
  const word = envelopeLike(constantsIn({ written }, shape));
  const known = word && envelopeMembers(word, {});
  if (known) return Object.assign(newMap(), known);
  const envelope: OpenMap = newMap();
  for (const [key, inner] of Object.entries(properties.all)) {
    const constant = written.constantOf(inner)?.value;
    if (key === 'data') envelope.data = 'event.payload';
    else if (/^(?:type|event|event_?type|kind|name)$/i.test(key) && (constant === undefined || constant === name))
      envelope[key] = 'event.kind';
    else if (/^(?:id|event_?id)$/i.test(key)) envelope[key] = 'event.id';
    else if (/^(?:timestamp|created|created_?at|occurred_?at|time)$/i.test(key)) envelope[key] = 'event.at';
    else return undefined;
  }
  return Object.keys(envelope).length > 1 ? envelope : undefined;
}
