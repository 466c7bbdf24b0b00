/** What was sent to a path and is kept, one thing or a list of them. */

import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { compileIdentifiers } from '../../../parts/samples/formats.ts';
import { examplesIn } from '../../../parts/samples/leaves.ts';
import type { Samples } from '../../../parts/samples/samples.ts';
import type { Shape } from '../../../parts/shape.ts';
import { isPlainMap } from '../../../parts/source.ts';
import type { Spec } from '../../../parts/spec.ts';
import { mergeJson } from '../../../parts/versions/carry.ts';
import type { Transaction } from '../../../store/store.ts';
import { type Fields, Refused, type Value } from '../../exchange/exchange.ts';
import { toJson } from '../../http/json.ts';
import { isFields } from '../body.ts';
import type { KeptAnswer } from '../stand-in.ts';
import { listShown, type ShownList } from './lists-shown.ts';
import type { Sampling } from './sampling.ts';

/** So much of what was sent to one path is kept, as JSON, and so many things of a list. */
const keptLengthMost = 64 * 1024;
const listedMost = 1000;

/**
 * Compiles the keeping of what is sent to a path of which only the shapes are known, and which is read there again: `PUT /server` and `GET /server` are about
 * one thing, and what `POST /channels/{channel}/messages` takes is what `GET` there lists, and one of it what stands below. Nothing where nothing of the path is
 * read so.
 */
