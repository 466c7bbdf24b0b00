import type { Json } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import type { Models } from '../acts/act.ts';
import type { Engine } from '../engine.ts';
import { type Exchange, type Fields, Refused } from '../exchange.ts';
import type { HandlerContext, HandlerStore, Plain } from '../handlers.ts';
import type { Emitted } from '../hooks.ts';
import type { RowModel } from '../rows/model.ts';
import { WireFile } from '../wire/wire-file.ts';

/** What a handler did: what it read, with the revisions it saw, and what it wants stored. */
export interface Collected {
  readonly reads: Map<string, { readonly resource: string; readonly id: string; readonly rev: number | undefined }>;
  readonly writes: Wanted[];
  readonly emitted: Emitted[];
}

export type Wanted =
  | { readonly kind: 'create'; readonly resource: string; readonly fields: Plain; readonly id: string }
  | { readonly kind: 'update'; readonly resource: string; readonly id: string; readonly patch: Plain }
  | { readonly kind: 'delete'; readonly resource: string; readonly id: string }
  | { readonly kind: 'fire'; readonly resource: string; readonly id: string; readonly transition: string };

/** The context of one run of a handler, and what it collects. Nothing is stored before the handler has answered. */
export function handlerContext(
  engine: Engine,
  exchange: Exchange,
  resource: Fields | undefined,
  next: Fields,
): { readonly context: HandlerContext; readonly collected: Collected } {
  const collected: Collected = { reads: new Map(), writes: [], emitted: [] };
  const own = new Map<string, Plain | undefined>();
  const context: HandlerContext = {
    // A body of bytes is given as bytes; files inside a form are WireFiles.
    request: (exchange.request instanceof WireFile ? exchange.request.bytes : exchange.request) as HandlerContext['request'],
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
      modelNamed(engine.models, name);
      collected.writes.push({ kind: 'fire', resource: name, id, transition });
    },
  };
  return { context, collected };
}

function handlerStore(
  engine: Engine,
  exchange: Exchange,
  collected: Collected,
  own: Map<string, Plain | undefined>,
): HandlerStore {
  const remember = (model: RowModel, id: string, rev: number | undefined) => {
    const key = `${model.name}\n${id}`;
    if (!collected.reads.has(key)) collected.reads.set(key, { resource: model.name, id, rev });
  };
  const load = async (model: RowModel, id: string): Promise<Plain | undefined> => {
    const key = `${model.name}\n${id}`;
    if (own.has(key)) return own.get(key);
    const row = await engine.store.read((rows) => rows.get(model.name, id));
    remember(model, id, row?.rev);
    return row && (model.parse(row) as Plain);
  };
  return {
    get: async (name, id) => copyOf(await load(modelNamed(engine.models, name), id)),
    async list(name, where = {}, { most = 100 } = {}) {
      const model = modelNamed(engine.models, name);
      const rows = await engine.store.read((reader) => {
        const found: { id: string; rev: number; fields: Plain }[] = [];
        for (let after = 0; found.length < most; ) {
          const page = reader.scan(model.name, after, 500);
          if (page.length === 0) break;
          for (const row of page) {
            const fields = model.parse(row) as Plain;
            if (Object.entries(where).every(([field, value]) => fields[field] === value))
              found.push({ id: row.id, rev: row.rev, fields });
          }
          after = page.at(-1)?.seq ?? after;
        }
        return found.slice(0, most);
      });
      for (const { id, rev } of rows) remember(model, id, rev);
      const stored = rows.flatMap(({ id, fields }) =>
        own.has(`${model.name}\n${id}`) ? withoutGone(own.get(`${model.name}\n${id}`)) : [fields],
      );
      return stored.map((fields) => copyOf(fields) as Plain);
    },
    async create(name, fields) {
      const model = modelNamed(engine.models, name);
      const id = newIdentifier(engine, exchange, model, fields);
      const made = { ...storable(fields), [model.identifier.field]: model.identifier.isInteger ? Number(id) : id };
      own.set(`${name}\n${id}`, made);
      collected.writes.push({ kind: 'create', resource: name, fields: made, id });
      return copyOf(made) as Plain;
    },
    async update(name, id, patch) {
      const model = modelNamed(engine.models, name);
      const before = await load(model, id);
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
      const model = modelNamed(engine.models, name);
      await load(model, id);
      own.set(`${name}\n${id}`, undefined);
      collected.writes.push({ kind: 'delete', resource: name, id });
    },
  };
}

/** An event that a handler emits has to be of a stated kind, and to carry what that one states. */
function emittable({ compilation }: Engine, kind: string, data: Json): Emitted {
  const stated = entryOf(compilation.spec.events.kinds, kind);
  if (!stated) throw new Error(`A handler emitted "${kind}", which is no kind of event of this document.`);
  const copy = structuredClone(data);
  const [violation] = isStated(stated.payload) ? compilation.validate(stated.payload.value, 'shown')(copy) : [];
  if (!violation) return { kind, data: copy };
  const { path, found, expected } = violation;
  throw new Error(`A handler emitted "${kind}" with what it does not state: ${path || '/'} is ${found}, not ${expected}.`);
}

function newIdentifier(engine: Engine, exchange: Exchange, model: RowModel, fields: Plain): string {
  const sent = fields[model.identifier.field];
  if (sent !== undefined && sent !== null) return String(sent);
  const { generate } = model.identifier;
  if (generate.by === 'template')
    return generate.make({
      nowMs: exchange.nowMs,
      bytes: (length) => engine.chance.bytes(length),
      uuid: () => engine.chance.uuid(),
    });
  throw new Error(
    `A handler that creates a ${model.name} has to give its ${model.identifier.field}: it is not generated from a template.`,
  );
}

function modelNamed(models: Models, name: string): RowModel {
  const model = models.get(name);
  if (!model)
    throw new Error(
      `A handler asked for "${name}", which is no resource of this document; there are ${[...models.keys()].join(', ')}.`,
    );
  return model;
}

/** Bytes are stored as base64. */
function storable(fields: Plain): Plain {
  const entries = Object.entries(fields as Record<string, unknown>).map(([name, value]) => [
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
