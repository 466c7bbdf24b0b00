import { isSame } from '../../../document/values.ts';
import type { Told } from '../../../kinds/envelopes/reading.ts';
import { hasActions } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { actsAfter, comingOf, followingName } from '../../../parts/followed.ts';
import { namesOperation, type Operation, operationsOf } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Allowed } from '../../model/access.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Listening } from './ear.ts';
import { deliveryOf, payloadFlaw, showsKind, showsPayload, toldIn } from './envelope.ts';
import { changeIn, emittedFor, isHeardBy, kindsOn, type ObservedChange } from './expected.ts';
import type { ReceivedDelivery } from './receiver.ts';
import { asksFor, subscriberMade } from './subscribing.ts';

/** What was seen of one change and of what one subscriber heard. */
export interface ChangeHeard {
  readonly created: TrialExchange;
  readonly shown: TrialExchange | undefined;
  readonly acted: TrialExchange;
  readonly heard: Listening;
  /** The exchanges that made the row and what it refers to, oldest first. */
  readonly beside?: readonly TrialExchange[];
}

/** Different events that came, each once, however often it was delivered. */
export function eventsIn(
  model: Model,
  deliveries: readonly ReceivedDelivery[],
): (Told & { readonly delivery: ReceivedDelivery })[] {
  const known = new Set<string>();
  return deliveries.flatMap((delivery) => {
    const told = toldIn(model.spec, delivery);
    const id = told.id ?? delivery.headers['webhook-id'] ?? delivery.headers.id ?? `${told.kind} ${delivery.text}`;
    if (known.has(id)) return [];
    known.add(id);
    return [{ ...told, delivery }];
  });
}

/** Why nothing is held against payloads of which an envelope shows pieces alone. */
export const unshown = 'the envelope does not show the payload as it is';

/** Why nothing is said of events whose kind nobody can tell. */
export const nameless = 'what comes does not say of which kind it is';

/** Whether something came that does not say its kind, and need not. */
export function isNameless(model: Model, events: readonly Told[]): boolean {
  return (!showsKind(model.spec) || hasActions(model.spec)) && events.some(({ kind }) => kind === undefined);
}

/** That a change emits exactly one event of a kind, or none, and that a subscriber hears of it, or does not. */
export function emissionJudgement(
  model: Model,
  operation: Operation,
  kind: EventKind,
  maker: TrialCaller | undefined,
  seen: ChangeHeard,
): Judgement {
  const { created, acted, heard } = seen;
  if (!isDone(created) || !isDone(acted)) return moot('nobody subscribed, or the change was refused');
  const change = changeIn(model, operation, seen);
  // What changes nothing stores and emits nothing, and whether it does is not always seen.
  if (isUnchanged(change)) return moot('nothing is seen to have changed');
  const items = emittedFor(model, kind, change);
  const emitted = items === undefined ? 'unknown' : items.length > 0 ? 'yes' : 'no';
  const hears = emitted === 'no' ? 'no' : hearingOf(model, kind, change, maker, created);
  if (emitted === 'unknown' || hears === 'unknown') return moot('it is not known whether it has to be told');
  const events = eventsIn(model, heard.deliveries);
  if (isNameless(model, events)) return moot(nameless);
  const count = events.filter((event) => event.kind === kind.name).length;
  const who = maker === undefined ? 'the subscriber' : `a subscriber of ${maker.name}`;
  if (items !== undefined && emitted === 'yes' && hears === 'yes') {
    if (count === items.length) return undefined;
    return {
      promised: `${operation.name} emits ${items.length === 1 ? 'one' : items.length} ${kind.name}, and ${who} hears of it`,
      seen: count === 0 ? 'none came' : `${count} came`,
    };
  }
  if (count === 0) return undefined;
  const why =
    emitted === 'no'
      ? `${operation.name} emits no ${kind.name} here`
      : `${who} may not read the row, and hears of no ${kind.name}`;
  return { promised: why, seen: count === 1 ? 'one came' : `${count} came` };
}

/** Whether a subscriber hears of an event: it asks for it, and may. On the stream nobody is asked. */
function hearingOf(
  model: Model,
  kind: EventKind,
  change: ObservedChange,
  maker: TrialCaller | undefined,
  created: TrialExchange,
): Allowed {
  const row = rowIn(created);
  const subscriber = isSubscription(model, created) ? subscriberMade(model, created) : undefined;
  const asks = subscriber ? asksFor(model, subscriber, kind) : 'yes';
  if (asks === 'no') return 'no';
  const hears = isHeardBy(model, kind, change, maker, row ?? {});
  return hears === 'yes' ? asks : hears;
}

function isSubscription({ spec }: Model, { endpoint }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  return effect !== undefined && 'resource' in effect && effect.resource === deliveryOf(spec)?.push?.subscribers?.resource;
}

