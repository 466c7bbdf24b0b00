/** What was sent to a path and is kept, one thing or a list of them. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import type { Spec } from '../../../parts/spec.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Row, Transaction } from '../../../store/store.ts';
import { type Exchange, type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import type { Work } from '../act.ts';
import { isFields } from '../body.ts';
import type { RowModel } from '../model.ts';
import type { KeptAnswer, StandIn } from '../stand-in.ts';
import { compileShow, listShown, type ShownList } from './lists-shown.ts';

/** So many things are kept of one list. */
const thingsMost = 1000;

/**
 * Compiles what whoever calls has put among things of his own: `PUT /me/likes/{video}`, which sends nothing, `DELETE` and `GET` there, and `GET /me/likes`,
 * which lists videos. What is put is listed, and told as there, until it is taken out. Nothing where a path is of another form.
 */
export function compileOwnThings(
  endpoint: Endpoint,
  spec: Spec,
  samples: Samples,
  given: StandIn['given'],
): KeptAnswer | undefined {
  if (statedValue(endpoint.does) !== undefined) return undefined;
  const isOne = /\/\{[^{}/]+\}$/.test(endpoint.path);
  const list = isOne ? endpoint.path.replace(/\/[^/]*$/, '') : endpoint.path;
  const at = (path: string, method: string) =>
    entriesOf(spec.endpoints.all).find(([, one]) => one.method === method && plainPlaceOf(one.path) === plainPlaceOf(path))?.[1];
  const [listing, putting, taking] = [at(list, 'GET'), at(`${list}/{}`, 'PUT'), at(`${list}/{}`, 'DELETE')];
  if (!listing || !putting || !taking || [listing, putting, taking].some(({ does }) => statedValue(does) !== undefined))
    return undefined;
  const resource = listShown(listing, samples)?.items.resource;
  if (statedValue(putting.request) !== undefined || typeof resource !== 'string') return undefined;
  const show = compileShow(listing, samples);
  const own: OwnThings = { resource, isOne, show, given };
  if (endpoint.method !== 'GET')
    return { sent: () => ({}), listed: () => undefined, keep: (work, exchange) => put(own, work, exchange) };
  if (endpoint !== listing && at(endpoint.path, 'GET') !== endpoint) return undefined;
  return {
    sent: () => ({}),
    listed: (work, exchange) => shown(own, work, exchange),
    keep: (work, exchange) => look(own, work, exchange),
  };
}

interface OwnThings {
  readonly resource: string;
  readonly isOne: boolean;
  readonly show: ReturnType<typeof compileShow>;
  readonly given: StandIn['given'];
}

function put({ isOne }: OwnThings, { rows }: Work, { call: { method, path } }: Exchange): void {
  if (!isOne) return;
  const [list, name] = parted(path);
  const left = namesAt(rows, list).filter((one) => one !== name);
  const names = method === 'PUT' ? [...left, name].slice(-thingsMost) : left;
  rows.keep(listKey(list), { fingerprint: '', body: toJson(names), expiresMs: Number.MAX_SAFE_INTEGER });
}

/** @throws {Refused} `resource.missing` where one is asked for that was not put there. */
function look({ isOne }: OwnThings, { rows }: Work, { call: { path } }: Exchange): void {
  const [list, name] = parted(path);
  if (isOne && !namesAt(rows, list).includes(name)) throw new Refused({ when: 'resource.missing' });
}

function shown(
  { resource, isOne, show, given }: OwnThings,
  work: Work,
  { call: { path } }: Exchange,
): ReturnType<KeptAnswer['listed']> {
  const model = work.models.get(resource);
  const [list, name] = isOne ? parted(path) : [path, ''];
  if (!model || (!work.rows.record(listKey(list), 0) && given.has(resource))) return undefined;
  const names = isOne ? [name] : namesAt(work.rows, list);
  const rows = names.flatMap((one) => rowOf(given, work, model, one) ?? []).map((row) => model.parse(row));
  return isOne ? rows[0] : show(rows, model);
}

function rowOf(given: StandIn['given'], work: Work, model: RowModel, name: string): Row | undefined {
  const there = work.rows.get(model.name, name) ?? given.called(work.rows, model, name);
  return there ?? (given.has(model.name) ? given.find(work, model, name, {}) : undefined);
}

/** A path without its last step, and that step as it is meant. */
function parted(path: string): readonly [string, string] {
  const end = path.lastIndexOf('/');
  const last = path.slice(end + 1);
  try {
    return [path.slice(0, end), decodeURIComponent(last)];
  } catch {
    return [path.slice(0, end), last];
  }
}

