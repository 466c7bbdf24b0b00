import type { StoredDelivery, StoredEvent } from '../../store/outbox.ts';
import { Alarm } from './alarm.ts';
import { nothingCame, receiverRetryMs, type Schedule, type Settled, settleAll, tryToMake, whyNot } from './attempts.ts';
import { handshakeIn } from './confirming.ts';
import type { Signing } from './envelope.ts';
import type { Senders } from './jetstream.ts';
import { type Posted, traced, type Underway } from './posts.ts';
import { Batches, Deadlines, firstNext, isAtRest, letGo, newLine, readDue, restUntil, type SubscriberQueue } from './queue.ts';
import { isStillKnown } from './row-image.ts';
import type { EventsSetting } from './setting.ts';
import type { Subscriber, Subscribers } from './subscribers.ts';

/** How many connections one receiver gets. */
const connectionsMax = 32;
/** How many tries are under way at once, over all subscribers. */
const flyingMax = 1024;
/** How much is on its way at once: large events go a few at a time. */
const flyingCharactersMax = 16 * 1024 ** 2;
/** How many tries may wait to be settled in the store before no more are begun. */
const unsettledMax = 2048;
/** How long nothing is tried after the store could not be asked, or could not take what came of it. */
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
  readonly #engine: () => EventsSetting;
  readonly #rules: () => DeliveryRules;
  readonly #subscribers: Subscribers;
  /** Made when something is first sent: a service without receivers does without the HTTP client. */
  #senders: Senders | undefined;
  readonly #gathering: Batches<Settled & { readonly line: SubscriberQueue }>;
  readonly #lines = new Map<string, SubscriberQueue>();
  readonly #hot = new Set<SubscriberQueue>();
  /** Those for which others leave no room: nothing of their own that ends would bring them on. */
  readonly #crowded = new Set<SubscriberQueue>();
  readonly #deadlines = new Deadlines();
  #flyingCharacters = 0;
  #running = false;
  #isStopped = false;
  #isClosed = false;
  /** Whether this process is the one that sends. */
  #isMine = true;
  /** When it is found out again for whom something waits, where that failed. */
  #resumesMs = Number.POSITIVE_INFINITY;
  /** Batches that were settled, after which what is due was not looked for yet. */
  #lookingAgain = 0;
  readonly #alarm = new Alarm(
    () => this.#engine().clock,
    () => this.#wake(),
  );
  #idle: (() => void)[] = [];

  constructor(engine: () => EventsSetting, rules: () => DeliveryRules, subscribers: Subscribers) {
    this.#engine = engine;
    this.#rules = rules;
    this.#subscribers = subscribers;
    this.#gathering = new Batches((settled) => this.#settle(settled));
  }

  /** Finds out for whom something waits, where this process is the one that sends. */
  async resume(isMine = this.#isMine): Promise<void> {
    this.#isMine = isMine;
    this.#resumesMs = Number.POSITIVE_INFINITY;
    if (!isMine) return [this.#hot, this.#crowded, this.#lines].forEach((known) => void known.clear());
    try {
      for (let after = ''; !this.#isStopped && this.#isMine; ) {
        const found = await this.#engine().store.read((rows) => rows.outbox.awaited(after));
        if (!found) break;
        after = found.subscriber;
        this.#lineOf(found.subscriber).nextMs = found.dueMs;
      }
    } catch (failure) {
      this.#resumesMs = this.#engine().clock.now() + storeRestMs;
      this.#schedule();
      throw failure;
    }
    this.#wake();
  }

  /** Something new may be due for these. */
  look(subscribers: Iterable<string>): void {
    if (this.#isStopped || !this.#isMine) return;
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
    this.#alarm.stop();
    for (let waited = 0; this.#deadlines.size > 0 && waited < stopMs; waited += 10)
      await new Promise((resolve) => setTimeout(resolve, 10));
    this.#isClosed = true;
    await this.#gathering.flush();
    await this.#senders?.close();
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  #lineOf(subscriber: string): SubscriberQueue {
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
    const begun = new Set<SubscriberQueue>();
    try {
      for (const line of this.#hot) {
        this.#senders ??= new (await import('./jetstream.ts')).Senders(connectionsMax);
        this.#hot.delete(line);
        begun.add(line);
        await this.#serve(line);
        if (this.#isStopped) return;
        begun.delete(line);
      }
    } catch (failure) {
      restUntil([...begun, ...this.#hot], this.#engine().clock.now() + storeRestMs);
      this.#hot.clear();
      if (!this.#isStopped) this.#engine().onFailure(failure, 'deliveries');
    } finally {
      this.#running = false;
    }
    this.#schedule();
    this.#tellIdle();
  }

  /** Begins as many tries for a subscriber as it may have. */
  async #serve(line: SubscriberQueue): Promise<void> {
    const nowMs = this.#engine().clock.now();
    if (line.heldUntilMs > nowMs) {
      letGo(line);
      line.nextMs = line.heldUntilMs;
      return;
    }
    const room = () =>
      Math.min(
        this.#flyingCharacters < flyingCharactersMax ? connectionsMax : 0,
        (line.isFailing ? 1 : connectionsMax) - line.flying,
        flyingMax - this.#deadlines.size,
        unsettledMax - this.#gathering.size,
      );
    if (line.ready.length === 0 && room() > 0) await readDue(this.#engine().store, line, nowMs);
    while (room() > 0) {
      const delivery = line.ready.pop();
      if (!delivery) break;
      await this.#begin(line, delivery);
    }
    line.nextMs = undefined;
    if (line.flying === 0 && room() <= 0) {
      this.#crowded.add(line);
      return;
    }
    if (line.ready.length > 0 || line.known.size > 0) return;
    const next = await this.#engine().store.read((rows) => rows.outbox.dueFirst(line.subscriber));
    // Where something new came meanwhile, it is served once more.
    if (next === undefined && !this.#hot.has(line)) this.#lines.delete(line.subscriber);
    else line.nextMs = next;
  }

  async #begin(line: SubscriberQueue, delivery: StoredDelivery): Promise<void> {
    const engine = this.#engine();
    const found = await this.#known(delivery).catch((failure: unknown) => {
      line.known.delete(delivery.seq);
      throw failure;
    });
    // Whoever has it now sends it; where that is this process again, it begins anew with all that is due.
    if (this.#isStopped || !found.isOurs) return;
    const { schedule, signing } = this.#rules();
    const startMs = engine.clock.now();
    line.flying += 1;
    const ends = (posted: Posted | undefined, final: string | undefined) =>
      this.#took({ delivery, line, posted, final, atMs: startMs, tookMs: engine.clock.now() - startMs, handshake });
    const why = whyNot(found.subscriber, found.event, found.isKnown);
    const handshake = handshakeIn(found.event);
    // By the checks above, both are there where nothing stands in the way.
    const [event, subscriber] = [found.event as StoredEvent, found.subscriber as Subscriber];
    const post = why === undefined ? tryToMake(() => signing.post(event, subscriber, startMs)) : undefined;
    if (!post || 'wrong' in post) {
      setImmediate(() => ends(post && { ...nothingCame, error: post.wrong }, why));
      return;
    }
    const { length } = post.body;
    this.#flyingCharacters += length;
    // Whoever serves a line has made them.
    const senders = traced(this.#senders as Senders, event, delivery);
    const underway: Underway = senders.send(post, schedule.timeoutMs, (posted) => {
      this.#flyingCharacters -= length;
      this.#deadlines.remove(underway);
      ends(signing.judged(event, subscriber, posted), undefined);
    });
    this.#deadlines.add(underway, startMs + schedule.timeoutMs);
    this.#alarm.set(startMs + schedule.timeoutMs);
  }

  /** What is known of a delivery before it is tried. */
  async #known({ subscriber: id, event }: StoredDelivery) {
    const engine = this.#engine();
    return engine.store.read((rows) => {
      const subscriber = this.#subscribers.find(id, rows, engine);
      const isKnown = isStillKnown(engine, subscriber?.maker, rows, engine.clock.now());
      return { subscriber, isKnown, event: rows.outbox.event(event), isOurs: rows.holds('deliveries') };
    });
  }

  /** A try has ended. */
  #took(settled: Settled & { readonly line: SubscriberQueue }): void {
    const { line, posted } = settled;
    line.flying -= 1;
    if (this.#isClosed) return;
    this.#makeRoom();
    line.isFailing = posted !== undefined && this.#rules().schedule.verdict(posted) !== 'accepted';
    const after = posted && line.isFailing ? receiverRetryMs(posted, settled.atMs) : 0;
    if (after > 0) line.heldUntilMs = Math.max(line.heldUntilMs, settled.atMs + Math.min(after, 86_400_000));
    this.#gathering.add(settled, this.#deadlines.size === 0 ? 'now' : line.ready.length === 0 ? 'soon' : 'later');
    if (line.ready.length > 0 && !line.isFailing) this.look([line.subscriber]);
  }

  /** Settles what was gathered in one change. */
  async #settle(settled: readonly (Settled & { readonly line: SubscriberQueue })[]): Promise<void> {
    const engine = this.#engine();
    const lines = new Set(settled.map(({ line }) => line));
    await settleAll(engine, this.#subscribers, this.#rules().schedule, settled).catch((failure: unknown) => {
      // What is not settled is sent again: at least once.
      engine.onFailure(failure, 'deliveries');
      for (const line of lines) line.heldUntilMs = engine.clock.now() + storeRestMs;
    });
    for (const { line, delivery } of settled) {
      if (line.settled) line.settled.push(delivery.seq);
      else line.known.delete(delivery.seq);
    }
    // Once this batch counts as taken. What waited for these to be settled is found then, so that until then nothing is at rest.
    this.#lookingAgain += 1;
    setImmediate(() => {
      this.#lookingAgain -= 1;
      this.look([...lines].map(({ subscriber }) => subscriber));
      this.#makeRoom();
      this.#tellIdle();
    });
  }

  /** Something has ended: the one that has waited longest is served. */
  #makeRoom(): void {
    for (const line of this.#crowded) {
      this.#crowded.delete(line);
      this.#hot.add(line);
      void this.#run();
      return;
    }
  }

  #schedule(): void {
    const first = Math.min(this.#deadlines.first ?? Number.POSITIVE_INFINITY, firstNext(this.#lines.values()), this.#resumesMs);
    if (first < Number.POSITIVE_INFINITY && !this.#isStopped) this.#alarm.set(first);
  }

  #wake(): void {
    if (this.#isStopped) return;
    const nowMs = this.#engine().clock.now();
    if (this.#resumesMs <= nowMs) void this.resume().catch((failure: unknown) => this.#engine().onFailure(failure, 'deliveries'));
    this.#deadlines.expire(nowMs);
    for (const line of this.#lines.values()) if (line.nextMs !== undefined && line.nextMs <= nowMs) this.#hot.add(line);
    void this.#run();
  }

  #isIdle(): boolean {
    if (this.#isStopped) return true;
    if (this.#running || this.#hot.size + this.#crowded.size > 0 || this.#lookingAgain > 0 || !this.#gathering.isIdle)
      return false;
    const nowMs = this.#engine().clock.now();
    return this.#lines.values().every((line) => isAtRest(line, nowMs));
  }

  #tellIdle(): void {
    if (this.#idle.length === 0 || !this.#isIdle()) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}