/** That who may not read a row is not told of it, whatever is. */
export function strangerJudgement(
  model: Model,
  operation: Operation,
  kinds: readonly EventKind[],
  maker: TrialCaller | undefined,
  seen: ChangeHeard,
): Judgement {
  const { created, acted, heard } = seen;
  if (!isDone(created) || !isDone(acted)) return moot('nobody subscribed, or the change was refused');
  const change = changeIn(model, operation, seen);
  const hidden = kinds.filter((kind) => isHeardBy(model, kind, change, maker, rowIn(created) ?? {}) === 'no');
  if (hidden.length === 0) return moot('nothing is hidden from the subscriber');
  const id = (change.after ?? change.before)?.[model.identifierField(operation.resource ?? '')];
  // Rows of others may be told of meanwhile.
  const told = eventsIn(model, heard.deliveries).find(
    ({ kind, payload }) =>
      hidden.some(({ name }) => name === kind) &&
      id !== undefined &&
      JSON.stringify(payload ?? null).includes(JSON.stringify(id)),
  );
  const who = maker === undefined ? 'the subscriber' : `a subscriber of ${maker.name}`;
  return told && { promised: `${who} may not read the row, and hears nothing of it`, seen: `${told.kind} came` };
}

/** Whether an update has left the row as it was, as far as it is seen. */
function isUnchanged({ operation, before, after }: ObservedChange): boolean {
  const verb = operation.endpoint && statedValue(operation.endpoint.does)?.verb;
  if ((verb !== 'update' && verb !== 'replace' && verb !== 'upsert') || operation.endpoint?.counts) return false;
  return before === undefined || after === undefined || isSame(before, after);
}

/** What came of listening for what must not come: that nothing did shows something only beside what did, or where it is known how long that takes. */
export function silenceShown(judgement: Judgement, isSilence: boolean): Judgement {
  return judgement === undefined && !isSilence ? moot('nothing came that shows that it would have come by then') : judgement;
}

/** That a refused request emits nothing. */
export function silenceJudgement(
  model: Model,
  kind: EventKind,
  { created, acted, heard }: Omit<ChangeHeard, 'shown'>,
): Judgement {
  if (!isDone(created) || acted.status < 400) return moot('nobody subscribed, or it was not refused');
  const events = eventsIn(model, heard.deliveries);
  if (isNameless(model, events)) return moot(nameless);
  const count = events.filter((event) => event.kind === kind.name).length;
  return count === 0 ? undefined : { promised: `what is refused emits no ${kind.name}`, seen: `${count} came` };
}

/** That no event comes of a kind that no document states. */
export function kindsJudgement(model: Model, { heard }: Pick<ChangeHeard, 'heard'>): Judgement {
  if (model.spec.events.others) return moot('there are other kinds');
  const told = eventsIn(model, heard.deliveries);
  if (told.length === 0) return moot('nothing came');
  if (isNameless(model, told)) return moot(nameless);
  const stranger = told.find(({ kind }) => kind === undefined || entryOf(model.spec.events.kinds, kind) === undefined);
  const known = entriesOf(model.spec.events.kinds).map(([name]) => name);
  return (
    stranger && {
      promised: `events are of these kinds: ${known.join(', ')}`,
      seen: stranger.kind ?? stranger.delivery.text.slice(0, 200),
    }
  );
}

/** That the payload of an event of a kind is what the change made of it. */
export function payloadJudgement(
  model: Model,
  operation: Operation,
  kind: EventKind,
  maker: TrialCaller | undefined,
  seen: ChangeHeard,
): Judgement {
  const { created, acted, heard } = seen;
  if (!isDone(created) || !isDone(acted)) return moot('nobody subscribed, or the change was refused');
  const events = eventsIn(model, heard.deliveries).filter((event) => event.kind === kind.name);
  const change = changeIn(model, operation, seen);
  const items = kind.each ? emittedFor(model, kind, change) : [undefined];
  if (events.length === 0 || events.length !== items?.length || isMadeByOthers(model, kind, operation))
    return moot('none came, or several, or others make them as well');
  if (!showsPayload(model.spec)) return moot(unshown);
  const flaws = items.map((item) => events.map(({ payload }) => payloadFlaw(model, kind, payload, change, maker, item)));
  return flaws.find((ofItem) => !ofItem.includes(undefined))?.[0];
}

/** Whether the clock or the service emits the same kind, so that it may have been they. */
function isMadeByOthers(model: Model, kind: EventKind, operation: Operation): boolean {
  const names = statedValue(kind.on) ?? [];
  return operationsOf(model.spec).some(
    (other) => other.by === 'service' && other.resource === operation.resource && namesOperation(names, other, 'event'),
  );
}

/** Every kind that a change of an operation could be told in, and those that it must not be. */
export function kindsAbout(model: Model, operation: Operation): EventKind[] {
  const own = new Set(kindsOn(model, operation));
  return entriesOf(model.spec.events.kinds).flatMap(([, kind]) =>
    own.has(kind) || isOfResource(model, kind, operation) ? [kind] : [],
  );
}

/** A kind that other operations on the same resource emit, and none that the clock or a deletion elsewhere could bring about meanwhile. */
function isOfResource(model: Model, kind: EventKind, operation: Operation): boolean {
  const names = statedValue(kind.on) ?? [];
  // What follows from changes is told where they are made: here it is no other than its like that a caller does.
  const emitting = operationsOf(model.spec).filter(
    (other) => namesOperation(names, other, 'event') && !isLike(model, other, operation),
  );
  return emitting.length > 0 && emitting.every((other) => other.by === undefined && other.resource === operation.resource);
}

/** Whether an act does what callers do as well, and does not follow from this operation. */
function isLike({ spec }: Model, { name, follows }: Operation, { endpoint }: Operation): boolean {
  if (!follows) return false;
  const acts = comingOf(spec, actsAfter(spec, endpoint && statedValue(endpoint.does), endpoint?.operation));
  return !acts.some(({ does }) => does !== undefined && followingName(does) === name);
}
