/** One run of a handler: the context that it is given, and what it read and wants stored. */

import type { Json } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import type { Condition, QuerySpec, Reader, Scalar } from '../../store/store.ts';
import type { Emitted } from '../events/setting.ts';
import { type Exchange, type Fields, Refused, type Value } from '../exchange/exchange.ts';
import { WireFile } from '../http/violation.ts';
import type { Models } from '../resources/act.ts';
import type { RowModel } from '../resources/model.ts';
import type { Engine } from './engine.ts';
import type { HandlerContext, HandlerStore, Plain } from './handlers.ts';

/** The context of one run of a handler, and what it collects. Nothing is stored before the handler has answered. */
export function handlerContext(
  engine: Engine,
  exchange: Exchange,
  resource: Fields | undefined,
  next: Fields,
): { readonly context: HandlerContext; readonly collected: HandlerEffects } {
  const collected: HandlerEffects = { reads: new Map(), lists: [], writes: [], emitted: [] };
  const own = new Map<string, Plain | undefined>();
  const context: HandlerContext = {
    request: withBytes(exchange.request) as HandlerContext['request'],
    params: exchange.params as Readonly<Record<string, Json>>,
    resource: resource as Plain | undefined,
    next: next as Plain,
    caller: exchange.caller,
    now: new Date(exchange.nowMs),
    store: handlerStore(engine, exchange, collected, own),
    emit: (kind, data) => void collected.emitted.push(emittable(engine, kind, data)),
    fail(code, message) {
      throw new Refused({ code, ...(message !== undefined && { message }) });
    },
    fire(name, id, transition) {
      writableNamed(engine.models, name);
      collected.writes.push({ kind: 'fire', resource: name, id, transition });
    },
  };
  return { context, collected };
}

/** An event that a handler emits has to be of a stated kind, and to carry what that one states. */
export function emittable({ compilation }: Pick<Engine, 'compilation'>, kind: string, data: Json): Emitted {
  const stated = entryOf(compilation.spec.events.kinds, kind);
  if (!stated) throw new Error(`A handler emitted "${kind}", which is no kind of event of this document.`);
  const copy = structuredClone(data);
  const [violation] = isStated(stated.payload) ? compilation.validate(stated.payload.value, 'shown')(copy) : [];
  if (!violation) return { kind, data: copy };
  const { path, found, expected } = violation;
  throw new Error(`A handler emitted "${kind}" with what it does not state: ${path || '/'} is ${found}, not ${expected}.`);
}

/** Files and bodies of bytes as a handler gets them: bytes, which know the name and media type they were sent with. */
function withBytes(value: Value): Value {
  if (value instanceof WireFile)
    return Object.assign(Uint8Array.from(value.bytes), { filename: value.filename, type: value.type });
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== 'object' || value === null) return value;
  const fields: Fields = Object.create(null);
  for (const [name, entry] of Object.entries(value)) fields[name] = withBytes(entry);
  return fields;
}

