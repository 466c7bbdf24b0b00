import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf, statedValue } from '../../parts/fact.ts';
import { namesOperation } from '../../parts/operations.ts';
import { pathWays } from '../../parts/path-keys.ts';
import { identifierParameter } from '../../parts/payload.ts';
import type { Spec } from '../../parts/spec.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import type { Reader } from '../../store/store.ts';
import { operationsOn } from '../callers/rules.ts';
import type { Caller, Fields, Value } from '../exchange/exchange.ts';
import { Bare, parseStored, toJson } from '../http/json.ts';
import { type FollowRow, follower, type Models, type StoredChange, type Work } from '../resources/act.ts';
import { keptFields } from '../resources/kept-row.ts';
import { type Asked, type FieldNames, pathsFrom, soughtBy } from './event-kinds.ts';
import type { EventsSetting } from './setting.ts';

/**
 * What decides who receives an event: of the row that it is about, as it was when the event was recorded, and of the rows that
 * permission rules reach from it, the fields that those rules read. It is kept with the event, so that a reader that comes later is
 * judged by the same; a field that was absent is null there.
 */
export interface Image {
  readonly fields: Fields;
  /** By resource and identifier, parted by a line end. */
  readonly near: Readonly<Record<string, Fields>>;
  /** By resource, the rows that rules look up and that went in the change itself: a deletion is judged by what was there before it. */
  readonly gone?: Readonly<Record<string, readonly Fields[]>>;
  /** What `to` may read besides, where the kind says who receives it. What was sent is not kept. */
  readonly scope?: Readonly<Record<string, Value>>;
}

/** What the rules by which a row may be read ask of it, and of the rows that they reach from it. */
export interface Needs {
  readonly fields: FieldNames;
  /** References that are followed, each as the way from the row. */
  readonly chains: readonly (readonly string[])[];
  /** By resource, the fields that are read of rows at the end of a way. */
  readonly near: ReadonlyMap<string, FieldNames>;
  /** The resources whose rows are looked up, with what may be read of them. */
  readonly sought: ReadonlyMap<string, FieldNames>;
}

/** What is needed of the rows of a resource. */
export type NeedsOf = (resource: string) => Needs;

const deepest = 3;

/** Finds what is needed in the rules: of `resource.parcel.merchant` the row's `parcel` and that parcel's `merchant`. */
export function compileNeeds(setting: EventsSetting): NeedsOf {
  const known = new Map<string, Needs>();
  return (resource) => {
    const found = known.get(resource) ?? needsOf(setting, resource);
    known.set(resource, found);
    return found;
  };
}

function needsOf({ compilation: { spec }, models }: EventsSetting, resource: string): Needs {
  const reads = operationsOn(spec, resource, 'read');
  const operations = reads.length > 0 ? reads : operationsOn(spec, resource, 'list');
  const rules = (statedValue(spec.authentication.permissions) ?? []).filter(({ allow }) =>
    operations.some((operation) => namesOperation(allow, operation)),
  );
  const identifier = statedValue(entryOf(spec.resources.all, resource)?.identifier)?.field ?? 'id';
  const own = operations.flatMap(({ endpoint }) => (endpoint ? readByPath(spec, endpoint) : []));
  const fields = new Names([identifier, ...own]);
  const chains = new Map<string, readonly string[]>();
  const near = new Map<string, Names>();
  for (const path of rules.flatMap((rule) => (rule.if ? pathsFrom('resource', rule.if.source) : []))) {
    fields.add(path[0]);
    const chain = referencesOf(path, resource, models);
    if (chain.length > 0) chains.set(chain.join('.'), chain);
    let at: string | undefined = resource;
    for (const [index, name] of chain.entries()) {
      at = at === undefined ? undefined : models.get(at)?.fields.get(name)?.ref;
      if (at === undefined) break;
      const read = near.get(at) ?? new Names([]);
      near.set(at, read);
      read.add(path[index + 1]);
    }
  }
  return {
    fields: fields.all,
    chains: [...chains.values()],
    near: new Map([...near].map(([target, names]) => [target, names.all] as const)),
    sought: soughtIn(rules.flatMap((rule) => (rule.if ? [soughtBy(rule.if.source)] : []))),
  };
}

