import type { Pointer } from '../document/document.ts';
import { type PullWord, type PushWord, pullKind, pullKinds, pushKinds } from '../kinds/deliveries/all.ts';
import { type BrokerWord, brokerKind, brokerMembers } from '../kinds/deliveries/all-brokers.ts';
import type { StatedBroker } from '../kinds/deliveries/broker.ts';
import { handshakeWord, type StatedHandshake } from '../kinds/handshakes/all.ts';
import { durationMs } from '../kinds/measures.ts';
import { type StatedSignature, signatureOfMembers, signatureWord } from '../kinds/signatures/all.ts';
import { type StreamWord, streamWord } from '../kinds/streams/all.ts';
import { type Envelope, type EventLog, envelopeBy, readEnvelope, readLog } from './event-telling.ts';
import { type Expression, type Fact, type Named, statedValue, type Unstated } from './fact.ts';
import { readShape, type Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** Part 6: what the service tells of its own accord, when, to whom and how. */
export interface Events {
  readonly at: Pointer;
  readonly kinds: Fact<Named<EventKind>>;
  readonly others?: Unstated;
  readonly delivery: Fact<Delivery>;
  /** The resource of which each of them is a row too. */
  readonly log: Fact<EventLog>;
}

export interface EventKind {
  /** Its key. */
  readonly name: string;
  /** What it is called where it is told: its key, unless another name is stated. */
  readonly called: string;
  /** What tells it from others that are called the same. */
  readonly action?: string;
  readonly at: Pointer;
  /** The operations that emit it. */
  readonly on: Fact<readonly string[]>;
  readonly if?: Expression;
  /** Told by the clock: of rows of a resource, each at its time, once for each. */
  readonly clock?: { readonly of: string; readonly at: Expression };
  /** A list: one is emitted for each `item` of it. */
  readonly each?: Expression;
  readonly payload: Fact<Shape>;
  /** CEL by field of the payload; a lone expression makes the whole. */
  readonly data?: Named<Expression> | Expression;
  /** Who receives it, in place of the rule that its maker can read the resource. */
  readonly to?: Expression;
}

export interface Delivery {
  readonly at: Pointer;
  /** How they are sent to whoever has subscribed. */
  readonly push?: Push;
  /** How they are told over a connection that whoever listens opens. */
  readonly pull?: Pull;
  /** To what kind of broker they are published. */
  readonly broker?: Broker;
  readonly envelope: Envelope;
}

/** How it is listened to, and the operation by which that is; nothing where it is not stated. */
export function pullOf({ delivery }: Events): (Pull & { readonly operation: { readonly name: string } }) | undefined {
  const pull = statedValue(delivery)?.pull;
  return pull && { ...pull, operation: { name: pullKind(pull.word).operation } };
}

/** What stands around what a service sends: as stated, or as is usual where no way of delivery is. */
export function eventEnvelopeOf(events: Events): Envelope {
  return statedValue(events.delivery)?.envelope ?? envelopeBy(events.at, undefined);
}

/** Events that are sent to addresses, as it is stated. */
export interface Push {
  /** Its kind. */
  readonly word: PushWord;
  readonly at: Pointer;
  readonly signature?: StatedSignature & { readonly at: Pointer };
  /** How an address is asked before anything is delivered to it. */
  readonly confirm?: StatedHandshake & { readonly at: Pointer };
  readonly headers: Named<Expression>;
  readonly retryMs: readonly number[];
  readonly timeoutMs?: number;
  readonly disableAfterMs?: number;
  readonly order?: 'any';
  /** The resource that holds the subscribers, and its fields, each the path to it. */
  readonly subscribers?: {
    readonly at: Pointer;
    readonly resource: string;
    readonly url?: string;
    readonly secret?: string;
    readonly events?: string;
    readonly enabled?: string;
    /** The field that says whether its address has confirmed. */
    readonly confirmed?: string;
    /** Whether it is told of anything, where that is no field. */
    readonly isEnabled?: Expression;
    /** Whether it is told of one event. */
    readonly if?: Expression;
  };
}

/** Events that are listened to, as it is stated. */
export interface Pull {
  /** Its kind. */
  readonly word: PullWord;
  readonly at: Pointer;
  readonly method: string;
  readonly path: string;
  /** Its format; nothing for a word that is none. */
  readonly format: StreamWord | undefined;
  readonly keepMs?: number;
}

/** A broker that events are published to, as it is stated. */
export interface Broker extends StatedBroker {
  /** Its kind; nothing for a word that is none. */
  readonly word: BrokerWord | undefined;
  readonly at: Pointer;
}

export function readEvents(source: Source): Events {
  const whole = source.unstated();
  const none = whole?.standing === 'none' ? whole : undefined;
  const kinds = source.get('kinds');
  const others = kinds.has('others') ? kinds.get('others').unstated() : undefined;
  return {
    at: source.at,
    kinds:
      none ??
      kinds.fact((value) =>
        named(
          value
            .entries()
            .filter(([name]) => name !== 'others')
            .map(([name, entry]) => [name, readKind(name, entry)] as const),
        ),
      ),
    ...(others && { others }),
    delivery: none ?? readDelivery(source),
    log: none ?? readLog(source.get('log')),
  };
}

function readKind(name: string, source: Source): EventKind {
  const condition = source.get('if').expression();
  const each = source.get('each').expression();
  const to = source.get('to').expression();
  const data = source.get('data');
  const expression = data.isMap ? undefined : data.expression();
  const action = source.get('action').text();
  const [of, at] = [source.get('of').text(), source.get('at').expression()];
  const clock = of !== undefined && at ? { of, at } : undefined;
  return {
    name,
    called: source.get('name').text() ?? name,
    ...(action !== undefined && { action }),
    at: source.at,
    on:
      clock && !source.has('on')
        ? { standing: 'stated', value: [], at: source.at }
        : source.get('on').fact((value) => value.words()),
    ...(clock && { clock }),
    ...(condition && { if: condition }),
    ...(each && { each }),
    payload: source.get('payload').fact((value) => readShape(value)),
    ...(expression ? { data: expression } : data.isMap && { data: data.madeValues() }),
    ...(to && { to }),
  };
}

function readDelivery(source: Source): Fact<Delivery> {
  return source.get('delivery').fact((value) => {
    if (!value.isMap) return undefined;
    const envelope = value.has('envelope') ? value.get('envelope') : source.get('envelope');
    const push = pushKinds.find(({ word }) => value.get(word).isMap);
    const pull = pullKinds.find(({ word }) => value.get(word).isMap);
    return {
      at: value.at,
      ...(push && { push: readPush(push.word, value.get(push.word)) }),
      ...(pull && { pull: readPull(pull.word, value.get(pull.word)) }),
      ...(value.get('broker').isMap && { broker: readBroker(value.get('broker')) }),
      envelope: readEnvelope(envelope),
    };
  });
}

function readBroker(source: Source): Broker {
  return {
    word: brokerKind(source.get('kind').text())?.word,
    at: source.at,
    own: source.members(brokerMembers, ({ value }) => value),
  };
}

function readPush(word: PushWord, source: Source): Push {
  const signature = readSignature(source.get('signature'));
  const confirm = readHandshake(source.get('confirm'));
  const subscribers = source.get('subscribers');
  const timeoutMs = durationMs(source.get('timeout').text() ?? '');
  const disableAfterMs = durationMs(source.get('disable_after').text() ?? '');
  return {
    word,
    at: source.at,
    ...(signature && { signature }),
    ...(confirm && { confirm }),
    headers: source.get('headers').expressions(),
    retryMs: source
      .get('retry')
      .words()
      .flatMap((word) => durationMs(word) ?? []),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(disableAfterMs !== undefined && { disableAfterMs }),
    ...(source.get('order').text() === 'any' && { order: 'any' as const }),
    ...(subscribers.isMap && { subscribers: readSubscribers(subscribers) }),
  };
}

function readSubscribers(source: Source): NonNullable<Push['subscribers']> {
  const fields: Record<string, string> = {};
  for (const name of ['url', 'secret', 'events', 'enabled', 'confirmed'] as const) {
    const text = source.get(name).text();
    if (text !== undefined && (name !== 'enabled' || isPath(text))) fields[name] = text;
  }
  const isEnabled = fields.enabled === undefined ? source.get('enabled').expression() : undefined;
  const condition = source.get('if').expression();
  return {
    at: source.at,
    resource: source.get('resource').text() ?? '',
    ...fields,
    ...(isEnabled && { isEnabled }),
    ...(condition && { if: condition }),
  };
}

/** Whether a text is the path to a field, and no expression. */
function isPath(text: string): boolean {
  return !text.startsWith('subscriber.') && /^[\w-]+(?:\.[\w-]+)*$/.test(text);
}

/** By its word, or by its members; `!none` is as good as the word. What is open or left to the service is not stated. */
function readSignature(source: Source): Push['signature'] {
  const { at } = source;
  const standing = source.unstated('tags only')?.standing;
  if (standing === 'open' || standing === 'any') return undefined;
  if (!source.isMap || standing) return { at, word: signatureWord(standing ?? source.text()), facts: named([]) };
  const members = source.entries();
  return {
    at,
    word: signatureOfMembers(members.map(([name]) => name)),
    facts: named(members.map(([name, member]) => [name, member.text() ?? ''] as const)),
  };
}

/** By its word, or by its members; nothing where none is stated. */
function readHandshake(source: Source): Push['confirm'] {
  const { at } = source;
  if (source.unstated() || (!source.isMap && source.text() === undefined)) return undefined;
  const facts = named(source.entries().map(([name, { value = null }]) => [name, value] as const));
  return { at, word: handshakeWord(source.isMap ? undefined : source.text(), Object.keys(facts)), facts };
}

function readPull(word: PullWord, source: Source): Pull {
  const key = source.get('path').text() ?? '';
  const space = key.indexOf(' ');
  const keepMs = durationMs(source.get('keep').text() ?? '');
  return {
    word,
    at: source.at,
    method: space < 0 ? pullKind(word).method : key.slice(0, space),
    path: space < 0 ? key : key.slice(space + 1).trim(),
    format: streamWord(source.get('format').text()),
    ...(keepMs !== undefined && { keepMs }),
  };
}