export function compileKept(endpoint: Endpoint, spec: Spec, sampling: Sampling): KeptAnswer | undefined {
  const samples = sampling.shown;
  if (statedValue(endpoint.does) !== undefined) return undefined;
  const isMade = entriesOf(spec.endpoints.all).some(
    ([, { method, path, does }]) =>
      method === 'POST' && statedValue(does) === undefined && plainPlaceOf(path) === plainPlaceOf(placeAbove(endpoint.path)),
  );
  const readers = entriesOf(spec.endpoints.all).flatMap(([, one]) =>
    one.method === 'GET' && statedValue(one.does) === undefined ? [one] : [],
  );
  const readAt = (path: string) => readers.find((one) => plainPlaceOf(one.path) === plainPlaceOf(path));
  const reader = readAt(endpoint.path);
  const listing = isMade && /\/\{[^{}/]+\}$/.test(plainPath(endpoint.path)) ? readAt(placeAbove(endpoint.path)) : undefined;
  const listed = listing && listShown(listing, samples);
  if (listed && !(reader && listShown(reader, samples))) return keptItem(listed, samples);
  if (!reader) return endpoint.method === 'DELETE' && readAt(placeAbove(endpoint.path)) ? takenOut : undefined;
  const list = listShown(reader, samples);
  const isReading = endpoint.method === 'GET';
  const isProbe = onlyTells(endpoint) && isPutAt(endpoint.path, spec);
  const number = list && numbering(endpoint.path, list.items, spec, sampling);
  return {
    sent({ rows }, { call }) {
      const { fields, items, made } = keptAt(rows, call.path);
      return call.method === 'POST' && made === true ? { ...fields, ...items.at(-1) } : fields;
    },
    listed({ rows }, { call }) {
      const { items, made } = keptAt(rows, call.path);
      if (!isReading || !list || made === undefined) return undefined;
      return list.name === undefined ? items : { [list.name]: items };
    },
    keep({ rows }, { call: { method, path }, request }) {
      const before = keptAt(rows, path);
      if (isProbe && before.isThere !== true) throw new Refused({ when: 'resource.missing' });
      if (isReading) return;
      keepAt(
        rows,
        path,
        method === 'DELETE'
          ? without(before, request, list && identifierIn(list.items, samples))
          : { ...after(before, request, method, list, samples, number), isThere: true },
      );
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
    const at = placeAbove(call.path);
    const name = Object.values(pathParams).at(-1);
    const kept = keptAt(rows, at);
    const left = kept.items.filter((one) => !isCalled(one, undefined, name));
    if (left.length < kept.items.length) keepAt(rows, at, { ...kept, items: left });
  },
};

/** One of what is kept of a list, which is read, changed and taken out below it; what was never sent there is not there once something was. */
function keptItem(shown: ShownList, samples: Samples): KeptAnswer {
  const told = identifierIn(shown.items, samples);
  const placeIn = (kept: KeptPlace, params: Readonly<Record<string, unknown>>) =>
    kept.items.findIndex((one) => isCalled(one, told, Object.values(params).at(-1)));
  return {
    sent({ rows }, { call, pathParams }) {
      const list = keptAt(rows, placeAbove(call.path));
      return list.items[placeIn(list, pathParams)] ?? keptAt(rows, call.path).fields;
    },
    listed: () => undefined,
    keep({ rows }, { call: { method, path }, request, pathParams }) {
      const list = keptAt(rows, placeAbove(path));
      const own = keptAt(rows, path);
      const at = placeIn(list, pathParams);
      const before = list.items[at];
      if (!before && list.made !== undefined && own.isThere !== true && method !== 'PUT' && method !== 'POST')
        throw new Refused({ when: 'resource.missing' });
      if (method === 'GET' || method === 'HEAD') return;
      if (method === 'DELETE') keepAt(rows, path, nothingKept);
      else if (!before) keepAt(rows, path, { ...after(own, request, method, undefined, samples), isThere: true });
      if (!before) return;
      const next = method === 'DELETE' ? [] : [isFields(request) ? (mergeJson(before, request) as Fields) : before];
      keepAt(rows, placeAbove(path), { ...list, items: list.items.toSpliced(at, 1, ...next), made: false });
    },
  };
}

/** Whether a thing is called so: by what tells it from others, where that is known, else by any of its words. */
export function isCalled(thing: Fields, told: string | undefined, name: unknown): boolean {
  const own = told === undefined ? undefined : thing[told];
  if (own !== undefined) return String(own) === name;
  return Object.values(thing).some((value) => typeof value !== 'object' && String(value) === name);
}

/** The member by which the things of a list are told apart; nothing where they have none that is called so. */
function identifierIn(items: Shape, samples: Samples): string | undefined {
  const names = Object.keys(samples.membersOf(items));
  return names.find((name) => /^_?id$/i.test(name)) ?? names.find((name) => /^(?:uu?id|guid|sid)$/i.test(name));
}

/** Gives things that are sent to a list an identifier where those that it lists have one. */
type GiveNumber = (thing: Fields, before: readonly Fields[]) => Fields;

/** Compiles it, where such a thing is read, changed or taken out below the list, or by what a body says at the list itself. */
function numbering(path: string, items: Shape, spec: Spec, sampling: Sampling): GiveNumber | undefined {
  const told = identifierIn(items, sampling.shown);
  const member = told === undefined ? undefined : sampling.shown.membersOf(items)[told];
  const isOneBelow = entriesOf(spec.endpoints.all).some(([, one]) => plainPlaceOf(one.path) === `${plainPlaceOf(path)}/{}`);
  const isNamedThere = entriesOf(spec.endpoints.all).some(
    ([, one]) => naming.has(one.method) && plainPlaceOf(one.path) === plainPlaceOf(path) && one.request !== undefined,
  );
  if (told === undefined || !isPlainMap(member) || !(isOneBelow || isNamedThere)) return undefined;
  const shape = sampling.shown.whole(member);
  const sampler = sampling.shown.of(member, told);
  const make = compileIdentifiers('thing', shape, examplesIn(shape), (value) => sampler.fits(value as Value));
  return (thing, before) => {
    if (thing[told] !== undefined) return thing;
    const last = Math.max(0, ...before.map((one) => Number(one[told])).filter(Number.isSafeInteger));
    const id = make(sampling.chance(`${path}\n${before.length}\n${toJson(thing)}`), last + 1);
    return id === undefined ? thing : { [told]: id, ...thing };
  };
}

const naming: ReadonlySet<string> = new Set(['PUT', 'PATCH', 'DELETE']);

/** A path without what stands in brackets at its end, or without its last step. */
export function placeAbove(path: string): string {
  const plain = plainPath(path);
  return plain.endsWith(')') ? plain.replace(/\([^(/]*\)$/, '') : plain.slice(0, Math.max(plain.lastIndexOf('/'), 0));
}

/** What is kept of what was sent to a path: the members of one thing, and the things of a list. */
export interface KeptPlace {
  readonly fields: Fields;
  readonly items: readonly Fields[];
  /** Whether anything was sent there, be it nothing. */
  readonly isThere?: boolean;
  /** Whether the last request made one of the things; absent = nothing was ever made there. */
  readonly made?: boolean;
}

const nothingKept: KeptPlace = { fields: {}, items: [] };

/** What is left of a list once all of it is taken out: none of its things. */
const cleared = ({ made }: KeptPlace): KeptPlace => ({ ...nothingKept, ...(made !== undefined && { made: false }) });

/** What is left where a body lists what is taken out, by identifiers or as things that have one; nothing where it lists none. */
function without(before: KeptPlace, request: Value, told: string | undefined): KeptPlace {
  const things = Array.isArray(request) ? request : [];
  const names = things.map((one: Value) => (isFields(one) ? one[told ?? ''] : one)).filter((one) => one !== undefined);
  if (names.length === 0) return cleared(before);
  const items = before.items.filter((one) => !names.some((name) => isCalled(one, told, String(name))));
  return { ...before, items, made: false };
}

/** A list that is sent where things are kept changes those that it names, and adds what else is such a thing; nothing where it holds anything besides. */
function merged(items: readonly Fields[], things: readonly Value[], { items: shape }: ShownList, samples: Samples) {
  const told = identifierIn(shape, samples);
  if (told === undefined || !things.every((one) => isFields(one) && one[told] !== undefined && isSuch(one, shape, samples)))
    return undefined;
  const next = [...items];
  for (const one of things as Fields[]) {
    const at = next.findIndex((other) => isCalled(other, told, String(one[told])));
    if (at < 0) next.push(one);
    else next[at] = { ...next[at], ...one };
  }
  return next.slice(-listedMost);
}

function after(
  before: KeptPlace,
  request: Value,
  method: string,
  list: ShownList | undefined,
  samples: Samples,
  number: GiveNumber = (thing) => thing,
): KeptPlace {
  const things = Array.isArray(request) ? request : [request];
  if (method === 'POST' && list && things.every((one) => isFields(one) && isSuch(one, list.items, samples))) {
    const items = [...before.items];
    for (const one of things as Fields[]) items.push(number(one, items));
    return { ...before, items: items.slice(-listedMost), made: true };
  }
  const { made } = before;
  const changed = list && made !== undefined && Array.isArray(request) ? merged(before.items, request, list, samples) : undefined;
  if (changed) return { ...before, items: changed, made: false };
  if (!isFields(request)) return { ...before, ...(made !== undefined && { made: false }) };
  const fields = method === 'PATCH' ? (mergeJson(before.fields, request) as Fields) : { ...before.fields, ...request };
  return { ...before, fields, ...(made !== undefined && { made: false }) };
}

/** Whether most members of what was sent are those of what a list shows. */
function isSuch(sent: Fields, items: Shape, samples: Samples): boolean {
  const members = samples.membersOf(items);
  const names = Object.keys(sent);
  return names.length > 0 && names.filter((name) => Object.hasOwn(members, name)).length * 2 > names.length;
}

/** What is kept of what was sent to a path. */
export function keptAt(rows: Pick<Transaction, 'record'>, path: string): KeptPlace {
  const body = rows.record(keyOf(path), 0)?.body;
  // Nobody else writes under this key.
  return body === undefined ? nothingKept : (JSON.parse(body) as KeptPlace);
}

/** Whether something was ever sent to the list at a path. */
export function isListKept(rows: Pick<Transaction, 'record'>, path: string): boolean {
  return rows.record(keyOf(path), 0) !== undefined;
}

/** Keeps it, unless it is too long. */
export function keepAt(rows: Transaction, path: string, kept: KeptPlace): void {
  const body = toJson(kept as unknown as Value);
  if (body.length > keptLengthMost) return;
  rows.keep(keyOf(path), { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER });
}

function keyOf(path: string): string {
  return `kept answer\n${withoutVerb(plainPath(path))}`;
}

/** A path without what is said of its query or its variant, and a slash at its end. */
const plainPath = (path: string): string => path.replace(/[?#].*$/, '').replace(/(?<=.)\/+$/, '');

/** A path whatever its parameters are called, and whatever verb its last word begins with. */
export function plainPlaceOf(path: string): string {
  return withoutVerb(plainPath(path).replaceAll(/\{[^{}]*\}/g, '{}'));
}

/** `/app.preferences.getAll` and `/app.preferences.putAll` are about the same. */
function withoutVerb(path: string): string {
  return path.replace(/(?<=[/.])(?:get|put|set|update|save)(?=[A-Z_][^/.]*$)/, '');
}