/** What several rules look up. */
function soughtIn(rules: readonly ReturnType<typeof soughtBy>[]): Needs['sought'] {
  const sought = new Map<string, FieldNames>();
  for (const { resources, names } of rules)
    for (const one of resources) sought.set(one, new Set([...(sought.get(one) ?? []), ...names]));
  return sought;
}

/** The fields of a row that the path of an endpoint is made of. */
function readByPath(spec: Spec, endpoint: Endpoint): string[] {
  return [...pathWays(spec, endpoint, identifierParameter(endpoint)).values()].flatMap(([first]) => (first ? [first.field] : []));
}

/** Names as they are gathered; no name is all of them. */
class Names {
  readonly #names: Set<string>;
  #isAll = false;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  add(name: string | undefined): void {
    if (name === undefined) this.#isAll = true;
    else this.#names.add(name);
  }

  get all(): FieldNames {
    return this.#isAll ? 'all' : this.#names;
  }
}

/** The references on a path that something is read behind: a reference at its end is its identifier. */
function referencesOf(path: readonly string[], resource: string, models: Models): string[] {
  const chain: string[] = [];
  let at: string | undefined = resource;
  for (const name of path.slice(0, Math.min(deepest, path.length - 1))) {
    at = at === undefined ? undefined : models.get(at)?.fields.get(name)?.ref;
    if (at === undefined) break;
    chain.push(name);
  }
  return chain;
}

/** The row after a change, or before it where it is gone, as it is kept. */
export function wholeOf({ model, before, after }: StoredChange): Fields {
  return keptFields(model, after ?? before ?? {});
}

/** What is kept of a change: of its `whole` row. */
export function imageOf(work: Work, { model }: StoredChange, whole: Fields, needsOf: NeedsOf): Image {
  const needs = needsOf(model.name);
  const near: Record<string, Fields> = {};
  const find = withGone(work);
  for (const chain of needs.chains) {
    let at: Fields | undefined = whole;
    let resource = model.name;
    for (const name of chain) {
      const target = work.models.get(resource)?.fields.get(name)?.ref;
      const id: Value = at?.[name];
      if (target === undefined || id === undefined || id === null) break;
      at = find(target, id);
      if (!at) break;
      near[`${target}\n${String(id)}`] = only(needs.near.get(target) ?? 'all', at);
      resource = target;
    }
  }
  const gone = goneOf(work, needs.sought);
  return { fields: only(needs.fields, whole), near, ...(gone && { gone }) };
}

/** The rows of some resources that a change deleted. */
function goneOf({ stored }: Work, sought: Needs['sought']): Image['gone'] {
  if (sought.size === 0) return undefined;
  const rows: Record<string, Fields[]> = {};
  for (const { model, before, after } of stored) {
    const names = sought.get(model.name);
    if (names && before && !after) rows[model.name] = [...(rows[model.name] ?? []), only(names, before)];
  }
  return Object.keys(rows).length === 0 ? undefined : rows;
}

/** Some fields of a row, the absent ones as null; all as they are. */
function only(names: FieldNames, fields: Fields): Fields {
  if (names === 'all') return fields;
  const some: Fields = new Bare();
  for (const name of names) some[name] = fields[name] ?? null;
  return some;
}

/** Follows to rows that went in this very change too: a deletion is judged by what was there before it. */
function withGone(work: Work): FollowRow {
  const stored = follower(work.rows, work.models);
  return (resource, id) =>
    stored(resource, id) ??
    work.stored.find(({ model, id: gone, after }) => after === undefined && model.name === resource && gone === String(id))
      ?.before;
}

/** Follows from an image: to what was kept with it, else to what is stored now. */
function followFrom(image: Image, rows: Reader, models: Models): FollowRow {
  const stored = follower(rows, models);
  return (resource, key, unique) =>
    unique === undefined
      ? (image.near[`${resource}\n${String(key)}`] ?? stored(resource, key))
      : (goneBy(image, resource, key) ?? stored(resource, key, unique));
}

