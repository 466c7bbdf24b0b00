import type { Json } from '../../document/document.ts';
import { logOf } from '../../parts/event-telling.ts';
import type { EventKind } from '../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../parts/fact.ts';
import type { LedgerFact } from '../../parts/facts/ledger.ts';
import { namesOperation } from '../../parts/operations.ts';
import { isFlaw } from '../exchange/claim.ts';
import { isDone } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { looksAtSomethingElse } from '../trials/events/already-so.ts';
import { cascadesOf, goneWith } from '../trials/events/cascades.ts';
import { confirmingReasons } from '../trials/events/confirming.ts';
import { toldIn } from '../trials/events/envelope.ts';
import { asksForFamilies, familyAsked, foreignLooks } from '../trials/events/families.ts';
import { followsFrom, toldAlongOf } from '../trials/events/following.ts';
import { eventsIn } from '../trials/events/heard.ts';
import { loggedReasons } from '../trials/events/logged.ts';
import type { ReceivedDelivery } from '../trials/events/receiver.ts';
import { subscribersOf } from '../trials/events/subscribing.ts';
import { toldLess } from '../trials/events/told-less.ts';
import { triedToTheEnd, waitsOf } from '../trials/events/tries.ts';
import { asTold, isHeard } from './alterations.ts';
import { withAltered } from './altered-json.ts';
import { looksFor } from './looks-at-limits.ts';
import type { HeldClaim, Obligation } from './obligation.ts';

/** Each kind of event, received, and none by who asks for others. */
export function looksAtKinds(model: Model): Obligation[] {
  if (isLoggedAlone(model)) return [looksFor('the log', loggedReasons.rows)];
  const each = entriesOf(model.spec.events.kinds).map(([kind]) => received(model, kind, kind));
  return [...foreignLooks(model).map((reason) => looksFor(reason)), ...each];
}

/** An event of the kind, received. */
export function looksAtPayload(model: Model, { subject }: LedgerFact): Obligation[] {
  if (isLoggedAlone(model)) return [looksFor('a row of it in the log', loggedReasons.rows)];
  const kind = entryOf(model.spec.events.kinds, subject);
  return [received(model, subject, 'an event of it'), ...(kind ? [...reckonedIn(model, kind), ...hiddenIn(model, kind)] : [])];
}

/** An event of it that is told to a user who is never shown some of its row. */
function hiddenIn(model: Model, kind: EventKind): Obligation[] {
  const subscribes = new Set(model.endpointsThat('create', subscribersOf(model)?.resource ?? ''));
  const users = new Set(toldLess(model, kind).map(({ user }) => user));
  return [...users].map((user) => ({
    name: `told to a ${user}, who is shown less`,
    isMetBy: (shown) =>
      hasKind(model, shown, kind.name) &&
      shown.exchanges.some(({ endpoint, caller }) => endpoint && subscribes.has(endpoint) && caller?.user === user),
  }));
}

/** Each member that `data` reckons, where another value of it would have been noticed: what reads rows that nobody saw says nothing of it. */
function reckonedIn(model: Model, { name: kind, data, payload }: EventKind): Obligation[] {
  if (!data || 'source' in data) return [];
  const shape = statedValue(payload);
  const fits = shape && model.schemas.of(shape, 'shown');
  const names = Object.entries(data).flatMap(([name, { source }]) => (isWholeRow(source) ? [] : [name]));
  return names.map((name) => ({
    name: `${name}, as it is reckoned`,
    isMetBy: ({ claim: { of, judge } }) =>
      of.some(({ step, value }) => {
        if (!isHeard(value)) return false;
        const isOf = (one: ReceivedDelivery) => toldIn(model.spec, one).kind === kind;
        const told = (alter: (was: Json) => Json) => ({
          ...value,
          deliveries: value.deliveries.map((one) =>
            isOf(one) && one.body !== undefined ? asTold(one, withAltered(one.body, name, alter, 0)) : one,
          ),
        });
        const isFit = (heard: typeof value) =>
          heard.deliveries.filter(isOf).length === value.deliveries.filter(isOf).length &&
          heard.deliveries.every((one) => !isOf(one) || !fits || fits(toldIn(model.spec, one).payload ?? null).length === 0);
        const altered = otherValues.map(told).filter(isFit);
        const isNoticed = (heard: typeof value) => isFlaw(judge(...of.map((one) => (one.step === step ? heard : one.value))));
        return value.deliveries.some(isOf) && altered.every(isNoticed);
      }),
  }));
}

function isWholeRow(source: string): boolean {
  return ['next', 'resource'].includes(source.trim());
}

