import type { EventKind, Webhook } from '../../parts/events.ts';
import { childNodes, type Node } from '../../parts/expressions/node.ts';
import { parseExpression } from '../../parts/expressions/parse.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { namesOperation, type Operation, operationsOf } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { isPlainMap } from '../../parts/source.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import type { Reader } from '../../store/store.ts';
import { type Evaluate, isFailed } from '../exchange/compilation.ts';
import { type Caller, type Fields, Refused, type Value } from '../exchange/exchange.ts';
import type { Validate } from '../http/ajv.ts';
import { parseStored, toJson } from '../http/json.ts';
import { follower, type Models, type StoredChange, type Work } from '../resources/act.ts';
import { keptFields } from '../resources/create.ts';
import type { EventsSetting } from './setting.ts';

/**
 * What decides who receives an event: the row that it is about as it was when the event was recorded, and the rows that
 * permission rules reach from it. It is kept with the event, so that a reader that comes later is judged by the same.
 */
export interface Image {
  readonly fields: Fields;
  /** By resource and identifier, parted by a line end. */
  readonly near: Readonly<Record<string, Fields>>;
  /** What `to` may read besides, where the kind says who receives it. What was sent is not kept. */
  readonly scope?: Readonly<Record<string, Value>>;
}

type Follow = (resource: string, id: Value) => Fields | undefined;

/** Which references permission rules follow, from each resource. */
type Chains = (resource: string) => readonly (readonly string[])[];

const deepest = 3;

/** Finds them in the rules: `resource.parcel.merchant` follows `parcel`, and so does `resource["parcel"].merchant`. */
export function compileChains({ compilation, models }: EventsSetting): Chains {
  const rules = statedValue(compilation.spec.authentication.permissions) ?? [];
  const paths = rules.flatMap((rule) => {
    const parsed = rule.if && parseExpression(rule.if.source);
    return parsed && 'node' in parsed ? pathsIn(parsed.node) : [];
  });
  const known = new Map<string, readonly (readonly string[])[]>();
  return (resource) => {
    const found = known.get(resource);
    if (found) return found;
    const chains = new Map<string, readonly string[]>();
    for (const path of paths) {
      const chain = referencesOf(path, resource, models);
      if (chain.length > 0) chains.set(chain.join('.'), chain);
    }
    const list = [...chains.values()];
    known.set(resource, list);
    return list;
  };
}

/** The paths that lead from `resource` through an expression, as deep as they go. */
function pathsIn(node: Node): string[][] {
  const path = pathTo(node);
  return path ? [path] : childNodes(node).flatMap(pathsIn);
}

function pathTo(node: Node): string[] | undefined {
  if (node.op === 'name') return node.name === 'resource' ? [] : undefined;
  if (node.op === 'has') return pathTo(node.field);
  if (node.op === 'field') return pathTo(node.of)?.concat(node.name);
  if (node.op !== 'index' || node.index.op !== 'literal') return undefined;
  return pathTo(node.of)?.concat(String(node.index.value));
}

function referencesOf(path: readonly string[], resource: string, models: Models): string[] {
  const chain: string[] = [];
  let at: string | undefined = resource;
  for (const name of path.slice(0, deepest)) {
    at = at === undefined ? undefined : models.get(at)?.fields.get(name)?.ref;
    if (at === undefined) break;
    chain.push(name);
  }
  return chain;
}

/** What is kept of a change: the row after it, or before it where it is gone. */
export function imageOf(work: Work, { model, before, after }: StoredChange, chains: Chains): Image {
  const fields = keptFields(model, after ?? before ?? {});
  const near: Record<string, Fields> = {};
  const find = withGone(work);
  for (const chain of chains(model.name)) {
    let at: Fields | undefined = fields;
    let resource = model.name;
    for (const name of chain) {
      const target = work.models.get(resource)?.fields.get(name)?.ref;
      const id: Value = at?.[name];
      if (target === undefined || id === undefined || id === null) break;
      at = find(target, id);
      if (!at) break;
      near[`${target}\n${String(id)}`] = at;
      resource = target;
    }
  }
  return { fields, near };
}

