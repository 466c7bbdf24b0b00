import type { StoredDelivery, StoredEvent } from '../../store/outbox.ts';
import type { Engine } from '../engine.ts';
import { isAccepted } from './accepted.ts';
import { Deadlines, type Line, newLine } from './line.ts';
import { connectionsMax, type Post, type Posted, Posts, type Underway } from './posting.ts';
import { isStillKnown } from './reading.ts';
import { retryAfterMs, type Schedule } from './schedule.ts';
import { type Settled, settleAll } from './settling.ts';
import type { Signing } from './signing.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

/** How many tries are under way at once, over all subscribers. */
const flyingMax = 1024;
/** How many tries may wait to be settled in the store before no more are begun. */
const unsettledMax = 2048;
/** How many deliveries of one subscriber are read at once. */
const readMost = 128;
/** How long what came of tries is gathered, while others are under way, to be settled in one change. */
const gatherMs = 4;
const gatherMost = 512;
/** How long nothing is tried after the store could not take what came of it. */
const storeRestMs = 1000;
/** How long tries under way have at the end. */
const stopMs = 1000;

export interface DeliveryRules {
  readonly schedule: Schedule;
  readonly signing: Signing;
}

/**
 * Sends what the outbox holds: for each subscriber what is due, so many at a time; a subscriber that fails is asked with one
 * at a time. All that is known of them stands in the store, so that after a crash they go on.
 */
export class Deliveries {
  readonly #engine: () => Engine;
  readonly #rules: () => DeliveryRules;
  readonly #subscribers: Subscribers;
  readonly #posts: Posts;
  readonly #settle: (settled: readonly Settled[]) => Promise<void>;
  readonly #lines = new Map<string, Line>();
  readonly #hot = new Set<Line>();
  readonly #deadlines = new Deadlines();
  #gathered: Settled[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #settling: Promise<void> | undefined;
  #running = false;
  #isStopped = false;
  #isClosed = false;
  #scheduled = Number.POSITIVE_INFINITY;
  #cancel = () => {};
  #idle: (() => void)[] = [];

  constructor(engine: () => Engine, rules: () => DeliveryRules, subscribers: Subscribers) {
    this.#engine = engine;
    this.#rules = rules;
    this.#subscribers = subscribers;
    this.#posts = new Posts();
    this.#settle = (settled) => settleAll(engine(), subscribers, rules().schedule, settled);
  }

  /** Finds out for whom something waits. */
  async resume(): Promise<void> {
    for (let after = ''; !this.#isStopped; ) {
      const found = await this.#engine().store.read((rows) => rows.outbox.awaited(after));
      if (!found) break;
      after = found.subscriber;
      this.#lineOf(found.subscriber).nextMs = found.dueMs;
    }
    this.#wake();
  }