function namesAt(rows: Pick<Transaction, 'record'>, list: string): string[] {
  const body = rows.record(listKey(list), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? [] : (JSON.parse(body) as string[]);
}

const listKey = (list: string): string => `own things\n${list}`;

/** So much of what was sent to one path is kept, as JSON, and so many things of a list. */
const keptLengthMost = 64 * 1024;
const listedMost = 1000;

/**
 * Compiles the keeping of what is sent to a path of which only the shapes are known, and which is read there again: `PUT /server` and `GET /server` are about
 * one thing, and what `POST /channels/{channel}/messages` takes is what `GET` there lists. Nothing where nothing of the path is read so.
 */
export function compileKept(endpoint: Endpoint, spec: Spec, samples: Samples): KeptAnswer | undefined {
  if (statedValue(endpoint.does) !== undefined) return undefined;
  const readers = entriesOf(spec.endpoints.all).flatMap(([, one]) =>
    one.method === 'GET' && statedValue(one.does) === undefined ? [one] : [],
  );
  const readAt = (path: string) => readers.find((one) => plainPlaceOf(one.path) === plainPlaceOf(path));
  const reader = readAt(endpoint.path);
  if (!reader) return endpoint.method === 'DELETE' && readAt(above(endpoint.path)) ? takenOut : undefined;
  const list = listShown(reader, samples);
  const isReading = endpoint.method === 'GET';
  const isProbe = onlyTells(endpoint) && isPutAt(endpoint.path, spec);
  return {
    sent: ({ rows }, { call }) => keptAt(rows, call.path).fields,
    listed({ rows }, { call }) {
      const { items } = keptAt(rows, call.path);
      if (!isReading || !list || items.length === 0) return undefined;
      return list.name === undefined ? items : { [list.name]: items };
    },
    keep({ rows }, { call: { method, path }, request }) {
      const before = keptAt(rows, path);
      if (isProbe && before.isThere !== true) throw new Refused({ when: 'resource.missing' });
      if (isReading) return;
      keep(rows, path, method === 'DELETE' ? nothingKept : { ...after(before, request, method, list, samples), isThere: true });
    },
  };
}

/** `GET /gists/{gist}/star` answers 204 or 404, and nothing else: whether what PUT or POST puts there is there. */
function onlyTells({ method, response }: Endpoint): boolean {
  const answers = statedValue(response) ?? [];
  const [success, ...others] = answers.filter(({ status }) => /^2/.test(status));
  const isEmpty = success?.status === '204' && others.length === 0 && statedValue(success.shape) === undefined;
  return method === 'GET' && isEmpty && answers.some(({ status }) => status === '404');
}

/** Whether something is put at a path of which no more is known. */
function isPutAt(path: string, spec: Spec): boolean {
  const at = entriesOf(spec.endpoints.all).flatMap(([, one]) => (plainPlaceOf(one.path) === plainPlaceOf(path) ? [one] : []));
  return at.some(({ method, does }) => (method === 'PUT' || method === 'POST') && statedValue(does) === undefined);
}

/** `DELETE /tables('a')`, `DELETE /tables/a`: what is called so is no longer listed by what stands above it. */
const takenOut: KeptAnswer = {
  sent: () => ({}),
  listed: () => undefined,
  keep({ rows }, { call, pathParams }) {
    const at = above(call.path);
    const name = Object.values(pathParams).at(-1);
    const { fields, items } = keptAt(rows, at);
    const left = items.filter((one) => !Object.values(one).some((value) => typeof value !== 'object' && String(value) === name));
    if (left.length < items.length) keep(rows, at, { fields, items: left });
  },
};

/** A path without what stands in brackets at its end, or without its last step. */
function above(path: string): string {
  const plain = path.replace(/[?#].*$/, '');
  return plain.endsWith(')') ? plain.replace(/\([^(/]*\)$/, '') : plain.slice(0, Math.max(plain.lastIndexOf('/'), 0));
}

interface Kept {
  readonly fields: Fields;
  readonly items: readonly Fields[];
  /** Whether anything was sent there, be it nothing. */
  readonly isThere?: boolean;
}

const nothingKept: Kept = { fields: {}, items: [] };

function after(before: Kept, request: Value, method: string, list: ShownList | undefined, samples: Samples): Kept {
  const things = Array.isArray(request) ? request : [request];
  if (method === 'POST' && list && things.every((one) => isFields(one) && isSuch(one, list.items, samples)))
    return { ...before, items: [...before.items, ...(things as Fields[])].slice(-listedMost) };
  if (!isFields(request)) return before;
  const fields = method === 'PATCH' ? (mergeJson(before.fields, request) as Fields) : { ...before.fields, ...request };
  return { ...before, fields };
}

/** Whether most members of what was sent are those of what a list shows. */
function isSuch(sent: Fields, items: Shape, samples: Samples): boolean {
  const members = samples.membersOf(items);
  const names = Object.keys(sent);
  return names.length > 0 && names.filter((name) => Object.hasOwn(members, name)).length * 2 > names.length;
}

function keptAt(rows: Pick<Transaction, 'record'>, path: string): Kept {
  const body = rows.record(keyOf(path), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? nothingKept : (JSON.parse(body) as Kept);
}

function keep(rows: Transaction, path: string, kept: Kept): void {
  const body = toJson(kept as unknown as Value);
  if (body.length > keptLengthMost) return;
  rows.keep(keyOf(path), { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER });
}

function keyOf(path: string): string {
  return `kept answer\n${withoutVerb(path)}`;
}

/** A path whatever its parameters are called, and whatever verb its last word begins with. */
function plainPlaceOf(path: string): string {
  return withoutVerb(path.replace(/[?#].*$/, '').replaceAll(/\{[^{}]*\}/g, '{}'));
}

/** `/app.preferences.getAll` and `/app.preferences.putAll` are about the same. */
function withoutVerb(path: string): string {
  return path.replace(/(?<=[/.])(?:get|put|set|update|save)(?=[A-Z_][^/.]*$)/, '');
}