/** What a handler may do with stored things: reads see its own writes, and nothing is stored before it has answered. */
function handlerStore(
  engine: Engine,
  exchange: Exchange,
  collected: HandlerEffects,
  own: Map<string, Plain | undefined>,
): HandlerStore {
  const load = async (model: RowModel, id: string): Promise<Plain | undefined> => {
    const key = `${model.name}\n${id}`;
    if (own.has(key)) return own.get(key);
    const row = await engine.store.read((rows) => rows.get(model.name, id));
    if (!collected.reads.has(key)) collected.reads.set(key, { resource: model.name, id, rev: row?.rev });
    return row && (model.parse(row) as Plain);
  };
  return {
    get: async (name, id) => copyOf(await load(modelNamed(engine.models, name), id)),
    async list(name, where = {}, { most = 100 } = {}) {
      const model = modelNamed(engine.models, name);
      const found = await engine.store.read((rows) => rowsWhere(rows, model, where, most));
      collected.lists.push({ model, where, most, seen: seenOf(found) });
      const stored = found.flatMap(({ id, fields }) =>
        own.has(`${name}\n${id}`) ? withoutGone(own.get(`${name}\n${id}`)) : [fields],
      );
      return stored.map((fields) => copyOf(fields) as Plain);
    },
    async create(name, fields) {
      const model = writableNamed(engine.models, name);
      const id = await newIdentifier(engine, exchange, model, fields);
      const made = madeOf(engine, exchange, model, fields, id);
      own.set(`${name}\n${id}`, made);
      collected.writes.push({ kind: 'create', resource: name, fields: made, id });
      return copyOf(made) as Plain;
    },
    async update(name, id, patch) {
      const before = await load(writableNamed(engine.models, name), id);
      if (!before) throw new Refused({ when: 'resource.missing' });
      const after: Plain = { ...before };
      const change = storable(patch);
      for (const [field, value] of Object.entries(change)) {
        if (value === null || value === undefined) delete after[field];
        else after[field] = value;
      }
      own.set(`${name}\n${id}`, after);
      collected.writes.push({ kind: 'update', resource: name, id, patch: change });
      return copyOf(after) as Plain;
    },
    async delete(name, id) {
      await load(writableNamed(engine.models, name), id);
      own.set(`${name}\n${id}`, undefined);
      collected.writes.push({ kind: 'delete', resource: name, id });
    },
  };
}

/** A new row as its handler sees it: with its identifier, its defaults, what is generated, and the state it starts in. */
function madeOf(engine: Engine, exchange: Exchange, model: RowModel, fields: Plain, id: string): Plain {
  const draw = {
    nowMs: exchange.nowMs,
    bytes: (length: number) => engine.chance.bytes(length),
    uuid: () => engine.chance.uuid(),
  };
  const made: Plain = {
    ...(Object.fromEntries(model.defaults.map(({ field, value }) => [field, value])) as Plain),
    ...storable(fields),
    [model.identifier.field]: model.identifier.isInteger ? Number(id) : id,
  };
  for (const { field, make } of model.generated) made[field] ??= make(draw);
  const { name: operation } = exchange.plan.operation;
  for (const { field, initial } of model.machines) {
    if (made[field] !== undefined) continue;
    const target = initial(operation)({ next: made, now: exchange.nowMs, operation });
    if (target !== undefined) made[field] = target.state;
  }
  return made;
}

/** A number of a sequence is taken at once: one that is not used in the end is a gap. */
async function newIdentifier(engine: Engine, exchange: Exchange, model: RowModel, fields: Plain): Promise<string> {
  const sent = fields[model.identifier.field];
  if (sent !== undefined && sent !== null) return String(sent);
  const { generate } = model.identifier;
  if (generate.by === 'sequence') return String(await engine.store.change((rows) => rows.next(model.name)));
  if (generate.by === 'template') {
    return generate.make({
      nowMs: exchange.nowMs,
      bytes: (length) => engine.chance.bytes(length),
      uuid: () => engine.chance.uuid(),
      rising: () => engine.chance.rising?.(exchange.nowMs),
    });
  }
  throw new Error(`A handler that creates a ${model.name} has to give its ${model.identifier.field}: nothing generates it.`);
}

function modelNamed(models: Models, name: string): RowModel {
  const model = models.get(name);
  if (!model)
    throw new Error(
      `A handler asked for "${name}", which is no resource of this document; there are ${[...models.keys()].join(', ')}.`,
    );
  return model;
}

/** A resource whose rows a handler may make and change: those of the log of events are the events alone. */
function writableNamed(models: Models, name: string): RowModel {
  const model = modelNamed(models, name);
  if (model.isLog) throw new Error(`A handler wrote to "${name}", whose rows are the events: it may emit one, or read them.`);
  return model;
}

/** Bytes are stored as base64. */
function storable(fields: Plain): Plain {
  const entries = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
  ]);
  return Object.fromEntries(entries) as Plain;
}

function withoutGone(fields: Plain | undefined): Plain[] {
  return fields ? [fields] : [];
}

function copyOf(fields: Plain | undefined): Plain | undefined {
  return fields && structuredClone(fields);
}

