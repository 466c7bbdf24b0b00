import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { pushKind } from '../../../kinds/deliveries/all.ts';
import type { Told } from '../../../kinds/envelopes/reading.ts';
import { signatureKind } from '../../../kinds/signatures/all.ts';
import { askedFor, toldAs } from '../../../parts/event-telling.ts';
import type { EventKind, Push } from '../../../parts/events.ts';
import { type Expression, entriesOf, entryOf } from '../../../parts/fact.ts';
import { along, withPlaced } from '../../../parts/reach.ts';
import { shapeAlong } from '../../../parts/uses/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done, Step } from '../../exchange/step.ts';
import type { Fresh, Symbolic } from '../../exchange/symbol.ts';
import { ifTestable, Untestable } from '../../exchange/untestable.ts';
import { remove } from '../../make/walk.ts';
import type { Allowed } from '../../model/access.ts';
import { askedKinds } from '../../model/asked-kinds.ts';
import { expectedAfter } from '../../model/expected.ts';
import type { Model } from '../../model/model.ts';
import { sentFields } from '../../model/own-body.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { headerSays } from '../../values/difference.ts';
import { type Ear, eventMs, type Listening, listenIn, msFor, noteArrival, quietFor, type Waiting } from './ear.ts';
import { deliveryOf, envelopeFlaw, toldIn, toldOf } from './envelope.ts';
import { addressPath, beingAsked, denying, newAddress, reacting, receiverOf } from './own-addresses.ts';
import type { React, ReceivedDelivery } from './receiver.ts';

/** Somebody who is told of events at an address of the receiver's. */
export interface SubscribedEar extends Ear {
  readonly row: TrialRow;
}

type Subscribers = NonNullable<Push['subscribers']>;

/** How subscribers are kept; nothing where there are no web hooks, or nobody can subscribe. */
export function subscribersOf({ spec }: Model): Subscribers | undefined {
  return deliveryOf(spec)?.push?.subscribers;
}

/** Those who may subscribe. */
export function subscribing(model: Model): (TrialCaller | undefined)[] {
  const resource = subscribersOf(model)?.resource ?? '';
  const endpoints = model.endpointsThat('create', resource);
  const allowed = model.callers.filter((caller) =>
    endpoints.some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no'),
  );
  return allowed.length > 0 ? allowed : endpoints.length > 0 ? [undefined] : [];
}

/** Subscribes as somebody, by the service's own operation. `react` says what deliveries are answered with. @throws {Untestable} */
export async function subscribe(
  session: Session,
  maker: TrialCaller | undefined,
  given: {
    readonly events?: readonly string[];
    readonly enabled?: boolean;
    readonly react?: React;
    /** Whether what asks its address is answered wrongly. */
    readonly isDenied?: boolean;
    readonly unmet?: Expression;
  } = {},
): Promise<SubscribedEar> {
  const { model } = session;
  const stated = subscribersOf(model);
  if (stated?.url === undefined) throw new Untestable('nobody can subscribe');
  const url = await newAddress(session);
  if (given.react) await session.do(reacting(url, given.react));
  if (given.isDenied) await session.do(denying(url));
  const body: Record<string, Symbolic> = {};
  const put = (path: string, value: Symbolic) => Object.assign(body, withPlaced(body, path, value));
  put(stated.url, url);
  const kinds = given.events && askedKinds(model, given.events);
  if (stated.events !== undefined && kinds) put(stated.events, [...kinds]);
  if (stated.enabled !== undefined) put(stated.enabled, given.enabled ?? true);
  const secret = secretToSend(model, stated);
  if (secret !== undefined && stated.secret !== undefined) put(stated.secret, secret);
  const row = await madeAsking(session, stated.resource, maker, body, given.unmet);
  if (!row.made) throw new Untestable(`a ${stated.resource} was given, and none was made`);
  const asked = deliveryOf(model.spec)?.push?.confirm ? [await session.do(beingAsked(url, row.made))] : [];
  return listenIn(session, { row, ...earOf(model, url, row.made, maker, asked), end: () => unsubscribe(session, row) });
}

/** So many subscribers are made until one asks for everything, or for nothing. */
const askingMost = 8;

/** A subscriber that asks for every kind, or for none by one of the conditions that are stated. @throws {Untestable} */
async function madeAsking(
  session: Session,
  resource: string,
  caller: TrialCaller | undefined,
  body: Readonly<Record<string, Symbolic>>,
  unmet: Expression | undefined,
): Promise<TrialRow> {
  const { model } = session;
  if (askingOf(model).length === 0) return session.make(resource, { caller, body });
  for (let draw = 0; draw < askingMost; draw++) {
    const row = await session.make(resource, { caller, body: merged(asked(model, draw), body), style: 'full' });
    const shown = row.made && subscriberMade(model, row.made.value);
    if (shown && asksForAll(model, shown, unmet)) return row;
    await unsubscribe(session, row);
  }
  throw new Untestable(`no ${resource} was made that asks for ${unmet === undefined ? 'everything' : 'nothing'}`);
}

