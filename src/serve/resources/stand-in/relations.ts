import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Transaction } from '../../../store/store.ts';
import type { Fields, Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { Relate } from '../stand-in.ts';

/**
 * Compiles a relation: `/lists/{list}/relationships/profiles`, or `/contacts/{contact}/companies/{company}`, below a thing, called like
 * things that are kept elsewhere. POST binds those that the body names, PUT and PATCH these alone, DELETE looses them, and GET shows
 * them; from the other end the same is seen. Nothing where the path is of another form.
 */
export function compileRelation(
  endpoint: Endpoint,
  owner: RowModel,
  depth: number,
  { things, bound }: Relations,
  samples: Samples,
): Relate | undefined {
  const [word = '', last, ...more] = stepsOf(endpoint.path).slice(depth);
  const target = more.length === 0 && !isParameter(word) ? things.get(word) : undefined;
  const parameter = last === undefined ? undefined : /^\{([^{}]+)\}$/.exec(last)?.[1];
  if (target === undefined || target === owner.name || (last !== undefined && parameter === undefined)) return undefined;
  if (!bound.has(keyOf(owner.name, target))) return undefined;
  const show = compileShow(endpoint, samples);
  return (work, exchange, id) => {
    const model = work.models.get(target);
    if (!model) return undefined;
    const named = parameter === undefined ? idsIn(exchange.request) : [exchange.pathParams[parameter] ?? ''];
    const { method } = exchange.call;
    if (method === 'GET') return show(rowsOf(work, model, relatedTo(work.rows, owner.name, id, target)), model);
    if (named.length === 0) return undefined;
    change(work.rows, owner.name, id, target, named, method);
    // An answer that is such a thing is the one that was named.
    const [row] = method === 'DELETE' ? [] : rowsOf(work, model, named);
    return row && showsOne(endpoint, target) ? row : undefined;
  };
}

/** The steps of a path, without the word that only says that relations follow. */
function stepsOf(path: string): string[] {
  return path
    .replace(/[?#].*$/, '')
    .split('/')
    .filter((step) => step !== 'relationships');
}

/** What a document's paths say of things that belong to others. */
export interface Relations {
  /** The kept resource of which one is read at a path that ends in a word and a parameter; that of the shortest such path. */
  readonly things: ReadonlyMap<string, string>;
  /** The pairs of resources whose things some operation binds of which nothing else is known, from either end. */
  readonly bound: ReadonlySet<string>;
}

export function relationsOf(spec: Spec): Relations {
  const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
  const things = new Map<string, string>();
  for (const { path, does } of endpoints.toSorted((one, other) => one.path.length - other.path.length)) {
    const effect = statedValue(does);
    const [before = '', last = ''] = path.split('/').slice(-2);
    if (effect?.verb === 'read' && isParameter(last) && !things.has(before)) things.set(before, effect.resource);
  }
  const bound = new Set<string>();
  for (const { method, path, does } of endpoints) {
    if (!binding.has(method) || statedValue(does) !== undefined) continue;
    const steps = stepsOf(path);
    const at = steps.findLastIndex((step) => !isParameter(step));
    const [owner = '', parameter = '', word = ''] = steps.slice(Math.max(at - 2, 0), at + 1);
    const [one, other] = [things.get(owner), things.get(word)];
    if (isParameter(parameter) && one !== undefined && other !== undefined) bound.add(keyOf(one, other));
  }
  return { things, bound };
}

const binding: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function isParameter(step: string): boolean {
  return step.startsWith('{');
}

/** The identifiers that a body names: `{ id }`, `{ ids }`, `{ data: [{ id }] }`. */
function idsIn(request: Value): string[] {
  if (Array.isArray(request)) return request.flatMap(idsIn);
  if (typeof request === 'string' || typeof request === 'number') return [String(request)];
  if (!isFields(request)) return [];
  for (const name of ['data', 'ids', 'id']) if (request[name] !== undefined) return idsIn(request[name]);
  return [];
}

/** The pairs that are bound, each with the identifier of the resource that comes first in the alphabet first; so many at most. */
type Pair = readonly [string, string];
const pairsMost = 1000;

function keyOf(one: string, other: string): string {
  return `related\n${[one, other].sort().join('\n')}`;
}

function pairsOf(rows: Pick<Transaction, 'record'>, one: string, other: string): Pair[] {
  const body = rows.record(keyOf(one, other), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? [] : (JSON.parse(body) as Pair[]);
}

function relatedTo(rows: Pick<Transaction, 'record'>, owner: string, id: string, target: string): string[] {
  const [own, others] = owner < target ? ([0, 1] as const) : ([1, 0] as const);
  return pairsOf(rows, owner, target).flatMap((pair) => (pair[own] === id ? [pair[others]] : []));
}

function change(rows: Transaction, owner: string, id: string, target: string, named: readonly string[], method: string): void {
  const pairOf = (other: string): Pair => (owner < target ? [id, other] : [other, id]);
  const own = owner < target ? 0 : 1;
  const isNamed = (pair: Pair) => pair[own] === id && named.includes(pair[1 - own] ?? '');
  const stays = (pair: Pair) => (method === 'PUT' || method === 'PATCH' ? pair[own] !== id : !isNamed(pair));
  const kept = pairsOf(rows, owner, target).filter(stays);
  const next = method === 'DELETE' ? kept : [...kept, ...named.map(pairOf)];
  const body = toJson(next.slice(-pairsMost));
  rows.keep(keyOf(owner, target), { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER });
}

function rowsOf({ rows }: Work, model: RowModel, ids: readonly string[]): Fields[] {
  return ids.flatMap((id) => {
    const row = rows.get(model.name, id);
    return row ? [model.parse(row)] : [];
  });
}

function showsOne({ response }: Endpoint, target: string): boolean {
  return (statedValue(response) ?? []).some(({ status, shape }) => /^2/.test(status) && statedValue(shape)?.resource === target);
}

/** Rows as the list of an answer shows them: with the members that it has for them. */
function compileShow({ response }: Endpoint, samples: Samples): (rows: readonly Fields[], model: RowModel) => Value | undefined {
  const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
  const shape = answer && statedValue(answer.shape);
  const lists = shape === undefined ? [] : listsIn(shape, samples);
  const [list] = lists;
  if (list === undefined || lists.length > 1) return () => undefined;
  const members = new Set(Object.keys(samples.membersOf(list.items)));
  return (rows, { identifier }) => {
    const shown = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => name === identifier.field || members.has(name))),
    );
    return list.name === undefined ? shown : { [list.name]: shown };
  };
}

/** The lists of things that an answer is or holds. */
function listsIn(shape: Shape, samples: Samples): { readonly name: string | undefined; readonly items: Shape }[] {
  const itemsOf = (one: Json): Shape | undefined => {
    const items = isPlainMap(one) ? samples.whole(one).items : undefined;
    return isPlainMap(items) && Object.keys(samples.membersOf(items)).length > 0 ? items : undefined;
  };
  const bare = itemsOf(shape);
  if (bare) return [{ name: undefined, items: bare }];
  return Object.entries(samples.membersOf(shape)).flatMap(([name, inner]) => {
    const items = itemsOf(inner);
    return items && !/^included$/i.test(name) ? [{ name, items }] : [];
  });
}