/** Another value of the same type, so that it is not the shape alone that notices it. */
const otherValues: readonly ((was: Json) => Json)[] = [
  (was) => (typeof was === 'number' ? was + 1 : typeof was === 'boolean' ? !was : typeof was === 'string' ? `${was}x` : 1),
  (was) => (typeof was === 'number' ? was - 1 : typeof was === 'string' ? `x${was.slice(1)}` : was === null ? 'x' : null),
];

/** An event of each operation that emits it, of what is deleted with something else, and none without a cause. */
export function looksAtEmission(model: Model, { subject }: LedgerFact): Obligation[] {
  const kind = entryOf(model.spec.events.kinds, subject);
  const names = (kind && statedValue(kind.on)) ?? [];
  const emitting = model.operations.filter((operation) => operation.endpoint && namesOperation(names, operation, 'event'));
  if (isLoggedAlone(model))
    return emitting.map(
      ({ name, endpoint }): Obligation => ({
        name: `one of ${name} in the log`,
        isMetBy: ({ claim, exchanges }) =>
          claim.reason === loggedReasons.rows && exchanges.some((one) => isDone(one) && one.endpoint?.key === endpoint?.key),
      }),
    );
  const emitted = emitting.map(({ name, endpoint }): Obligation => {
    const came = received(model, subject, `one of ${name}`);
    return {
      ...came,
      isMetBy: (shown) =>
        came.isMetBy(shown) && shown.exchanges.some((one) => isDone(one) && one.endpoint?.key === endpoint?.key),
    };
  });
  const none: Obligation = {
    name: 'none without a cause',
    isMetBy: (shown) => shown.values.some(isHeard) && !hasKind(model, shown, subject),
  };
  // What only the clock or the service causes comes of nothing that a caller does.
  const along = cascadesOf(model).filter((cascade) => cascade.kind.name === subject);
  const gone = [...new Set(along.map(({ parent }) => goneWith(parent)))].map((reason) => looksFor(reason));
  const told = toldAlongOf(model).filter((one) => one.kind.name === subject);
  const others = [...new Set(told.map((one) => followsFrom(one)))].map((reason) => looksFor(reason));
  const again = (kind ? looksAtSomethingElse(model, kind) : []).map((reason) => looksFor(reason));
  if (emitted.length + gone.length > 0) return [...emitted, ...gone, ...others, ...again, none];
  return others.length > 0 ? others : [received(model, subject, 'an event of it')];
}

/** What is stated of how subscribers are told: to whom, of what, and again where that did not do. */
export function looksAtDelivery(model: Model): Obligation[] {
  const { spec } = model;
  const { push, broker } = statedValue(spec.events.delivery) ?? {};
  const { subscribers, retryMs = [] } = push ?? {};
  // What a broker is given is seen by those who listen to it, and by no caller.
  const unseen = broker ? [looksFor('what the broker is given', 'published to the broker')] : [];
  const log = logOf(spec);
  const isEndless = log?.keepMs === undefined || !Number.isFinite(log.keepMs);
  const inLog = log
    ? [
        looksFor('rows of the log', loggedReasons.rows),
        ...(isEndless ? [] : [looksFor('how long they are kept', loggedReasons.kept)]),
      ]
    : [];
  if (isLoggedAlone(model)) return inLog;
  const usual = [
    ...inLog,
    ...unseen,
    looksFor('a delivery', 'sent as stated'),
    looksFor('nothing to anybody else', 'to nobody else'),
  ];
  if (!subscribers) return usual;
  return [
    ...usual,
    ...(push?.confirm
      ? [
          looksFor('an address that is asked', confirmingReasons.asked),
          looksFor('one that does not confirm', confirmingReasons.denied),
        ]
      : []),
    ...(retryMs.length > 0 ? [looksFor('a delivery that is refused, again', 'tried again')] : []),
    ...(subscribers.events === undefined ? [] : [looksFor('a subscriber of some kinds', 'kinds that are asked for')]),
    ...(asksForFamilies(model) ? [looksFor(familyAsked)] : []),
    ...(waitsOf(model).length > 1 ? [looksFor(triedToTheEnd)] : []),
    ...(subscribers.enabled === undefined ? [] : [looksFor('a subscriber that is switched off', 'switched off')]),
    ...(subscribers.isEnabled || subscribers.if ? [looksFor('a subscriber that asks for nothing', 'asks for nothing')] : []),
  ];
}

/** Whether events are told of in the log, and nowhere else. */
function isLoggedAlone({ spec }: Model): boolean {
  const { push, pull } = statedValue(spec.events.delivery) ?? {};
  return logOf(spec) !== undefined && !push && !pull;
}

function received(model: Model, kind: string, name: string): Obligation {
  return { name, isMetBy: (shown) => hasKind(model, shown, kind) };
}

function hasKind(model: Model, { values }: HeldClaim, kind: string): boolean {
  return values.filter(isHeard).some(({ deliveries }) => eventsIn(model, deliveries).some((event) => event.kind === kind));
}