/** Follows to rows that went in this very change too: a deletion is judged by what was there before it. */
function withGone(work: Work): Follow {
  const stored = follower(work.rows, work.models);
  return (resource, id) =>
    stored(resource, id) ??
    work.stored.find(({ model, id: gone, after }) => after === undefined && model.name === resource && gone === String(id))
      ?.before;
}

/** Follows from an image: to what was kept with it, else to what is stored now. */
function followFrom(image: Image, rows: Reader, models: Models): Follow {
  const stored = follower(rows, models);
  return (resource, id) => image.near[`${resource}\n${String(id)}`] ?? stored(resource, id);
}

/** What is kept for `to`: the row before and after, as it is stored, and the parameters. */
export function scopeKept({ params }: Work['scope'], change: StoredChange | undefined): Readonly<Record<string, Value>> {
  return {
    ...(change?.before && { resource: keptFields(change.model, change.before) }),
    ...(change?.after && { next: keptFields(change.model, change.after) }),
    ...(params !== undefined && { params }),
  };
}

/** What is written of an image beside a payload; null where the payload says it all. */
export function writeImage(image: Image, payload: string): string | null {
  const { near, scope } = image;
  const fields = toJson(image.fields);
  const hasNear = Object.keys(near).length > 0;
  if (fields === payload && !hasNear && !scope) return null;
  return toJson({ ...(fields !== payload && { fields: image.fields }), ...(hasNear && { near }), ...(scope && { scope }) });
}

export function readImage({ image, payload }: Pick<StoredEvent, 'image' | 'payload'>): Image {
  // What stands here was written by `writeImage`.
  const written = (image === null ? {} : parseStored(image)) as Partial<Image>;
  const { fields = parseStored(payload), near = {}, scope } = written;
  return { fields, near, ...(scope && { scope }) };
}

/** Whether a caller may read a row as an image shows it. */
export type MayRead = (caller: Caller | undefined, resource: string, image: Image, rows: Reader, nowMs: number) => boolean;

/** Asks the read rules of a document. Where it is not decided who may read, nobody hears of anything, unless doubts are let pass. */
export function compileMayRead({ compilation, models, acceptsOpen }: EventsSetting): MayRead {
  const { access } = compilation;
  return (caller, resource, image, rows, nowMs) => {
    if (!acceptsOpen && access.doubts({ name: `read ${resource}`, resource }).length > 0) return false;
    const reading = access.reading(resource, caller?.user);
    if (reading.isFree) return true;
    const scope = { caller, now: nowMs, version: '', follow: followFrom(image, rows, models) };
    return reading.allows(scope, image.fields);
  };
}

/** Whether a maker still is somebody: one known by a key, until its last key is revoked or has expired. */
export function isStillKnown({ credentials }: EventsSetting, maker: Caller | undefined, rows: Reader, nowMs: number): boolean {
  return maker?.key === undefined || credentials.isHeld(rows, maker.user, maker.id, nowMs);
}

/** The kinds of event of a document, compiled: which operation emits which, when, and with what. */
export interface Kinds {
  /** Whether nothing is ever emitted. */
  readonly isEmpty: boolean;
  /** The kinds that a stored change emits. */
  emittedBy(change: StoredChange): readonly RecordedKind[];
  named(name: string): RecordedKind | undefined;
  /** Whether a word of a subscriber's list means something: a kind, `parcel.*` or `*`. */
  isKnown(word: string): boolean;
}

export interface RecordedKind {
  readonly name: string;
  readonly payload: Shape;
  /** A payload that a handler gives. */
  readonly validate: Validate;
  /** Whether it is emitted. @throws {Refused} `internal` where that cannot be told. */
  holds(operation: string, scope: Scope): boolean;
  /** What it says. @throws {Refused} `internal` where that cannot be told. */
  make(change: StoredChange, scope: Scope): Value;
  /** Who receives it, where the document says so. */
  readonly to: ((operation: string) => Evaluate) | undefined;
}