/** A row that went in the change itself, by the fields that it was found by. */
function goneBy({ gone = {} }: Image, resource: string, key: Value): Fields | undefined {
  // Who asks by a rule gives the fields of it.
  const by = Object.entries(key as Fields);
  return gone[resource]?.find((row) => by.every(([name, value]) => String(row[name]) === String(value)));
}

/** What is kept for `to`: what it reads of the row before and after, as it is stored, and the parameters where it reads them. */
export function scopeKept(
  { params }: Work['scope'],
  change: StoredChange | undefined,
  asked: Asked,
): Readonly<Record<string, Value>> {
  const read = (names: FieldNames, fields: Fields | undefined): Fields | undefined =>
    change && fields && (names === 'all' || names.size > 0) ? only(names, keptFields(change.model, fields)) : undefined;
  const [resource, next] = [read(asked.resource, change?.before), read(asked.next, change?.after)];
  return { ...(resource && { resource }), ...(next && { next }), ...(asked.readsParams && params !== undefined && { params }) };
}

/** What is written of an image beside a payload; null where the payload says it all. */
export function writeImage({ fields, near, gone, scope }: Image, payload: Value): string | null {
  const hasNear = Object.keys(near).length > 0;
  const isSaid = saysAll(payload, fields);
  if (isSaid && !hasNear && !gone && !scope) return null;
  return toJson({ ...(!isSaid && { fields }), ...(hasNear && { near }), ...(gone && { gone }), ...(scope && { scope }) });
}

/** Whether a payload has all of these fields, with these values. */
function saysAll(payload: Value, fields: Fields): boolean {
  if (!isFields(payload)) return false;
  const isSame = (one: Value, other: Value) => one === other || toJson(one) === toJson(other);
  return Object.keys(fields).every((name) => Object.hasOwn(payload, name) && isSame(payload[name], fields[name]));
}

export function readImage({ image, payload }: Pick<StoredEvent, 'image' | 'payload'>): Image {
  // What stands here was written by `writeImage`.
  const written = (image === null ? {} : parseStored(image)) as Partial<Image>;
  const { fields = parseStored(payload), near = {}, gone, scope } = written;
  return { fields, near, ...(gone && { gone }), ...(scope && { scope }) };
}

/** Whether a caller may read a row as an image shows it. */
export type MayRead = (caller: Caller | undefined, resource: string, image: Image, rows: Reader, nowMs: number) => boolean;

/**
 * Asks the read rules of a document. Where it is not decided who may read, nobody hears of anything, unless doubts are let pass; nor does
 * anybody where the rules ask by now for what was not kept.
 */
export function compileMayRead({ compilation, models, acceptsOpen }: EventsSetting, needsOf: NeedsOf): MayRead {
  const { access } = compilation;
  return (caller, resource, image, rows, nowMs) => {
    if (!acceptsOpen && access.doubts({ name: `read ${resource}`, resource }).length > 0) return false;
    const reading = access.reading(resource, caller?.user);
    if (reading.isFree) return true;
    if (!isEnough(image, needsOf(resource))) return false;
    const scope = { caller, now: nowMs, version: '', follow: followFrom(image, rows, models) };
    return reading.allows(scope, image.fields);
  };
}

/** Whether an image has what is needed: what was absent is null in it, and what is missing was not kept. */
function isEnough({ fields, near }: Image, needs: Needs): boolean {
  const has = (names: FieldNames, row: Value): boolean =>
    names === 'all' || (isFields(row) && [...names].every((name) => Object.hasOwn(row, name)));
  if (!has(needs.fields, fields)) return false;
  return Object.entries(near).every(([key, row]) => has(needs.near.get(key.slice(0, key.indexOf('\n'))) ?? none, row));
}

const none: ReadonlySet<string> = new Set();

function isFields(value: Value): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** Whether a maker still is somebody: one known by a key, until its last key is revoked or has expired. */
export function isStillKnown({ credentials }: EventsSetting, maker: Caller | undefined, rows: Reader, nowMs: number): boolean {
  return maker?.key === undefined || credentials.isHeld(rows, maker.user, maker.id, nowMs);
}
