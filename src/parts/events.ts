import type { Pointer } from '../document/document.ts';
import { type PullWord, type PushWord, pullKind, pullKinds, pushKinds } from '../kinds/deliveries/all.ts';
import { durationMs } from '../kinds/durations.ts';
import { type StatedSignature, signatureOfMembers, signatureWord } from '../kinds/signatures/all.ts';
import { type StreamWord, streamWord } from '../kinds/streams/all.ts';
import { type Envelope, envelopeBy, readEnvelope } from './envelope.ts';
import { type Expression, type Fact, type Named, statedValue, type Unstated } from './fact.ts';
import { readShape } from './read-shape.ts';
import type { Shape } from './shape.ts';
import { named, type Source } from './source.ts';

/** Part 6: what the service tells of its own accord, when, to whom and how. */
export interface Events {
  readonly at: Pointer;
  readonly kinds: Fact<Named<EventKind>>;
  readonly others?: Unstated;
  readonly delivery: Fact<Delivery>;
}

export interface EventKind {
  readonly name: string;
  readonly at: Pointer;
  /** The operations that emit it. */
  readonly on: Fact<readonly string[]>;
  readonly if?: Expression;
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
  readonly envelope: Envelope;
}

/** How it is listened to, and the operation by which that is; nothing where it is not stated. */
export function pullOf({ delivery }: Events): (Pull & { readonly operation: { readonly name: string } }) | undefined {
  const pull = statedValue(delivery)?.pull;
  return pull && { ...pull, operation: { name: pullKind(pull.word).operation } };
}

/** What stands around what a service sends: as stated, or as is usual where no way of delivery is. */
export function envelopeOf(events: Events): Envelope {
  return statedValue(events.delivery)?.envelope ?? envelopeBy(events.at, undefined);
}

/** Events that are sent to addresses, as it is stated. */
export interface Push {
  /** Its kind. */
  readonly word: PushWord;
  readonly at: Pointer;
  readonly signature?: StatedSignature & { readonly at: Pointer };
  readonly headers: Named<Expression>;
  readonly retryMs: readonly number[];
  readonly timeoutMs?: number;
  readonly disableAfterMs?: number;
  readonly order?: 'any';
  /** The resource that holds the subscribers, and its fields. */
  readonly subscribers?: {
    readonly at: Pointer;
    readonly resource: string;
    readonly url?: string;
    readonly secret?: string;
    readonly events?: string;
    readonly enabled?: string;
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
  };
}

function readKind(name: string, source: Source): EventKind {
  const condition = source.get('if').expression();
  const to = source.get('to').expression();
  const data = source.get('data');
  const expression = data.isMap ? undefined : data.expression();
  return {
    name,
    at: source.at,
    on: source.get('on').fact((value) => value.words()),
    ...(condition && { if: condition }),
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
      envelope: readEnvelope(envelope),
    };
  });
}

function readPush(word: PushWord, source: Source): Push {
  const signature = readSignature(source.get('signature'));
  const subscribers = source.get('subscribers');
  const timeoutMs = durationMs(source.get('timeout').text() ?? '');
  const disableAfterMs = durationMs(source.get('disable_after').text() ?? '');
  const fields: Record<string, string> = {};
  for (const name of ['url', 'secret', 'events', 'enabled'] as const) {
    const text = subscribers.get(name).text();
    if (text !== undefined) fields[name] = text;
  }
  return {
    word,
    at: source.at,
    ...(signature && { signature }),
    headers: source.get('headers').expressions(),
    retryMs: source
      .get('retry')
      .words()
      .flatMap((word) => durationMs(word) ?? []),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(disableAfterMs !== undefined && { disableAfterMs }),
    ...(source.get('order').text() === 'any' && { order: 'any' as const }),
    ...(subscribers.isMap && {
      subscribers: { at: subscribers.at, resource: subscribers.get('resource').text() ?? '', ...fields },
    }),
  };
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
