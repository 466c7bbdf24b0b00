import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { pushKind } from '../../kinds/deliveries/all.ts';
import { along, withPlaced } from '../../parts/reach.ts';
import type { StoredDelivery, StoredEvent } from '../../store/outbox.ts';
import type { Transaction } from '../../store/store.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import type { Entropy } from '../http/clock.ts';
import { ownWork } from '../resources/act.ts';
import { updateRow } from '../resources/create.ts';
import { applySetters, drawOnce } from '../resources/setters.ts';
import { confirmSubscriber, whyNotAsked } from './confirming.ts';
import { pushOf } from './event-kinds.ts';
import type { Post, Posted } from './posts.ts';
import { brokerSubscriber } from './publishing.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';
import type { UndeliveredTelling } from './undelivered.ts';

/** What came of a try. */
export interface Settled {
  readonly delivery: StoredDelivery;
  /** Nothing where it was not sent. */
  readonly posted: Posted | undefined;
  /** Why nothing more is done about it, where it was not sent. */
  readonly final: string | undefined;
  readonly atMs: number;
  readonly tookMs: number;
  /** The handshake that it was. */
  readonly handshake?: string | undefined;
}

/** Nothing was sent. */
export const nothingCame: Posted = { status: undefined, error: undefined, response: undefined, retryAfter: undefined };

/** Writes down what came of many tries, in one change; then disables the subscribers that are to be. */
export async function settleAll(
  engine: EventsSetting,
  subscribers: Subscribers,
  schedule: Schedule,
  settled: readonly Settled[],
): Promise<void> {
  // Before it is settled: who has confirmed and is asked once more has confirmed all the same.
  for (const { handshake, posted, delivery } of settled) {
    const isTaken = handshake !== undefined && posted !== undefined && schedule.verdict(posted) === 'accepted';
    if (isTaken) await confirmSubscriber(engine, subscribers, delivery.subscriber, handshake);
  }
  const drawn = drawOnce(engine.chance, engine.clock.now());
  const { undelivered } = engine;
  const {
    given: disabled,
    failing: changed,
    failed,
  } = await engine.store.change((rows) => {
    drawn.restart();
    const chance = { bytes: (length: number) => drawn.bytes(length), uuid: () => drawn.uuid() };
    const given = new Set<string>();
    const failing = new Map<string, number | undefined>();
    const failed: Parameters<UndeliveredTelling['failed']>[] = [];
    for (const one of settled) if (settleOne(rows, one, { ...engine, chance }, schedule)) given.add(one.delivery.subscriber);
    for (const { delivery, posted, atMs } of settled) {
      if (!posted) continue;
      const id = delivery.subscriber;
      const subscriber = subscribers.find(id, rows, engine);
      if (!subscriber) continue;
      const before = failing.has(id) ? failing.get(id) : subscriber.failingMs;
      const after = schedule.verdict(posted) === 'accepted' ? undefined : (before ?? atMs);
      failing.set(id, after);
      if (after !== undefined && !undelivered.isTold(id))
        failed.push([rows.outbox.event(delivery.event)?.kind ?? '', subscriber, delivery, posted]);
      if (after !== undefined && schedule.disableAfterMs !== undefined && atMs - after >= schedule.disableAfterMs) given.add(id);
    }
    for (const [id, failingMs] of failing) {
      const subscriber = subscribers.find(id, rows, engine);
      if (subscriber?.fields && subscriber.failingMs !== failingMs) subscribers.failing(rows, id, failingMs);
      else failing.delete(id);
    }
    return { given, failing: [...failing.keys()], failed };
  });
  for (const one of failed) undelivered.failed(...one);
  for (const { delivery, posted } of settled)
    if (posted && schedule.verdict(posted) === 'accepted') undelivered.accepted(delivery.subscriber);
  if (changed.length > 0) subscribers.changed(changed);
  for (const id of disabled) await disableSubscriber(engine, subscribers, id);
}

