import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Transaction } from '../../../store/store.ts';
import { type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import { isFields } from '../body.ts';
import { updateRow } from '../create.ts';
import type { RowModel } from '../model.ts';
import type { Relate } from '../stand-in.ts';
import { compileShow, listShown, listsIn } from './lists-shown.ts';
import { rowCalled } from './rows-called.ts';

/**
 * Compiles a relation below a thing. `/lists/{list}/relationships/profiles`, `/contacts/{contact}/companies/{company}` and `/tasks/{task}/addTag` are
 * called like things that are kept elsewhere, or like the list beside them: POST binds those that the body names, PUT and PATCH these alone,
 * DELETE and `remove…` loose them, and GET shows them; from the other end the same is seen. What is never bound so is seen by what rows say:
 * a list shows the things that name their owner or that it names, and none where there is none. Nothing where the path is of another form.
 */
export function compileRelation(
  endpoint: Endpoint,
  owner: RowModel,
  depth: number,
  relations: Relations,
  samples: Samples,
): Relate | undefined {
  const steps = stepsOf(endpoint.path);
  const [step = '', last, ...more] = steps.slice(depth);
  const parameter = last === undefined ? undefined : parameterIn(last);
  if (more.length > 0 || isParameter(step) || (last !== undefined && parameter === undefined)) return undefined;
  const { act, noun } = actOf(step);
  const found = targetOf(relations, steps.slice(0, depth), noun);
  if (found === undefined) return undefined;
  const { target, word } = found;
  const pair = target === owner.name ? `${target}\n${word}` : target;
  const show = compileShow(endpoint, samples);
  if (!relations.bound.has(keyOf(owner.name, pair))) {
    if (endpoint.method !== 'GET' || last !== undefined || act !== undefined || relations.unmade.has(target)) return undefined;
    return compileMentions(owner, target, show);
  }
  const showsMany = listShown(endpoint, samples)?.items.resource === target;
  return (work, exchange, id) => {
    const model = work.models.get(target);
    if (!model) return undefined;
    const told = parameter === undefined ? idsIn(exchange.request, noun) : [exchange.pathParams[parameter] ?? ''];
    const named = told.map((one) => (work.rows.get(target, one) ?? rowCalled(work.rows, model, one))?.id ?? one);
    const { method } = exchange.call;
    if (method === 'GET' && parameter !== undefined)
      return boundOne(work, model, named, relatedTo(work.rows, owner.name, id, pair));
    if (method === 'GET') return show(rowsOf(work, model, relatedTo(work.rows, owner.name, id, pair)), model);
    if (named.length === 0) return undefined;
    const way = act === undefined ? method : act;
    change(work.rows, owner.name, id, pair, named, way);
    showBound(work, owner, id, noun, relatedTo(work.rows, owner.name, id, pair));
    // An answer that is such a thing is the one that was named.
    const [row] = way === 'DELETE' ? [] : rowsOf(work, model, named);
    if (row && showsOne(endpoint, target)) return row;
    return row && showsMany ? show(rowsOf(work, model, relatedTo(work.rows, owner.name, id, pair)), model) : undefined;
  };
}

/** The thing that a path names among those that are bound; it is not there where it is none of them. @throws {Refused} `resource.missing`. */
function boundOne(work: Work, model: RowModel, named: readonly string[], bound: readonly string[]): Value | undefined {
  const [one = ''] = named;
  if (!bound.includes(one)) throw new Refused({ when: 'resource.missing' });
  return rowsOf(work, model, [one])[0];
}

/** Says in a list of identifiers that a row has (`group_ids`) which things are bound to it. */
function showBound(work: Work, owner: RowModel, id: string, noun: string, bound: readonly string[]): void {
  const names = [`${noun.replace(/s$/, '')}ids`, `${noun}ids`];
  const field = [...owner.fields.keys()].find((name) => names.includes(name.replaceAll(/[^A-Za-z]/g, '').toLowerCase()));
  const row = field === undefined ? undefined : work.rows.get(owner.name, id);
  if (!row || field === undefined) return;
  const before = owner.parse(row);
  if (before[field] === undefined || Array.isArray(before[field]))
    updateRow(work, owner, row, before, { ...before, [field]: [...bound] }, `bind ${noun}`);
}

/** What a sub-list shows of rows that nothing binds: those that say whose they are, and those that their owner names. */
function compileMentions(owner: RowModel, target: string, show: ReturnType<typeof compileShow>): Relate {
  return (work, _exchange, id) => {
    const model = work.models.get(target);
    const own = work.rows.get(owner.name, id);
    if (!model || !own) return undefined;
    const named = new Set(namesIn(owner.parse(own), 0));
    const rows = work.rows.scan(target, 0, lookedAtMost).flatMap((row) => {
      const fields = model.parse(row);
      const others = Object.entries(fields).filter(([name]) => name !== model.identifier.field);
      const isMeant = target === owner.name ? false : named.has(row.id);
      return isMeant || others.some(([, value]) => namesIn(value, 0).includes(id)) ? [fields] : [];
    });
    return show(rows, model);
  };
}

/** How many rows are looked at for one that names another. */
const lookedAtMost = 1000;
const namesDepthMost = 4;

/** The texts and numbers in a value by which it may name a thing. */
function namesIn(value: Value, depth: number): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)];
  if (depth > namesDepthMost || !value || typeof value !== 'object' || value instanceof Uint8Array) return [];
  return Object.values(value).flatMap((inner: Value) => namesIn(inner, depth + 1));
}

