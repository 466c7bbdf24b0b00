import type { Json, JsonMap } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
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
import {
  celOf,
  dataOfList,
  type ListSaid,
  leadsByLink,
  type PageWords,
  pageStyleTold,
  pageWordsOf,
  shownWord,
} from './list-data.ts';
import { isAlike, namedAlikeLeast } from './memberships.ts';
import { pageStyleShown } from './page-links.ts';
import { pageStyleLinked, pageStyleOf } from './page-parameters.ts';
import { pathParts, singular, wordsOfName } from './paths.ts';
import { documentFields, isAnyMap, type ListOf, listIn } from './rows.ts';

/** `{ data, has_more }`, `{ items, next_cursor }`, `{ entries, total_count, offset }`, a bare list: what stands around the rows. */
export const listEnvelope: InferenceRule = {
  name: 'list-envelope',
  says: 'The one list of things in the answer of a list holds its rows; words beside it tell of the next page, of more and of all. A map that tells of pages in several forms has the members of all of them. What leads on is an address where its name, its example or its description says so; what is no count is told by a text of its name, or by `Link` beside a bare list. Where links or an address (`nextLink`) lead on and parameters say no more than how many rows a page has, a word of our own in them asks for the next; where they lead on in the example of the answer by a page that is counted (`next: …/things?page=2`), that does.',
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
  const properties = list.property === undefined ? undefined : context.written.propertiesOf(shapeOfAnswer(endpoint, status));
  const words: PageWords = properties ? pageWordsOf(context, properties, list) : { own: newMap(), inside: new Set() };
  const asked = pageStyleOf(context, operation, words.own.next !== undefined || words.inside.has('next'));
  const unasked = asked.style === inOnePiece.word ? properties : undefined;
  const linked = unasked && leadsByLink(context, unasked) ? pageStyleLinked(context, operation) : undefined;
  const shown = unasked && pageStyleShown(context, operation, status);
  const style = shown ?? (unasked && pageStyleTold(context, unasked)) ?? linked ?? asked;
  const again = properties && tokenAgain(context, style, properties.all, words);
  if (again !== undefined) words.own.next = again;
  else if (properties === undefined && leading.has(kindOf(style).tells)) style.told ??= 'link';
  // A list in one piece has neither a next page nor one before it.
  const { next: _next, previous: _previous, has_more: _more, ...around } = words.own;
  const kind = kindOf(style);
  const at = placeOfEndpoint(operation);
  const from = context.trail.origin(below(below(below(at, 'response'), status), 'shape')) ?? operation.map.at;
  const isTold = kind.tells !== 'nothing';
  const data = properties && dataOfList(context, properties, saidOf(style, kind, list, words));
  const counts = Object.values(data ?? {}).some((expression) => /\btotal\b/.test(String(expression)));
  endpoint.pagination = { ...style, ...(counts && { total: 'total' }), ...(isTold ? words.own : around) };
  context.trail.infer(below(at, 'pagination'), listEnvelope.name, from, isTold ? 0.9 : 0.5);
  if (data === undefined) return;
  extendAnswer(context, operation, status, { data });
  context.trail.infer(below(below(below(at, 'response'), status), 'data'), listEnvelope.name, from, 0.8);
}

/** What leads on from a page and no count can be made of. */
const leading: ReadonlySet<PageStyle['tells']> = new Set(['token', 'identifier']);

function kindOf({ style }: OpenMap): PageStyle {
  return pageStyles.find(({ word }) => word === style) ?? inOnePiece;
}

/** `{ customers, cursor }`, asked for by `cursor`: the text that is called like the parameter leads to the next page, where nothing else does. */
function tokenAgain(context: InferenceContext, style: OpenMap, all: JsonMap, words: PageWords): string | undefined {
  const { parameters, tells } = kindOf(style);
  const name = style[parameters[0]?.word ?? ''];
  if (tells !== 'token' || typeof name !== 'string' || words.own.next !== undefined || words.inside.has('next')) return undefined;
  return Object.keys(all).find(
    (member) => plainName(member) === plainName(name) && context.written.typeOf(all[member]) === 'string',
  );
}

/** What is known of a list, for the members around it. */
function saidOf(style: OpenMap, { parameters, tells }: PageStyle, list: ListOf, words: PageWords): ListSaid {
  const named = parameters.flatMap(({ word }) => (typeof style[word] === 'string' ? [style[word]] : []));
  const spoken = (name: unknown) => (typeof name === 'string' ? name : undefined);
  const usualSize = [style.default, style.max].find((one) => typeof one === 'number') ?? 100;
  return {
    list,
    words,
    tells,
    parameters: named,
    page: spoken(named[0]),
    size: spoken(style.size),
    usualSize: Number(usualSize),
  };
}