type Scope = Readonly<Record<string, Value>>;

/** Compiles them. Without a way to deliver them, or with their operations or payload open, there are no events. */
export function compileKinds({ compilation }: EventsSetting, isHeard: boolean): Kinds {
  const { spec } = compilation;
  const kinds = isHeard ? entriesOf(spec.events.kinds).flatMap(([, kind]) => compileKind(kind, compilation)) : [];
  const operations = new Map<string, Operation>(operationsOf(spec).map((operation) => [operation.name, operation]));
  const known = new Map<string, readonly RecordedKind[]>();
  const names = new Set(kinds.map(({ kind }) => kind.name));
  return {
    isEmpty: kinds.length === 0,
    emittedBy({ operation, model, after }) {
      const key = `${operation}\n${model.name}\n${after === undefined}`;
      const found = known.get(key);
      if (found) return found;
      const named = operations.get(operation) ?? { name: operation, resource: model.name };
      const emitted = kinds
        .filter(({ on }) => on.includes(operation) || (after !== undefined && namesOperation(on, named, 'event')))
        .map(({ kind }) => kind);
      known.set(key, emitted);
      return emitted;
    },
    named: (name) => kinds.find(({ kind }) => kind.name === name)?.kind,
    isKnown: (word) => names.has(word) || spec.events.others !== undefined || [...names].some((name) => matches(word, name)),
  };
}

/** Whether a word of a subscriber's list means a kind. */
export function matches(word: string, kind: string): boolean {
  return word === kind || word === '*' || (word.endsWith('.*') && kind.startsWith(word.slice(0, -1)));
}

/** The stated webhook, where there is one. */
export function webhookOf({ compilation }: EventsSetting): Webhook | undefined {
  return statedValue(compilation.spec.events.delivery)?.webhook;
}

function compileKind(
  kind: EventKind,
  compilation: EventsSetting['compilation'],
): { readonly kind: RecordedKind; readonly on: readonly string[] }[] {
  const { on, payload, if: condition, to, name } = kind;
  if (!isStated(payload) || on.standing === 'open') return [];
  const shape = payload.value;
  const compiled: RecordedKind = {
    name,
    payload: shape,
    validate: compilation.validate(shape, 'stored'),
    holds(operation, scope) {
      if (!condition) return true;
      const value = compilation.expression(condition, operation)(scope);
      if (isFailed(value)) throw failed(`The condition of the event ${name} failed: ${value.reason}`);
      return value === true;
    },
    make: compilePayload(kind, shape, compilation),
    to: to && ((operation) => compilation.expression(to, operation)),
  };
  return [{ kind: compiled, on: statedValue(on) ?? [] }];
}

function compilePayload(
  { data, name }: EventKind,
  shape: Shape,
  { expression }: EventsSetting['compilation'],
): RecordedKind['make'] {
  const demand = (value: Value): Value => {
    if (isFailed(value)) throw failed(`The payload of the event ${name} failed: ${value.reason}`);
    return value;
  };
  if (!data) {
    const properties = isPlainMap(shape.properties) ? Object.keys(shape.properties) : undefined;
    return ({ model, before, after }) => {
      const whole = keptFields(model, after ?? before ?? {});
      return properties ? pick(whole, properties) : whole;
    };
  }
  if ('source' in data && typeof data.source === 'string') {
    const whole = { source: data.source, at: String(data.at) };
    return ({ operation }, scope) => demand(expression(whole, operation)(scope)) ?? null;
  }
  const fields = Object.entries(data);
  return ({ operation }, scope) => {
    const out: Fields = {};
    for (const [field, entry] of fields) {
      const value = demand(expression(entry, operation)(scope));
      if (value !== undefined && value !== null) out[field] = value;
    }
    return out;
  };
}

function pick(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

function failed(message: string): Refused {
  return new Refused({ when: 'internal', message });
}
