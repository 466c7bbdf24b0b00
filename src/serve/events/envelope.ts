import { pushKind } from '../../kinds/deliveries/all.ts';
import { type StatedSignature, signatureKind, signatureKinds } from '../../kinds/signatures/all.ts';
import type { Signature } from '../../kinds/signatures/kind.ts';
import { type Envelope, toldAs } from '../../parts/event-telling.ts';
import { eventEnvelopeOf } from '../../parts/events.ts';
import { toldShape } from '../../parts/expressions/operation-scope.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { leftOutOf } from '../../parts/left-out.ts';
import type { Spec } from '../../parts/spec.ts';
import type { StoredEvent } from '../../store/outbox.ts';
import { type Evaluate, EvaluationFailure, isFailed } from '../exchange/compilation.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import { compilePrune, type Prune } from '../exchange/visibility.ts';
import { parseStoredValue, toJson } from '../http/json.ts';
import { targetFlaw, type WebhookTargets } from './addresses.ts';
import { compileHandshaking, isHandshake, whyUnasked } from './confirming.ts';
import { pushOf } from './event-kinds.ts';
import type { Post, Posted } from './posts.ts';
import { compilePublishing } from './publishing.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber } from './subscribers.ts';

/** For whom an event is written: what a user may not see is left out, and a version has its own shape. */
export interface Audience {
  readonly user: string | undefined;
  readonly version: string;
}

type Told = ReturnType<typeof toldAs>;

/** Writes events as they are sent. */
export interface Wrapping {
  /** How a kind is told. */
  told(kind: string): Told;
  /** The envelope, or the payload where nothing stands around it, as JSON text on one line. */
  body(event: StoredEvent, audience: Audience): string | { readonly wrong: string };
  /** The same with all that anybody is shown. */
  whole(event: StoredEvent): string | { readonly wrong: string };
  /** The stated header fields of a delivery. */
  headers(event: StoredEvent, subscriber: Subscriber): Readonly<Record<string, string>> | { readonly wrong: string };
}