/** `{ ok: true, channel: … }` around the thing that was made, `{ id, deleted: true }` where it is gone. */
export const rowEnvelope: InferenceRule = {
  name: 'row-envelope',
  says: 'An answer about one thing that is no such resource holds it in a property, or tells its identifier and constants; one that tells of an operation which may take long (`name`, `done`, `error`, `response`) tells that it is done, with the thing as its response; a property that is called like the resource holds it also where it shows half of its fields.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      const status = successOf(endpoint);
      if (!effect || !('resource' in effect) || effect.verb === 'list' || status === undefined) continue;
      const shape = shapeOfAnswer(endpoint, status);
      if (shape === undefined || isThing(context, shape, effect.resource)) continue;
      const listed = effect.verb === 'delete' ? undefined : context.written.itemsOf(shape);
      const isOfOne = listed !== undefined && isThing(context, listed, effect.resource);
      const data = isOfOne ? '[result]' : rowDataOf(context, shape, effect.resource, effect.verb === 'delete');
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

/** The thing itself, or the same in another shape. */
function isThing(context: InferenceContext, shape: Json, resource: string): boolean {
  return shows(context, shape, resource) || isAlike(context, shape, resource);
}

/** What makes each property of such an answer; nothing where one is left over that it must carry, or that the thing has. */
function rowDataOf(context: InferenceContext, shape: Json, resource: string, isGone: boolean): OpenMap | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  if (tellsOperation(context, properties.all))
    return Object.assign(newMap(), { done: 'true' }, !isGone && { response: 'result' });
  const data: OpenMap = newMap();
  const left: string[] = [];
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = rowExpression(context, name, inner, resource, isGone);
    if (expression !== undefined) data[name] = expression;
    else left.push(name);
  }
  // Beside the whole thing, a member that is called like one of its fields speaks of the answer, and what is required besides is of other things.
  const holdsThing = Object.values(data).some((expression) => expression === 'result' || expression === '[result]');
  if (!holdsThing && left.some((name) => properties.required.includes(name) || isField(context, resource, name)))
    return undefined;
  for (const name of left) {
    const word = properties.required.includes(name) ? shownWord(context, properties.all[name] as Json) : undefined;
    if (holdsThing && word !== undefined) data[name] = word;
  }
  return Object.keys(data).length > 0 && speaksOfRow(data) ? data : undefined;
}

/** Whether these are the members of an operation that may take long: what it is called, whether it is done, and what came of it, or went wrong. */
export function tellsOperation({ written }: InferenceContext, all: Readonly<Record<string, Json>>): boolean {
  const { name, done, error, response } = all;
  const isFlagged = written.typeOf(name) === 'string' && written.typeOf(done) === 'boolean' && error !== undefined;
  return isFlagged && response !== undefined && isAnyMap(written, response);
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
  if (!isGone && isAnyMap(written, shape) && (isOfAnyMembers(context, resource) || enveloping.test(name))) return 'result';
  if (isThing(context, shape, resource)) return row;
  // `{ category: {…} }` shows the category, also where it shows more or less of it than another answer.
  if (isNamedAfter(name, resource) && isAlike(context, shape, resource, namedAlikeLeast)) return row;
  const list = written.itemsOf(shape);
  if (!isGone && list !== undefined && isThing(context, list, resource)) return '[result]';
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

/** Whether a member is called as a resource is. */
function isNamedAfter(name: string, resource: string): boolean {
  const letters = (one: string) => wordsOfName(one).map(singular).join('');
  return letters(name) !== '' && letters(name) === letters(resource);
}

/** Members that hold the thing where nothing is said of them but that they are maps. */
const enveloping = /^(?:data|result|item)$/;

/** Whether nothing is known of a resource but what it is told by. */
function isOfAnyMembers({ resources }: InferenceContext, name: string): boolean {
  const resource = resources[name];
  const field = isMap(resource) && isMap(resource.identifier) ? resource.identifier.field : undefined;
  const others = Object.entries(documentFields(resources, name)).filter(([own]) => own !== field);
  return field !== undefined && others.every(([, shape]) => isMap(shape) && shape.visible === 'none');
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