/** Returns whether the subscriber said that it is gone. */
function settleOne(rows: Transaction, one: Settled, engine: EventsSetting, schedule: Schedule): boolean {
  const { delivery, posted, final, atMs, tookMs } = one;
  const { seq, tries } = delivery;
  const { outbox } = rows;
  const status = posted?.status ?? null;
  outbox.attempted(seq, { atMs, tookMs, status, error: posted?.error ?? final ?? null, response: posted?.response ?? null });
  const nowMs = engine.clock.now();
  const verdict = posted && schedule.verdict(posted);
  if (verdict === 'accepted') {
    outbox.settle(seq, 'accepted', nowMs);
    return false;
  }
  // A broker is never given up: what it has not taken it takes when it is back.
  const isBroker = delivery.subscriber === brokerSubscriber;
  const isGone = verdict === 'gone' && !isBroker;
  const next = () =>
    posted && (isBroker ? nowMs + receiverRetryMs(posted, nowMs) : schedule.next(tries + 1, posted, nowMs, engine.chance));
  const dueMs = isGone ? undefined : next();
  if (dueMs === undefined) outbox.settle(seq, 'given up', nowMs);
  else outbox.postpone(seq, dueMs);
  return isGone;
}

/** The operation `disable RESOURCE`: the engine's own change of a subscriber's row. */
async function disableSubscriber(engine: EventsSetting, subscribers: Subscribers, id: string): Promise<void> {
  const names = pushOf(engine)?.subscribers;
  const model = names && engine.models.get(names.resource);
  if (!names || !model) return;
  const operation = `disable ${names.resource}`;
  const nowMs = engine.clock.now();
  const draw = drawOnce(engine.chance, nowMs);
  const recorded = await engine.store.change((rows) => {
    const row = rows.get(model.name, id);
    if (!row) return undefined;
    const before = model.parse(row);
    if (names.enabled === undefined) {
      subscribers.disable(rows, id);
      return { reached: new Set<string>(), subscribers: [id] };
    }
    if (along<Value>(before, names.enabled) === false) return undefined;
    const work = ownWork(rows, engine.models, draw, operation);
    const draft: Fields = withPlaced(before, names.enabled, false);
    const scope = { ...work.scope, resource: before, next: draft };
    const next = applySetters(model.setters([operation, 'write']), scope, draft);
    updateRow(work, model, row, before, next, operation);
    return engine.events.record(work, undefined);
  });
  engine.events.recorded(recorded);
}

/** When a delivery is tried again, how long a try may take, and when a subscriber is given up. */
export interface Schedule {
  readonly timeoutMs: number;
  readonly disableAfterMs: number | undefined;
  /** What came of a try: also where nothing was answered. */
  verdict(posted: Posted): 'accepted' | 'again' | 'gone';
  /** When to try again after so many tries; nothing = no more. */
  next(tries: number, posted: Posted, nowMs: number, chance: Entropy): number | undefined;
}

/** How far a wait is moved by chance, either way. */
const jitter = 0.2;
/** The longest that a receiver can ask to be left alone. */
const retryAfterMaxMs = 86_400_000;

export function compileSchedule(engine: EventsSetting): Schedule {
  const push = pushOf(engine);
  const written = push && valueAt(engine.compilation.spec.document.tree, below(push.at, 'retry'));
  const kind = pushKind(push?.word);
  const waits = push && written !== undefined ? push.retryMs : kind.usual.retryMs;
  return {
    timeoutMs: push?.timeoutMs ?? kind.usual.timeoutMs,
    disableAfterMs: push?.disableAfterMs,
    verdict: ({ status, isRefused }) => (status === undefined || isRefused ? 'again' : kind.verdict(status)),
    next(tries, posted, nowMs, chance) {
      const wait = waits[tries - 1];
      if (wait === undefined) return undefined;
      const [a = 0, b = 0] = chance.bytes(2);
      const moved = wait * (1 - jitter + (2 * jitter * (a * 256 + b)) / 65_535);
      return nowMs + Math.round(Math.max(moved, Math.min(retryAfterMaxMs, receiverRetryMs(posted, nowMs))));
    },
  };
}

/** What a receiver asks for, in seconds or as a date (RFC 9110 section 10.2.3). */
export function receiverRetryMs({ retryAfter }: Posted, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}

/** Why a delivery is not tried any more. */
export function whyNot(subscriber: Subscriber | undefined, event: StoredEvent | undefined, isKnown: boolean): string | undefined {
  if (!event) return 'The event is not kept any more.';
  if (!subscriber) return 'The subscriber is gone.';
  if (!subscriber.isEnabled) return 'The subscriber is disabled.';
  return isKnown ? whyNotAsked(subscriber, event) : 'Whoever made the subscriber has no key any more.';
}

/** What cannot be made fails like what cannot be sent: it is tried again, by then perhaps under another document. */
export function tryToMake(make: () => Post | { readonly wrong: string }): Post | { readonly wrong: string } {
  try {
    return make();
  } catch (failure) {
    return { wrong: failure instanceof Error ? failure.message : String(failure) };
  }
}
