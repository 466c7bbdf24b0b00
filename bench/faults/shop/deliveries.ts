/** Tells subscribers of events: signed as Standard Webhooks says, again while they fail, each row's events in their order. */
import { createHmac } from 'node:crypto';
import { ulid } from '../identifiers.ts';
import type { Caller, Event, Shop, User, Version, Webhook } from './shop.ts';
import { tellNote, tellOrder, tellProduct } from './told.ts';

const waitsMs = [1000, 2000, 4000];
const timeoutMs = 5000;
const besideMax = 8;
const dayMs = 24 * 3_600_000;

interface Subscription {
  readonly maker: Caller;
  readonly version: Version;
  /** What a row's next delivery waits for. */
  readonly lines: Map<string, Promise<void>>;
  /** How many deliveries are under way, and what waits for one of them to be over. */
  busy: number;
  readonly waiting: (() => void)[];
  failingSinceMs?: number;
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: unknown;
}

export interface Deliveries {
  emit(shop: Shop, event: Event): void;
  subscribe(webhook: Webhook, maker: Caller, version: Version): void;
  close(): void;
}

export function startDeliveries(): Deliveries {
  const subscriptions = new Map<string, Subscription>();
  const closing = new AbortController();
  return {
    subscribe: (webhook, maker, version) =>
      void subscriptions.set(webhook.id, { maker, version, lines: new Map(), busy: 0, waiting: [] }),
    close: () => closing.abort(),
    emit(shop, event) {
      const id = `evt_${ulid()}`;
      const timestamp = new Date(shop.clock.now()).toISOString();
      for (const webhook of shop.webhooks.values()) {
        const subscription = subscriptions.get(webhook.id);
        if (!subscription || !webhook.enabled || !isHere(webhook) || !wants(shop, webhook, event.kind)) continue;
        if (!event.mayRead(subscription.maker)) continue;
        const envelope = { id, type: event.kind, timestamp, data: payloadOf(shop, event, subscription) };
        const before = shop.faults.has('told-out-of-order') ? undefined : subscription.lines.get(event.about);
        const line = (before ?? Promise.resolve()).then(() =>
          inTurn(subscription, () => deliver(shop, webhook.id, subscription, envelope, closing.signal)),
        );
        subscription.lines.set(event.about, line);
      }
    },
  };
}

/** A service for trials sends nothing to other machines, whatever address it is given. */
function isHere({ url }: Webhook): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}

function wants({ faults }: Shop, { events }: Webhook, kind: string): boolean {
  if (faults.has('told-of-every-kind')) return true;
  return events.some((word) => word === '*' || word === kind || (word.endsWith('.*') && kind.startsWith(word.slice(0, -1))));
}

function payloadOf(shop: Shop, { payload }: Event, { maker, version }: Subscription): unknown {
  const told = shop.faults.has('events-in-newest-version') ? '2025-05-01' : version;
  const user: User = shop.faults.has('cost-in-events') ? 'clerk' : maker.user;
  if ('product' in payload) return tellProduct(payload.product, user, told, shop);
  if ('note' in payload) return tellNote(payload.note);
  if ('own' in payload) return payload.own;
  const order = tellOrder(payload.order, told, shop);
  return shop.faults.has('phrase-in-events') ? { ...order, phrase: payload.order.phrase ?? null } : order;
}

/** A subscriber is told of so many rows at a time: one that never accepts is not asked about everything at once. */
async function inTurn(subscription: Subscription, run: () => Promise<void>): Promise<void> {
  if (subscription.busy >= besideMax) await new Promise<void>((resolve) => subscription.waiting.push(resolve));
  subscription.busy += 1;
  await run();
  subscription.busy -= 1;
  subscription.waiting.shift()?.();
}

/** Tries until the subscriber has accepted the event, is gone, or has failed too often. */
async function deliver(
  shop: Shop,
  id: string,
  subscription: Subscription,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<void> {
  for (const waitMs of [...waitsMs, undefined]) {
    const webhook = shop.webhooks.get(id);
    if (!webhook?.enabled || signal.aborted) return;
    const isNewId = shop.faults.has('another-id-each-try');
    if (await attempt(shop, webhook, isNewId ? { ...envelope, id: `evt_${ulid()}` } : envelope, signal)) {
      delete subscription.failingSinceMs;
      return;
    }
    const nowMs = shop.clock.now();
    subscription.failingSinceMs ??= nowMs;
    if (nowMs - subscription.failingSinceMs >= dayMs) webhook.enabled = false;
    if (waitMs === undefined || shop.faults.has('told-only-once')) return;
    await new Promise<void>((resolve) => shop.clock.at(nowMs + waitMs, resolve));
  }
}

async function attempt(
  { clock, faults }: Shop,
  { url, secret }: Webhook,
  envelope: Envelope,
  closing: AbortSignal,
): Promise<boolean> {
  const body = JSON.stringify(envelope);
  const timestamp = String(Math.floor(clock.now() / 1000));
  const signed = faults.has('signed-without-time') ? `${envelope.id}.${body}` : `${envelope.id}.${timestamp}.${body}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': envelope.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return response.ok || (faults.has('any-answer-accepts') && response.status > 0);
  } catch {
    return false;
  }
}
