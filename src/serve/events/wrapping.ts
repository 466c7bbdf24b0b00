import { statedValue } from '../../parts/fact.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import { type Evaluate, Failed, isFailed } from '../evaluate.ts';
import type { Fields, Value } from '../exchange.ts';
import { parseStored, toJson } from '../json.ts';
import { compilePrune, type Prune } from '../shown.ts';
import { webhookOf } from './kinds.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber } from './subscribers.ts';

/** For whom an event is written: what a user may not see is left out, and a version has its own shape. */
export interface Audience {
  readonly user: string | undefined;
  readonly version: string;
}

/** Writes events as they are sent. */
export interface Wrapping {
  /** The envelope, or the payload where nothing stands around it, as JSON text on one line. */
  body(event: StoredEvent, audience: Audience): string | { readonly wrong: string };
  /** The stated header fields of a delivery. */
  headers(event: StoredEvent, subscriber: Subscriber): Readonly<Record<string, string>> | { readonly wrong: string };
}

export function compileWrapping(engine: EventsSetting): Wrapping {
  const { compilation } = engine;
  const { spec } = compilation;
  const delivery = statedValue(spec.events.delivery);
  const envelope = delivery?.envelope && named(delivery.envelope, compilation);
  const isBare = delivery?.isBare === true;
  const fields = named(webhookOf(engine)?.headers ?? {}, compilation);
  const prunes = new Map<string, Prune | undefined>();
  const downs = new Map<string, Down | undefined>();
  const shapeOf = (kind: string) => statedValue(statedValue(spec.events.kinds)?.[kind]?.payload ?? { standing: 'open', at: '' });

  function pruneFor(kind: string, { user }: Audience): Prune | undefined {
    const key = `${kind}\n${user ?? ''}`;
    if (!prunes.has(key)) {
      const shape = shapeOf(kind);
      prunes.set(key, shape && compilePrune(spec, shape, { user, reveals: false }));
    }
    return prunes.get(key);
  }

  function downFor(kind: string, { version }: Audience): Down | undefined {
    const key = `${kind}\n${version}`;
    if (!downs.has(key)) {
      const shape = shapeOf(kind);
      downs.set(key, shape && version !== '' ? engine.versions?.down(version, shape) : undefined);
    }
    return downs.get(key);
  }

  return {
    body(event, audience) {
      const prune = pruneFor(event.kind, audience);
      const down = downFor(event.kind, audience);
      if (!prune && !down && !envelope) return isBare ? event.payload : plain(event, event.payload);
      const whole: Value = parseStored(event.payload);
      prune?.(whole);
      const payload = down ? carried(down, whole) : whole;
      if (payload instanceof Failed) return { wrong: payload.reason };
      if (!envelope) return isBare ? toJson(payload) : plain(event, toJson(payload));
      return wrap(envelope, event, payload);
    },
    headers(event, { fields: subscriber }) {
      if (fields.length === 0) return {};
      const scope = { ...scopeOf(event, parseStored(event.payload)), subscriber };
      const out: Record<string, string> = {};
      for (const [name, evaluate] of fields) {
        const value = evaluate(scope);
        if (isFailed(value)) return { wrong: `The header ${name} failed: ${value.reason}` };
        if (value !== undefined && value !== null) out[name.toLowerCase()] = String(value);
      }
      return out;
    },
  };
}

type Down = (value: Value) => Value;

/** A value that has no counterpart in an older version is not sent there. */
function carried(down: Down, value: Value): Value {
  try {
    return down(value);
  } catch (failure) {
    return new Failed(failure instanceof Error ? failure.message : String(failure));
  }
}

type NamedEvaluate = readonly (readonly [string, Evaluate])[];

function named(
  expressions: Readonly<Record<string, Parameters<EventsSetting['compilation']['expression']>[0]>>,
  { expression }: EventsSetting['compilation'],
): NamedEvaluate {
  return Object.entries(expressions).map(([name, entry]) => [name, expression(entry)] as const);
}

/** The envelope that follows by rule: `{ id, type, timestamp, data }`. */
function plain({ id, kind, atMs }: StoredEvent, payload: string): string {
  return `{"id":${JSON.stringify(id)},"type":${JSON.stringify(kind)},"timestamp":"${new Date(atMs).toISOString()}","data":${payload}}`;
}

function wrap(envelope: NamedEvaluate, event: StoredEvent, payload: Value): string | { readonly wrong: string } {
  const scope = scopeOf(event, payload);
  const out: Fields = {};
  for (const [name, evaluate] of envelope) {
    const value = evaluate(scope);
    if (isFailed(value)) return { wrong: `The envelope's ${name} failed: ${value.reason}` };
    out[name] = value ?? null;
  }
  return toJson(out);
}

/** The time is that of the event, so that every try says the same. */
function scopeOf({ id, kind, atMs, operation }: StoredEvent, payload: Value): Readonly<Record<string, Value>> {
  return { now: atMs, operation, version: '', event: { id, kind, at: new Date(atMs).toISOString(), payload } };
}