/** What is sent for certain, with what is chosen besides in the same maps. */
function merged(chosen: Record<string, Json>, body: Readonly<Record<string, Symbolic>>): Record<string, Symbolic> {
  const out: Record<string, Symbolic> = { ...chosen };
  for (const [name, value] of Object.entries(body)) {
    const held = chosen[name];
    const isMapOf = Object.getPrototypeOf(value) === Object.prototype && held !== undefined && isMap(held);
    out[name] = isMapOf ? ({ ...held, ...(value as object) } as Symbolic) : value;
  }
  return out;
}

/** Takes a subscriber away where that can be: it would be told of everything that comes later. */
export async function unsubscribe(session: Session, row: TrialRow): Promise<void> {
  await ifTestable(remove(session, row));
}

/** Somebody who has subscribed with an address of the receiver's. */
export function earOf(
  model: Model,
  url: Fresh,
  created: Done<TrialExchange>,
  maker: TrialCaller | undefined,
  asked: readonly Done<unknown>[] = [],
): Ear {
  return {
    maker,
    opened: created,
    hearing: (after, waiting) => hearing(url, [created, ...asked, ...after], waiting),
    end: async () => {},
    judge: (one, heard) => deliveryJudgement(model, one, heard),
  };
}

/** Where a subscriber brings its secret along, a good one. */
function secretToSend(model: Model, { resource, secret }: Subscribers): string | undefined {
  const field = secret === undefined ? undefined : entryOf(model.resource(resource)?.fields, secret);
  if (!field || field.generate !== undefined || field.readOnly || Object.keys(field.set).length > 0) return undefined;
  return `whsec_${Buffer.from('ninefold-verify-is-your-subscriber').toString('base64')}`;
}

/** The step that listens at a subscriber's address. `after` are the steps that have to come before it. */
function hearing(url: Fresh, after: readonly Done<unknown>[], waiting: Waiting): Step<Listening> {
  return {
    says: 'listen at the address of the subscriber',
    isWait: true,
    takes: [],
    needs: after.map(({ step }) => step),
    async act(run) {
      const receiver = await receiverOf(run);
      const path = addressPath(url, run);
      const fromMs = Date.now();
      await receiver.until(path, waiting.isEnough, msFor(run, waiting));
      if (waiting.ms === eventMs && waiting.isEnough(receiver.at(path))) noteArrival(run, Date.now() - fromMs);
      if (waiting.quietMs > 0) await receiver.until(path, () => false, quietFor(run, waiting));
      const nowSeconds = run.clock.toService(Date.now()) / 1000;
      const asked = [...receiver.asked(path)];
      return { deliveries: [...receiver.at(path)], asked, nowSeconds, isUnreached: receiver.connections === 0 };
    },
    tell: ({ deliveries }) =>
      deliveries.length === 0 ? 'nothing came' : deliveries.map(({ text }) => text.slice(0, 200)).join('; '),
    shell: () => [
      `sleep ${Math.max(2, Math.ceil((waiting.ms + waiting.quietMs) / 1000))}`,
      'echo "what was delivered:"; cat "$RECEIVED"',
    ],
  };
}

/** That what comes to a subscriber is sent as stated: by POST, as JSON, in the envelope, signed, with the stated headers. */
function deliveryJudgement(model: Model, created: TrialExchange, heard: Listening): Judgement {
  const push = deliveryOf(model.spec)?.push;
  const [first] = heard.deliveries;
  if (!push || !first) return moot('nothing came');
  const kind = pushKind(push.word);
  const secret = secretIn(model, created);
  for (const delivery of heard.deliveries) {
    const { headers } = delivery;
    const otherwise = kind.flaw(delivery);
    if (otherwise) return otherwise;
    const flaw = envelopeFlaw(model.spec, delivery.body);
    if (flaw !== undefined) return { promised: 'the stated envelope', seen: flaw };
    const told = toldIn(model.spec, delivery);
    const received = { headers, text: delivery.text, id: told.id };
    const unsigned =
      push.signature &&
      secret !== undefined &&
      signatureKind(push.signature)?.flaw(push.signature.facts, received, secret, heard.nowSeconds);
    if (unsigned) return { promised: `${kind.noun} are signed as stated, with the secret of the subscriber`, seen: unsigned };
    const header = headerFlaw(model, delivery, told);
    if (header !== undefined) return { promised: `${kind.noun} have the stated headers`, seen: header };
  }
  return undefined;
}