/** What a handler did: what it read, with the revisions it saw, and what it wants stored. */
export interface HandlerEffects {
  readonly reads: Map<string, { readonly resource: string; readonly id: string; readonly rev: number | undefined }>;
  readonly lists: Listed[];
  readonly writes: WantedChange[];
  readonly emitted: Emitted[];
}

export type WantedChange =
  | { readonly kind: 'create'; readonly resource: string; readonly fields: Plain; readonly id: string }
  | { readonly kind: 'update'; readonly resource: string; readonly id: string; readonly patch: Plain }
  | { readonly kind: 'delete'; readonly resource: string; readonly id: string }
  | { readonly kind: 'fire'; readonly resource: string; readonly id: string; readonly transition: string };

/** How often a handler runs when others change what it read. */
export const triesMax = 3;

/** A list that a handler read: asked again before its change is applied, so that a new row is a conflict too. */
interface Listed {
  readonly model: RowModel;
  readonly where: Readonly<Record<string, Json>>;
  readonly most: number;
  readonly seen: string;
}

/** Whether nothing that a handler read has changed since. */
export function isUnchanged(rows: Reader, { reads, lists }: HandlerEffects): boolean {
  for (const { resource, id, rev } of reads.values()) if (rows.get(resource, id)?.rev !== rev) return false;
  return lists.every(({ model, where, most, seen }) => seenOf(rowsWhere(rows, model, where, most)) === seen);
}

interface StoredPlain {
  readonly id: string;
  readonly rev: number;
  readonly fields: Plain;
}

/** What a list looked like. */
function seenOf(rows: readonly StoredPlain[]): string {
  return rows.map(({ id, rev }) => `${id}@${rev}`).join('\n');
}

/** How many rows are looked at together. */
const pageMost = 500;

/** The rows whose fields equal what is given, in creation order. What the table has columns of, it is asked for; the rest is looked at in each row. */
function rowsWhere(rows: Reader, model: RowModel, where: Readonly<Record<string, Json>>, most: number): StoredPlain[] {
  const found: StoredPlain[] = [];
  const wanted = Object.entries(where);
  const { query, values } = columnsAsked(model, wanted);
  for (let after = 0; ; ) {
    const page = rows.all(query, [...values, pageMost, after]);
    for (const { id, rev, doc } of page) {
      const fields = model.parse({ doc }) as Plain;
      if (wanted.every(([field, value]) => fields[field] === value)) found.push({ id, rev, fields });
      if (found.length === most) return found;
    }
    const last = page.at(-1);
    if (!last || page.length < pageMost) return found;
    after = last.seq;
  }
}

/** Equal values have equal columns; null is in none. */
function columnsAsked(model: RowModel, wanted: readonly (readonly [string, Json])[]): { query: QuerySpec; values: Scalar[] } {
  const values: Scalar[] = [];
  const fields: string[] = [];
  for (const [field, value] of wanted) {
    const code = model.table.columns.some(({ name }) => name === field) ? model.code(field) : undefined;
    const encoded = code && value !== null && typeof value !== 'object' ? code.encode(value) : null;
    if (encoded === null || Number.isNaN(encoded)) continue;
    fields.push(field);
    values.push(encoded);
  }
  return { query: queryBy(model, fields), values };
}

/** A store prepares a question once for each object that asks it. */
function queryBy(model: RowModel, fields: readonly string[]): QuerySpec {
  const known = queries.get(model) ?? new Map<string, QuerySpec>();
  queries.set(model, known);
  const key = fields.join('\n');
  const found = known.get(key);
  if (found) return found;
  const of = fields.map((column, at): Condition => ({ op: '=', left: { column }, right: { param: at } }));
  const query = { table: model.name, where: { op: 'and' as const, of }, limit: fields.length, after: fields.length + 1 };
  // A handler may ask for its fields in any order: who asks in ever other ones has each question prepared anew.
  if (known.size < queriesMost) known.set(key, query);
  return query;
}

const queriesMost = 256;
const queries = new WeakMap<RowModel, Map<string, QuerySpec>>();