export function compileWrapping(engine: EventsSetting): Wrapping {
  const { compilation } = engine;
  const { spec } = compilation;
  const told = compileTold(spec);
  const envelope = compileEnvelope(eventEnvelopeOf(spec.events), compilation, told);
  const fields = named(pushOf(engine)?.headers ?? {}, compilation);
  const prunes = new Map<string, Prune | undefined>();
  const downs = new Map<string, Down | undefined>();
  const shapeOf = (kind: string) => statedValue(statedValue(spec.events.kinds)?.[kind]?.payload);

  function pruneFor(kind: string, { user }: Audience): Prune | undefined {
    const key = `${kind}\n${user ?? ''}`;
    if (!prunes.has(key)) {
      const stated = statedValue(spec.events.kinds)?.[kind];
      const shape = stated && toldShape(spec, stated);
      prunes.set(key, shape && compilePrune(spec, shape, { user, reveals: false, leftOut: leftOutOf(spec, { user }) }));
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
    told,
    body(event, audience) {
      const prune = pruneFor(event.kind, audience);
      const down = downFor(event.kind, audience);
      if (!prune && !down && envelope.ofText) return envelope.ofText(event, event.payload);
      const whole: Value = parseStoredValue(event.payload);
      prune?.(whole);
      const payload = down ? carried(down, whole) : whole;
      if (payload instanceof EvaluationFailure) return { wrong: payload.reason };
      return envelope.ofText ? envelope.ofText(event, toJson(payload)) : envelope.of(event, payload);
    },
    whole: (event) =>
      envelope.ofText ? envelope.ofText(event, event.payload) : envelope.of(event, parseStoredValue(event.payload)),
    headers(event, { fields: subscriber }) {
      if (fields.length === 0) return {};
      const scope = { ...scopeOf(event, parseStoredValue(event.payload), told), subscriber };
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

/** How each kind is told, found once. */
function compileTold(spec: Spec): Wrapping['told'] {
  const known = new Map<string, Told>(entriesOf(spec.events.kinds).map(([name]) => [name, toldAs(spec, name)]));
  return (kind) => known.get(kind) ?? { kind };
}

type Down = (value: Value) => Value;

/** A value that has no counterpart in an older version is not sent there. */
function carried(down: Down, value: Value): Value {
  try {
    return down(value);
  } catch (failure) {
    return new EvaluationFailure(failure instanceof Error ? failure.message : String(failure));
  }
}

type NamedEvaluate = readonly (readonly [string, Evaluate])[];

function named(
  expressions: Readonly<Record<string, Parameters<EventsSetting['compilation']['expression']>[0]>>,
  { expression }: EventsSetting['compilation'],
): NamedEvaluate {
  return Object.entries(expressions).map(([name, entry]) => [name, expression(entry)] as const);
}

/** Puts an envelope around a payload. */
interface CompiledEnvelope {
  /** Around a payload that is JSON text already; absent where an expression has to be evaluated. */
  readonly ofText?: (event: StoredEvent, payload: string) => string;
  of(event: StoredEvent, payload: Value): string | { readonly wrong: string };
}

function compileEnvelope(
  { at, word, expressions, members }: Envelope,
  compilation: EventsSetting['compilation'],
  told: Wrapping['told'],
): CompiledEnvelope {
  if (word === undefined) return { of: () => ({ wrong: 'The stated envelope is none that can be made here.' }) };
  if (!members) return { ofText: (_event, payload) => payload, of: (_event, payload) => toJson(payload) };
  const evaluates = named(
    Object.fromEntries(Object.entries(members).map(([name, source]) => [name, expressions[name] ?? { source, at }])),
    compilation,
  );
  const ofText = textOf(Object.entries(members), told);
  return { ...(ofText && { ofText }), of: (event, payload) => wrap(evaluates, event, payload, told) };
}

/** What is known of an event without evaluating anything, as JSON text. */
const texts: Readonly<Record<string, (event: StoredEvent, payload: string, told: Wrapping['told']) => string>> = {
  'event.id': ({ id }) => JSON.stringify(id),
  'event.kind': ({ kind }, _payload, told) => JSON.stringify(told(kind).kind),
  'event.at': ({ atMs }) => `"${new Date(atMs).toISOString()}"`,
  'event.payload': (_event, payload) => payload,
};

/** An envelope of nothing but what is known, which most are, is written without its payload being read. */
function textOf(
  members: readonly (readonly [name: string, source: string])[],
  told: Wrapping['told'],
): CompiledEnvelope['ofText'] {
  const pieces = members.flatMap(([name, source], index) => {
    const make = texts[source];
    return make ? [{ before: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`, make }] : [];
  });
  if (pieces.length === 0 || pieces.length < members.length) return undefined;
  return (event, payload) => {
    let text = '';
    for (const { before, make } of pieces) text += before + make(event, payload, told);
    return `${text}}`;
  };
}

function wrap(
  envelope: NamedEvaluate,
  event: StoredEvent,
  payload: Value,
  told: Wrapping['told'],
): string | { readonly wrong: string } {
  const scope = scopeOf(event, payload, told);
  const out: Fields = {};
  for (const [name, evaluate] of envelope) {
    const value = evaluate(scope);
    if (isFailed(value)) return { wrong: `The envelope's ${name} failed: ${value.reason}` };
    out[name] = value ?? null;
  }
  return toJson(out);
}

/** The time is that of the event, so that every try says the same. */
function scopeOf(
  { id, kind, atMs, operation }: StoredEvent,
  payload: Value,
  told: Wrapping['told'],
): Readonly<Record<string, Value>> {
  return { now: atMs, operation, version: '', event: { id, ...told(kind), at: new Date(atMs).toISOString(), payload } };
}

/** Makes what is sent: the event in its envelope, with the stated header fields and its signature. */
export interface Signing {
  post(event: StoredEvent, subscriber: Subscriber, nowMs: number): Post | { readonly wrong: string };
  /** What came of it, as far as what was answered has to be something. */
  judged(event: StoredEvent, subscriber: Subscriber, posted: Posted): Posted;
}

// These belong to the connection.
const framing = ['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect'];

export function compileSigning(engine: EventsSetting, wrapping: Wrapping, targets: WebhookTargets): Signing {
  const push = pushOf(engine);
  const signature = signatureOf(push?.signature);
  const { method, mediaType, write } = pushKind(push?.word);
  const { user } = engine.compilation;
  const publish = compilePublishing(engine, wrapping);
  const handshaking = compileHandshaking(engine);

  /** What asks an address is signed like what is delivered to it. */
  function asking(event: StoredEvent, subscriber: Subscriber, nowMs: number): Post | { readonly wrong: string } {
    const asked = handshaking.request(event, subscriber);
    if (!asked) return { wrong: 'The stated handshake is none that can be made here.' };
    const signed = signature.sign(
      { id: event.id, timestamp: Math.floor(nowMs / 1000), body: asked.body },
      subscriber.secrets(nowMs),
    );
    if ('wrong' in signed) return { wrong: String(signed.wrong) };
    const headers: Record<string, string> = { 'user-agent': 'ninefold', ...lowerCased(asked.headers), ...signed };
    if (asked.body !== '') headers['content-type'] ??= 'application/json';
    for (const name of framing) delete headers[name];
    const url = asked.query === '' ? subscriber.url : withQuery(subscriber.url, asked.query);
    return { method: asked.method, url, headers, body: asked.body, isPrivate: targets.allowsPrivate };
  }

  return {
    judged: (event, subscriber, posted) => (isHandshake(event) ? handshaking.judged(event, subscriber, posted) : posted),
    post(event, subscriber, nowMs) {
      const { maker, version, url, fields } = subscriber;
      if (subscriber.isBroker) return publish(event, url);
      const flaw = fields === undefined ? undefined : targetFlaw(url, targets);
      if (flaw !== undefined) return { wrong: `Its url is not ${flaw}.` };
      const unasked = whyUnasked(subscriber, event);
      if (unasked !== undefined) return { wrong: unasked };
      if (isHandshake(event)) return asking(event, subscriber, nowMs);
      const told = wrapping.body(event, { user: fields === undefined ? user : maker?.user, version });
      if (typeof told !== 'string') return told;
      const body = write ? write(told) : told;
      const own = wrapping.headers(event, subscriber);
      if ('wrong' in own) return { wrong: String(own.wrong) };
      const signed = signature.sign({ id: event.id, timestamp: Math.floor(nowMs / 1000), body }, subscriber.secrets(nowMs));
      if ('wrong' in signed) return { wrong: String(signed.wrong) };
      const headers: Record<string, string> = { 'content-type': mediaType, 'user-agent': 'ninefold', ...own };
      for (const name of framing) delete headers[name];
      // Whoever starts the service chooses where it sends; a row's address is somebody else's choice.
      const isPrivate = targets.allowsPrivate || fields === undefined;
      return { method, url, headers: { ...headers, ...signed }, body, isPrivate };
    },
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** An address with more parameters behind its own. */
function withQuery(url: string, query: string): string {
  const [address = '', fragment] = url.split('#', 2);
  const whole = `${address}${address.includes('?') ? '&' : '?'}${query}`;
  return fragment === undefined ? whole : `${whole}#${fragment}`;
}

/** The signature that is stated, or the usual one; what is stated and is none of them is never sent. */
function signatureOf(stated: StatedSignature | undefined): Signature {
  const kind = stated ? signatureKind(stated) : signatureKinds[0];
  return kind?.compile(stated?.facts ?? {}) ?? unknown;
}

const unknown: Signature = { sign: () => ({ wrong: 'The stated signature is none that can be made here.' }) };
