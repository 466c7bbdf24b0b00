import type { Json } from '../../document/document.ts';
import { entryOf, isStated } from '../../parts/fact.ts';
import type { Engine } from '../engine.ts';
import type { Emitted } from '../events/setting.ts';
import { type Exchange, type Fields, Refused, type Value } from '../exchange.ts';
import type { HandlerContext, Plain } from '../handlers.ts';
import { WireFile } from '../wire/wire-file.ts';
import type { Collected } from './collected.ts';
import { handlerStore, modelNamed } from './handler-store.ts';

/** The context of one run of a handler, and what it collects. Nothing is stored before the handler has answered. */
export function handlerContext(
  engine: Engine,
  exchange: Exchange,
  resource: Fields | undefined,
  next: Fields,
): { readonly context: HandlerContext; readonly collected: Collected } {
  const collected: Collected = { reads: new Map(), lists: [], writes: [], emitted: [] };
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
      modelNamed(engine.models, name);
      collected.writes.push({ kind: 'fire', resource: name, id, transition });
    },
  };
  return { context, collected };
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