/** What a word in a path does to what it is called like: `addTag` binds tags, `remove_tag` looses them. */
function actOf(step: string): { readonly act: 'POST' | 'DELETE' | 'PUT' | undefined; readonly noun: string } {
  const [, word = '', rest = ''] = /^(add|attach|link|remove|detach|unlink|set|replace)(?:[_-]|(?=[A-Z]))(.+)$/.exec(step) ?? [];
  if (rest === '') return { act: undefined, noun: step };
  const act = word === 'set' || word === 'replace' ? 'PUT' : /^(?:add|attach|link)$/.test(word) ? 'POST' : 'DELETE';
  return { act, noun: rest.charAt(0).toLowerCase() + rest.slice(1) };
}

/** The things that a word below others is called like, in one or in many; else those that the list of that name shows. */
function targetOf(
  { things, shown }: Relations,
  above: readonly string[],
  noun: string,
): { readonly target: string; readonly word: string } | undefined {
  const words = [noun, `${noun}s`, `${noun}es`, noun.replace(/y$/, 'ies')];
  for (const word of words) {
    const target = things.get(word) ?? shown.get(placeOf([...above, word]));
    if (target !== undefined) return { target, word };
  }
  return undefined;
}

/** A path whatever its parameters are called. */
function placeOf(steps: readonly string[]): string {
  return steps.map((step) => (isParameter(step) ? '{}' : step)).join('/');
}

function parameterIn(step: string): string | undefined {
  return /^\{([^{}]+)\}$/.exec(step)?.[1];
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
  /** The kept resource that the list at a path shows, in whatever shape. */
  readonly shown: ReadonlyMap<string, string>;
  /** The pairs of resources whose things some operation binds of which nothing else is known, from either end. */
  readonly bound: ReadonlySet<string>;
  /** The kept resources that no operation makes. */
  readonly unmade: ReadonlySet<string>;
}

export function relationsOf(spec: Spec, samples: Samples): Relations {
  const endpoints = entriesOf(spec.endpoints.all).map(([, endpoint]) => endpoint);
  const things = new Map<string, string>();
  const made = new Set<string>();
  for (const { path, does } of endpoints.toSorted((one, other) => one.path.length - other.path.length)) {
    const effect = statedValue(does);
    const [before = '', last = ''] = path.split('/').slice(-2);
    if (effect?.verb === 'read' && isParameter(last) && !things.has(before)) things.set(before, effect.resource);
    if (effect?.verb === 'create' || effect?.verb === 'upsert') made.add(effect.resource);
  }
  const shown = shownLists(endpoints, new Set(things.values()), samples);
  const relations = { things, shown, unmade: new Set([...things.values()].filter((one) => !made.has(one))) };
  const bound = new Set<string>();
  for (const { method, path, does } of endpoints) {
    if (!binding.has(method) || statedValue(does) !== undefined) continue;
    const steps = stepsOf(path);
    const at = steps.findLastIndex((step) => !isParameter(step));
    const [above = '', parameter = '', word = ''] = steps.slice(Math.max(at - 2, 0), at + 1);
    const owner = things.get(above);
    const found = targetOf({ ...relations, bound }, steps.slice(0, at), actOf(word).noun);
    if (!isParameter(parameter) || owner === undefined || found === undefined) continue;
    bound.add(keyOf(owner, found.target === owner ? `${owner}\n${found.word}` : found.target));
  }
  return { ...relations, bound };
}

