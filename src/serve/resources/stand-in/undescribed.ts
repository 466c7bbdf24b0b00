/** Paths whose answers a source does not describe at all: what is sent there is kept, and told as JSON. */

import { isDeepStrictEqual } from 'node:util';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Spec } from '../../../parts/spec.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Transaction } from '../../../store/store.ts';
import { type Exchange, type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { StandIn } from '../stand-in.ts';
import { isCalled, type KeptPlace, keepAt, keptAt, placeAbove, plainPlaceOf } from './kept-answers.ts';
import { compilePlainCut } from './open-pages.ts';
import { type Sampling, tellSampled } from './sampling.ts';

/**
 * Compiles it for an endpoint of which neither the effect nor any answer is known: `POST /boards` makes one with an identifier, `GET /boards` lists what was made,
 * and `/boards/{board}` reads, changes and takes out one of them; elsewhere what was sent last is read again. Nothing where any of it is described, or where
 * no answer of the path's family should have a body.
 */
export function compileUndescribed(
  endpoint: Endpoint,
  spec: Spec,
  sampling: Sampling,
): ReturnType<StandIn['compileUndescribed']> {
  const isReading = endpoint.method === 'GET';
  const status = undescribedStatus(endpoint) ?? (isReading ? undefined : bodilessStatus(endpoint));
  if (status === undefined) return undefined;
  const family = new Family(endpoint.path, spec);
  if (!isReading && !family.isRead) return undefined;
  const act = family.isThing
    ? one(endpoint, family)
    : family.isCollection || (isReading && family.isMadeElsewhere)
      ? all(endpoint, family, sampling)
      : place(endpoint);
  return (rows, exchange) => {
    const value = act(rows, exchange) ?? {};
    if (bodiless.has(`${status}`)) return { status, headers: {}, body: undefined };
    return { status, headers: { 'content-type': 'application/json' }, body: toJson(value) };
  };
}

type Act = (rows: Transaction, exchange: Exchange) => Value | undefined;

/** The status of an answer of success that has no shape and should have a body; nothing where one says anything of it. */
function undescribedStatus({ does, response, produces, method }: Endpoint): number | undefined {
  if (statedValue(does) !== undefined || !methods.has(method)) return undefined;
  const answers = (statedValue(response) ?? []).filter(({ status }) => /^2(?:\d\d|XX)$/i.test(status));
  const types = [...(produces ?? []), ...answers.flatMap((one) => one.produces ?? [])];
  if (types.length > 0 && !types.some((type) => /[/+]json\b|^\*\/\*/.test(type))) return undefined;
  const isSaid = answers.some(
    ({ shape, examples, stream }) => saysAnything(statedValue(shape) ?? {}) || stream || Object.keys(examples).length > 0,
  );
  const [first] = answers;
  if (!first || isSaid || answers.some(({ status }) => bodiless.has(status))) return undefined;
  return /^\d+$/.test(first.status) ? Number(first.status) : 200;
}

/** The one status of an answer of success that has no body. */
function bodilessStatus({ does, response, method }: Endpoint): number | undefined {
  const answers = (statedValue(response) ?? []).filter(({ status }) => /^2/.test(status));
  const [only, ...more] = answers;
  const isSo = statedValue(does) === undefined && methods.has(method) && more.length === 0 && only && bodiless.has(only.status);
  return isSo && !saysAnything(statedValue(only.shape) ?? {}) ? Number(only.status) : undefined;
}

const methods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const bodiless: ReadonlySet<string> = new Set(['202', '204', '205']);

/** Whether a shape says more than that there is a map. */
function saysAnything(shape: Shape): boolean {
  const { type, properties, additionalProperties: others, description: _, title: __, ...more } = shape;
  const isMap = type === undefined || type === 'object';
  const isOpen = (properties === undefined || isDeepStrictEqual(properties, {})) && (others === undefined || others === true);
  return !isMap || !isOpen || Object.keys(more).some((word) => !word.startsWith('x-'));
}

/** Whether an answer is said to be a map, whatever is in it. */
function isSaidMap({ response }: Endpoint): boolean {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  return answer !== undefined && statedValue(answer.shape)?.type === 'object';
}

/** What stands at a path, above it and below it. */
class Family {
  /** `/boards/{board}`, below what lists or makes boards. */
  readonly isThing: boolean;
  /** `/boards`, where there are things below it, or where things are made and listed. */
  readonly isCollection: boolean;
  /** Whether things of the collection are made there. */
  readonly isMade: boolean;
  /** `/boards/{board}/lists`, where lists are made at `/lists`. */
  readonly isMadeElsewhere: boolean;
  /** Whether an answer of reading any of it is undescribed, too. */
  readonly isRead: boolean;
  /** What the last parameter of a thing's path is called, and whether it is a number. */
  readonly called: string | undefined;
  readonly isNumbered: boolean;

  constructor(path: string, spec: Spec) {
    const all = entriesOf(spec.endpoints.all).map(([, one]) => one);
    const own = plainPlaceOf(path);
    const at = (place: string) => all.filter((one) => plainPlaceOf(one.path) === place);
    const collection = own.endsWith('/{}') ? own.slice(0, -3) : own;
    const makers = at(collection).filter(({ method }) => method === 'POST');
    const things = at(`${collection}/{}`);
    const lists = at(collection).filter(({ method }) => method === 'GET');
    this.isThing = own.endsWith('/{}') && collection !== '';
    this.isMade = makers.length > 0;
    const below = all.filter((one) => elsewhere(plainPlaceOf(one.path)) === collection);
    this.isCollection = !this.isThing && (things.length > 0 || (this.isMade && lists.length + below.length > 0));
    this.isMadeElsewhere = at(elsewhere(own) ?? '').some(({ method }) => method === 'POST');
    const readers = [...lists, ...things, ...at(own), ...below].filter(({ method }) => method === 'GET');
    this.isRead = readers.some((one) => undescribedStatus(one) !== undefined);
    const [thing] = things;
    this.called = /\{([^{}]+)\}\/?$/.exec(thing?.path ?? '')?.[1];
    const parameter = this.called === undefined ? undefined : statedValue(thing?.parameters)?.[this.called];
    const type = parameter && statedValue(parameter.shape)?.type;
    this.isNumbered = type === 'integer' || type === 'number';
  }
}

/** `/lists` of `/boards/{board}/lists`; nothing where a path does not stand below one thing. */
function elsewhere(path: string): string | undefined {
  const [, above = '', name] = /^(.*)\/[^/{}]+\/[^/]+\/([^/{}]+)\/?$/.exec(path) ?? [];
  return name === undefined ? undefined : `${above}/${name}`;
}

/** `GET /boards`, `POST /boards`. Of what is made elsewhere those are listed that name the thing above. */
function all(endpoint: Endpoint, family: Family, sampling: Sampling): Act {
  const { method, path } = endpoint;
  // A map that lists things has them under the name of what it lists.
  const [name = 'items'] = /[\w-]+(?=\/?$)/.exec(path) ?? [];
  const cut = compilePlainCut(endpoint, sampling.shown);
  const listed = (items: readonly Fields[], exchange: Exchange): Value => {
    const shown = cut(narrowed(items, exchange), exchange);
    return isSaidMap(endpoint) ? { [name]: shown } : shown;
  };
  return (rows, exchange) => {
    const { call, request, pathParams } = exchange;
    const kept = keptAt(rows, call.path);
    const other = family.isMadeElsewhere ? elsewhere(call.path) : undefined;
    const owner = Object.values(pathParams).at(-1) ?? '';
    const theirs = other === undefined ? [] : keptAt(rows, other).items.filter((item) => isCalled(item, undefined, owner));
    if (method === 'GET') return listed([...kept.items, ...theirs], exchange);
    if (method === 'DELETE') keepAt(rows, call.path, { fields: {}, items: [], made: false });
    if (method !== 'POST') return undefined;
    const thing = numbered(isFields(request) ? request : {}, kept, family, sampling, exchange);
    keepAt(rows, call.path, { ...kept, items: [...kept.items, thing].slice(-itemsMost), made: true });
    return thing;
  };
}

/** Things that have what the query asks for under the name of one of their members. */
function narrowed(items: readonly Fields[], { params, pathParams }: Exchange): readonly Fields[] {
  const asked = Object.entries(params).filter(
    ([name, value]) => !Object.hasOwn(pathParams, name) && value !== undefined && items.some((one) => Object.hasOwn(one, name)),
  );
  return items.filter((one) => asked.every(([name, value]) => String(one[name]) === String(value)));
}

const itemsMost = 500;

/** A new thing with what tells it from others: what was sent under the name that its path has for it, else an `id` that is made up. */
function numbered(
  sent: Fields,
  { items }: KeptPlace,
  { called, isNumbered }: Family,
  sampling: Sampling,
  exchange: Exchange,
): Fields {
  const word = called?.match(/[A-Z]?[a-z]+$/)?.[0].toLowerCase();
  const names = [called, word === 'id' ? undefined : word, 'id'].filter((name) => name !== undefined);
  // `{projectIdOrKey}`: a thing with a key has an identifier besides.
  const needed = called !== undefined && /id/i.test(called) && word !== 'id' ? ['id'] : names;
  if (needed.some((name) => typeof sent[name] === 'string' || typeof sent[name] === 'number')) return sent;
  tellSampled(exchange, ['id']);
  const id = isNumbered ? 1 + Math.max(0, ...items.map(numberOf)) : freshId(items, sampling, exchange.call.path);
  return { id, ...(called !== undefined && word === 'slug' && { [called]: slugOf(sent, String(id)) }), ...sent };
}

const numberOf = ({ id }: Fields): number => (Number.isSafeInteger(Number(id)) ? Number(id) : 0);

/** An identifier that none of these has, whatever was taken out meanwhile. */
function freshId(items: readonly Fields[], sampling: Sampling, path: string): string {
  const taken = new Set(items.map(({ id }) => id));
  for (let at = items.length; ; at++) {
    const id = sampling.chance(`${path}\n${at}`).uuid().replaceAll('-', '').slice(0, 24);
    if (!taken.has(id)) return id;
  }
}

/** What a thing is called in a path, after its title or name: `release-notes` of `Release notes`. */
function slugOf({ title, name }: Fields, id: string): string {
  const said = [title, name].find((one) => typeof one === 'string');
  return (
    (typeof said === 'string'
      ? said
          .toLowerCase()
          .match(/[a-z0-9]+/g)
          ?.join('-')
      : undefined) ?? id
  );
}

/** `/boards/{board}`: what was made is told, changed and taken out; what was not is not there, unless nothing makes such things. */
function one({ method }: Endpoint, { isMade, called }: Family): Act {
  return (rows, { call, request, pathParams }) => {
    const place = placeAbove(call.path);
    const list = keptAt(rows, place);
    const name = Object.values(pathParams).at(-1);
    const own = list.items.findIndex((item) => isCalled(item, 'id', name));
    const at = own >= 0 ? own : list.items.findIndex((item) => isCalled(item, undefined, name));
    const before = list.items[at];
    if (!before && (isMade || method === 'DELETE')) throw new Refused({ when: 'resource.missing' });
    if (method === 'GET') return before ?? { [called ?? 'id']: name ?? '' };
    const sent = isFields(request) ? request : {};
    const next = method === 'DELETE' ? [] : [(before ? mergeJson(before, sent) : { id: name ?? '', ...sent }) as Fields];
    const items = before ? list.items.toSpliced(at, 1, ...next) : [...list.items, ...next];
    keepAt(rows, place, { ...list, items: items.slice(-itemsMost), made: false });
    return next[0];
  };
}

/** Anything else: what was sent there last; several things where its name is one of many. */
function place(endpoint: Endpoint): Act {
  const { method, path } = endpoint;
  const isMany = /[^s/]s\/?$/.test(path) && !isSaidMap(endpoint);
  return (rows, { call, request }) => {
    const kept = keptAt(rows, call.path);
    if (method === 'GET') return Object.keys(kept.fields).length > 0 || !isMany ? kept.fields : [];
    const sent = isFields(request) ? request : {};
    const fields = method === 'DELETE' ? {} : method === 'PATCH' ? (mergeJson(kept.fields, sent) as Fields) : sent;
    if (method !== 'POST') keepAt(rows, call.path, { ...kept, fields });
    return fields;
  };
}