function headerFlaw(model: Model, { headers }: ReceivedDelivery, told: Told): string | undefined {
  const event = { id: told.id ?? '', ...toldOf(model.spec, told), at: told.at ?? '', payload: told.payload ?? null };
  for (const [name, expression] of Object.entries(deliveryOf(model.spec)?.push?.headers ?? {})) {
    const evaluated = model.expressions.evaluate(expression, undefined, { context: { event }, unseen: {} });
    if (typeof evaluated === 'string' || evaluated.value === null) continue;
    const given = headers[name.toLowerCase()];
    if (!headerSays(given, asText(evaluated.value)))
      return `${name}: ${given ?? 'none'}, where \`${expression.source}\` is ${asText(evaluated.value)}`;
  }
  return undefined;
}

/** The secret of a subscriber: as it was revealed, or as it was sent. */
function secretIn({ spec }: Model, created: TrialExchange): string | undefined {
  const field = deliveryOf(spec)?.push?.subscribers?.secret;
  if (field === undefined) return undefined;
  const sent =
    typeof created.sent.json === 'object' && created.sent.json !== null ? (created.sent.json as Record<string, Json>) : {};
  const secret = along<Json>(rowIn(created), field) ?? along<Json>(sent, field);
  return typeof secret === 'string' ? secret : undefined;
}

type Fields = Readonly<Record<string, Json>>;

const made = new WeakMap<TrialExchange, Fields>();

/** A subscriber as its creation made it: as it was shown and, of what is not shown, as what was sent makes it. Nothing where none is shown. */
export function subscriberMade(model: Model, created: TrialExchange): Fields | undefined {
  const known = made.get(created);
  const shown = rowIn(created);
  if (known || !shown) return known;
  const resource = model.resource(deliveryOf(model.spec)?.push?.subscribers?.resource ?? '');
  const sent = (resource && sentFields(model, resource, created)) ?? {};
  const hidden = [...expectedAfter(model, created, undefined)].flatMap(([name, one]) => {
    if (one.is === 'value') return [[name, one.value] as const];
    // What the service changes by itself later is what was sent, or what is usual, as long as nothing has come of it.
    const field = resource && entryOf(resource.fields, name);
    const begun = Object.keys(field?.set ?? {}).length > 0 ? undefined : (sent[name] ?? field?.default?.value);
    return one.is === 'unknown' && one.because === 'kept' && begun !== undefined ? [[name, begun] as const] : [];
  });
  const subscriber = { ...Object.fromEntries(hidden), ...shown };
  made.set(created, subscriber);
  return subscriber;
}

/** The conditions under which subscribers are told of anything, and of one event. */
export function askingOf({ spec }: Model): readonly Expression[] {
  const { isEnabled, if: condition } = deliveryOf(spec)?.push?.subscribers ?? {};
  return [...(isEnabled ? [isEnabled] : []), ...(condition ? [condition] : [])];
}

/** Whether a subscriber, as it was shown, asks for events of a kind. */
export function asksFor(model: Model, subscriber: Fields, kind: EventKind): Allowed {
  const context = { subscriber, event: toldAs(model.spec, kind.name) };
  const answers = askingOf(model).map((condition) => model.expressions.evaluate(condition, undefined, { context }));
  if (answers.some((answer) => typeof answer === 'object' && answer.value !== true)) return 'no';
  return answers.some((answer) => typeof answer === 'string') ? 'unknown' : 'yes';
}

/** Whether a subscriber meets all conditions for events of every kind, or all but one, which it meets for none. */
function asksForAll(model: Model, subscriber: Fields, unmet: Expression | undefined): boolean {
  const kinds = entriesOf(model.spec.events.kinds).map(([name]) => toldAs(model.spec, name));
  return askingOf(model).every((condition) =>
    kinds.every((event) => {
      const evaluated = model.expressions.evaluate(condition, undefined, { context: { subscriber, event } });
      return typeof evaluated === 'object' && (evaluated.value === true) === (condition !== unmet);
    }),
  );
}

/** What is sent of the fields that decide what a subscriber asks for: each of the few things that they can be, or every kind; every draw another choice. */
function asked(model: Model, draw: number): Record<string, Json> {
  const resource = deliveryOf(model.spec)?.push?.subscribers?.resource ?? '';
  const names = entriesOf(model.spec.events.kinds).flatMap(([, kind]) => [kind.called, askedFor(kind)]);
  let out: Record<string, Json> = {};
  let left = draw;
  for (const { root, path } of askingOf(model).flatMap((condition) => model.expressions.readsOf(condition, undefined))) {
    if (root !== 'subscriber' || path.length === 0) continue;
    const place = path.join('.');
    const shape = shapeAlong(model.spec, { row: { shape: { resource } } }, `row.${place}`);
    const few = shape?.type === 'boolean' ? [true, false] : Array.isArray(shape?.enum) ? (shape.enum as readonly Json[]) : [];
    const lists: readonly Json[] = shape?.type === 'array' ? [[...new Set(names)], []] : [];
    const values = [...few, ...lists];
    const value = values[left % Math.max(1, values.length)];
    left = Math.floor(left / Math.max(1, values.length));
    if (value !== undefined) out = withPlaced(out, place, value);
  }
  return out;
}