/** The kept resources that lists show of which nothing else is known, in a short form too: `TaskCompact` of a `TaskResponse`. */
function shownLists(endpoints: readonly Endpoint[], kept: ReadonlySet<string>, samples: Samples): ReadonlyMap<string, string> {
  const byStem = new Map([...kept].map((name) => [stemOf(name), name]));
  const shown = new Map<string, string>();
  for (const { method, path, does, response } of endpoints) {
    if (method !== 'GET' || statedValue(does) !== undefined) continue;
    const answer = (statedValue(response) ?? []).find(({ status }) => /^2/.test(status));
    const shape = answer && statedValue(answer.shape);
    const [list, ...others] = shape === undefined ? [] : listsIn(shape, samples);
    const resource = list && others.length === 0 ? list.items.resource : undefined;
    const target = typeof resource === 'string' ? (kept.has(resource) ? resource : byStem.get(stemOf(resource))) : undefined;
    if (target !== undefined) shown.set(placeOf(stepsOf(path)), target);
  }
  return shown;
}

/** The name of a resource without what says in which shape it is. */
function stemOf(name: string): string {
  return name
    .replaceAll(/[^A-Za-z\d]/g, '')
    .toLowerCase()
    .replace(/(?:compact|summary|minimal|simple|short|base|reference|response|full|detail|details|detailed|object|dto)+$/, '');
}

const binding: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

function isParameter(step: string): boolean {
  return step.startsWith('{');
}

/** The identifiers that a body names: `{ id }`, `{ ids }`, `{ data: [{ id }] }`, and by the word of the relation: `{ tag }`, `{ tag_ids }`. */
function idsIn(request: Value, noun: string): string[] {
  if (Array.isArray(request)) return request.flatMap((one: Value) => idsIn(one, noun));
  if (typeof request === 'string' || typeof request === 'number') return [String(request)];
  if (!isFields(request)) return [];
  const one = noun.replace(/s$/, '');
  const names = [
    'data',
    'ids',
    'id',
    noun,
    one,
    `${one}_id`,
    `${one}_ids`,
    `${one}Id`,
    `${one}Ids`,
    'gid',
    'uuid',
    'key',
    'name',
  ];
  for (const name of names) if (request[name] !== undefined) return idsIn(request[name], noun);
  return [];
}

/** The pairs that are bound, each with the identifier of the resource that comes first in the alphabet first; so many at most. */
type Pair = readonly [string, string];
const pairsMost = 1000;

function keyOf(one: string, other: string): string {
  return `related\n${[one, other].sort().join('\n')}`;
}

/** Of things that belong to others of their kind, the owner comes first. */
function isFirst(owner: string, target: string): boolean {
  return target.startsWith(`${owner}\n`) || owner < target;
}

function pairsOf(rows: Pick<Transaction, 'record'>, one: string, other: string): Pair[] {
  const body = rows.record(keyOf(one, other), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? [] : (JSON.parse(body) as Pair[]);
}

function relatedTo(rows: Pick<Transaction, 'record'>, owner: string, id: string, target: string): string[] {
  const [own, others] = isFirst(owner, target) ? ([0, 1] as const) : ([1, 0] as const);
  return pairsOf(rows, owner, target).flatMap((pair) => (pair[own] === id ? [pair[others]] : []));
}

function change(rows: Transaction, owner: string, id: string, target: string, named: readonly string[], method: string): void {
  const pairOf = (other: string): Pair => (isFirst(owner, target) ? [id, other] : [other, id]);
  const own = isFirst(owner, target) ? 0 : 1;
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