  /** Something new may be due for these. */
  look(subscribers: Iterable<string>): void {
    if (this.#isStopped) return;
    for (const subscriber of subscribers) this.#hot.add(this.#lineOf(subscriber));
    if (this.#hot.size > 0) void this.#run();
  }

  /** Resolves once nothing that is due is left to be done. */
  settled(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  /** Begins nothing more, lets what is under way come to its end for a short while, and writes it down. */
  async stop(): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#cancel();
    for (let waited = 0; this.#deadlines.size > 0 && waited < stopMs; waited += 10)
      await new Promise((resolve) => setTimeout(resolve, 10));
    this.#isClosed = true;
    clearTimeout(this.#gathering);
    await this.#settling;
    await this.#flush();
    await this.#posts.close();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #lineOf(subscriber: string): Line {
    let line = this.#lines.get(subscriber);
    if (!line) {
      line = newLine(subscriber);
      this.#lines.set(subscriber, line);
    }
    return line;
  }

  async #run(): Promise<void> {
    if (this.#running || this.#isStopped) return;
    this.#running = true;
    try {
      for (const line of this.#hot) {
        this.#hot.delete(line);
        await this.#serve(line);
        if (this.#isStopped) return;
      }
    } catch (failure) {
      this.#hot.clear();
      if (!this.#isStopped) this.#engine().onFailure(failure, 'deliveries');
    } finally {
      this.#running = false;
    }
    this.#schedule();
    this.#tellIdle();
  }

  /** Begins as many tries for a subscriber as it may have. */
  async #serve(line: Line): Promise<void> {
    const nowMs = this.#engine().clock.now();
    if (line.heldUntilMs > nowMs) {
      line.nextMs = line.heldUntilMs;
      return;
    }
    const room = () =>
      Math.min(
        (line.isFailing ? 1 : connectionsMax) - line.flying,
        flyingMax - this.#deadlines.size,
        unsettledMax - this.#gathered.length,
      );
    if (line.ready.length === 0 && room() > 0) {
      const due = await this.#engine().store.read((rows) => rows.outbox.due(line.subscriber, nowMs, line.known.size + readMost));
      line.ready = due.filter(({ seq }) => !line.known.has(seq));
      for (const { seq } of line.ready) line.known.add(seq);
      line.ready.reverse();
    }
    while (room() > 0) {
      const delivery = line.ready.pop();
      if (!delivery) break;
      await this.#begin(line, delivery);
    }
    line.nextMs = undefined;
    if (line.ready.length > 0 || line.known.size > 0) return;
    const next = await this.#engine().store.read((rows) => rows.outbox.dueFirst(line.subscriber));
    if (next === undefined) this.#lines.delete(line.subscriber);
    else line.nextMs = next;
  }

  async #begin(line: Line, delivery: StoredDelivery): Promise<void> {
    const engine = this.#engine();
    const found = await engine.store.read((rows) => {
      const subscriber = this.#subscribers.find(line.subscriber, rows, engine);
      const isKnown = isStillKnown(engine, subscriber?.maker, rows, engine.clock.now());
      return { subscriber, isKnown, event: rows.outbox.event(delivery.event) };
    });
    const { schedule, signing } = this.#rules();
    const startMs = engine.clock.now();
    line.flying += 1;
    const ends = (posted: Posted | undefined, final: string | undefined) =>
      this.#took({ delivery, line, posted, final, atMs: startMs, tookMs: engine.clock.now() - startMs });
    const why = whyNot(found.subscriber, found.event, found.isKnown);
    // By the checks above, both are there.
    const post =
      why === undefined
        ? made(() => signing.post(found.event as StoredEvent, found.subscriber as Subscriber, startMs))
        : undefined;
    if (!post || 'wrong' in post) {
      setImmediate(() => ends(post && { ...nothingCame, error: post.wrong }, why));
      return;
    }
    let underway: Underway | undefined;
    underway = this.#posts.send(post, schedule.timeoutMs, (posted) => {
      if (underway) this.#deadlines.remove(underway);
      ends(posted, undefined);
    });
    this.#deadlines.add(underway, startMs + schedule.timeoutMs);
    this.#scheduleAt(startMs + schedule.timeoutMs);
  }

  /** A try has ended. */
  #took(settled: Settled & { readonly line: Line }): void {
    const { line, posted } = settled;
    line.flying -= 1;
    if (this.#isClosed) return;
    line.isFailing = posted !== undefined && !isAccepted(posted);
    const after = posted && !isAccepted(posted) ? retryAfterMs(posted, settled.atMs) : 0;
    if (after > 0) line.heldUntilMs = Math.max(line.heldUntilMs, settled.atMs + Math.min(after, 86_400_000));
    this.#gathered.push(settled);
    if (line.ready.length > 0 && !line.isFailing) this.look([line.subscriber]);
    if (this.#deadlines.size === 0 || this.#gathered.length >= gatherMost) setImmediate(() => void this.#flush());
    else this.#gathering ??= setTimeout(() => void this.#flush(), gatherMs);
  }

  /** Settles what was gathered in one change. */
  async #flush(): Promise<void> {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#settling || this.#gathered.length === 0) return;
    const settled = this.#gathered;
    this.#gathered = [];
    const lines = new Set(settled.map((one) => (one as Settled & { line: Line }).line));
    this.#settling = this.#settle(settled).catch((failure: unknown) => {
      // What is not settled is sent again: at least once.
      this.#engine().onFailure(failure, 'deliveries');
      for (const line of lines) line.heldUntilMs = this.#engine().clock.now() + storeRestMs;
    });
    await this.#settling;
    this.#settling = undefined;
    for (const one of settled) (one as Settled & { line: Line }).line.known.delete(one.delivery.seq);
    if (this.#gathered.length > 0) this.#gathering ??= setTimeout(() => void this.#flush(), 0);
    this.look([...lines].map(({ subscriber }) => subscriber));
  }

  #schedule(): void {
    let first = this.#deadlines.first ?? Number.POSITIVE_INFINITY;
    for (const { nextMs } of this.#lines.values()) if (nextMs !== undefined && nextMs < first) first = nextMs;
    this.#scheduleAt(first);
  }

  #scheduleAt(ms: number): void {
    if (ms >= this.#scheduled || this.#isStopped) return;
    this.#cancel();
    this.#scheduled = ms;
    const { clock } = this.#engine();
    if (ms <= clock.now()) setImmediate(() => this.#wake());
    else this.#cancel = clock.at(ms, () => this.#wake());
  }

  #wake(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#scheduled = Number.POSITIVE_INFINITY;
    if (this.#isStopped) return;
    const nowMs = this.#engine().clock.now();
    this.#deadlines.expire(nowMs);
    for (const line of this.#lines.values()) if (line.nextMs !== undefined && line.nextMs <= nowMs) this.#hot.add(line);
    void this.#run();
  }

  #isIdle(): boolean {
    if (this.#isStopped) return true;
    if (this.#running || this.#hot.size > 0 || this.#settling || this.#gathered.length > 0) return false;
    const nowMs = this.#engine().clock.now();
    for (const line of this.#lines.values()) {
      if (line.flying > 0 || line.known.size > 0) return false;
      if (line.nextMs !== undefined && line.nextMs <= nowMs) return false;
    }
    return true;
  }

  #tellIdle(): void {
    if (this.#idle.length === 0 || !this.#isIdle()) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

const nothingCame: Posted = { status: undefined, error: undefined, response: undefined, retryAfter: undefined };

/** What cannot be made fails like what cannot be sent: it is tried again, by then perhaps under another document. */
function made(make: () => Post | { readonly wrong: string }): Post | { readonly wrong: string } {
  try {
    return make();
  } catch (failure) {
    return { wrong: failure instanceof Error ? failure.message : String(failure) };
  }
}

/** Why a delivery is not tried any more. */
function whyNot(subscriber: Subscriber | undefined, event: StoredEvent | undefined, isKnown: boolean): string | undefined {
  if (!event) return 'The event is not kept any more.';
  if (!subscriber) return 'The subscriber is gone.';
  if (!subscriber.isEnabled) return 'The subscriber is disabled.';
  return isKnown ? undefined : 'Whoever made the subscriber has no key any more.';
}
