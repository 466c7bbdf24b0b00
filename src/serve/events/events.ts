import { pullKind } from '../../kinds/deliveries/all.ts';
import { streamKind, streamKinds } from '../../kinds/streams/all.ts';
import { statedValue } from '../../parts/fact.ts';
import type { WebhookTargets } from './addresses.ts';
import { compileSchedule } from './attempts.ts';
import { Deliveries, type DeliveryRules } from './deliveries.ts';
import { compileSigning, compileWrapping } from './envelope.ts';
import type { StreamRules } from './listeners.ts';
import { LogKeeping } from './log.ts';
import { compileRecording, type Recording } from './recording.ts';
import { isStillKnown } from './row-image.ts';
import type { EventsPart, EventsSetting } from './setting.ts';
import { Streams } from './stream.ts';
import { type GivenWebhook, Subscribers } from './subscribers.ts';

/** Where events go besides those who ask for them. */
interface EventsOptions {
  /** Addresses that receive everything, for development. */
  readonly webhooks: readonly GivenWebhook[];
  readonly targets: WebhookTargets;
  /** The address of the broker that the document states. */
  readonly broker: string | undefined;
}

interface Compiled {
  readonly recording: Recording;
  readonly rules: DeliveryRules;
  readonly stream: StreamRules;
}

/** Starts the events part: records with changes, delivers by webhook, and tells those who listen to the stream. */
export function startEvents(engine: () => EventsSetting, options: EventsOptions): EventsPart {
  const subscribers = new Subscribers(options.webhooks, options.targets, options.broker);
  const current = compileCurrent(engine, options, subscribers);
  const deliveries = new Deliveries(engine, () => current().rules, subscribers);
  const streams = new Streams(engine, () => current().stream);
  const pruning = new Pruning(engine);
  const looking = new Looking(deliveries);
  const keeping = new LogKeeping(engine);

  async function load(): Promise<void> {
    await subscribers.load(engine());
  }

  return {
    record(work, caller, emitted = []) {
      if (work.stored.length === 0 && emitted.length === 0) return undefined;
      return current().recording.record(work, caller, emitted, subscribers);
    },
    recordTimed: (work, kind, row) => current().recording.recordTimed(work, kind, row, subscribers),
    recorded(recorded) {
      if (recorded && recorded.subscribers.length > 0) subscribers.changed(recorded.subscribers);
      if (recorded && !subscribers.isLoaded) void load().catch((failure: unknown) => engine().onFailure(failure, 'subscribers'));
      if (recorded && recorded.reached.size > 0) looking.for(recorded.reached);
      if (streams.live > 0) streams.recorded();
      if (recorded) keeping.look();
      pruning.step(streams);
    },
    open: streams.open,
    look(subscriber) {
      deliveries.look([subscriber]);
    },
    async resume() {
      current();
      keeping.resume();
      await load();
      await deliveries.resume();
    },
    changedElsewhere(areSubscribers) {
      const told = (failure: unknown) => engine().onFailure(failure, 'subscribers');
      if (areSubscribers) subscribers.forget();
      if (areSubscribers) void load().catch(told);
      streams.recorded();
      keeping.look();
      void deliveries.resume().catch(told);
    },
    async become(isMine) {
      keeping.resume(isMine);
      await deliveries.resume(isMine);
    },
    async settled() {
      for (const one of [looking, deliveries, streams, keeping]) await one.settled();
    },
    async stop() {
      looking.stop();
      streams.stop();
      for (const one of [deliveries, keeping]) await one.stop();
      await pruning.settled();
    },
  };
}

/** What the document that is served now asks of events, compiled when it is first asked for. */
function compileCurrent(
  engine: () => EventsSetting,
  { webhooks, targets, broker }: EventsOptions,
  subscribers: Subscribers,
): () => Compiled {
  const compiled = new WeakMap<EventsSetting, Compiled>();
  return () => {
    const now = engine();
    let made = compiled.get(now);
    if (!made) {
      made = compile(now, webhooks.length > 0 || broker !== undefined, targets);
      compiled.set(now, made);
      subscribers.forget();
    }
    return made;
  };
}

/** Has deliveries looked for of those for whom something was recorded, once the answers to the changes have gone. */
class Looking {
  readonly #deliveries: Deliveries;
  readonly #touched = new Set<string>();
  #next: NodeJS.Immediate | undefined;

  constructor(deliveries: Deliveries) {
    this.#deliveries = deliveries;
  }

  for(subscribers: Iterable<string>): void {
    for (const subscriber of subscribers) this.#touched.add(subscriber);
    this.#next ??= setImmediate(() => this.#look());
  }

  async settled(): Promise<void> {
    while (this.#next) await new Promise<void>((resolve) => setImmediate(resolve));
  }

  stop(): void {
    clearImmediate(this.#next);
  }

  #look(): void {
    this.#next = undefined;
    const found = [...this.#touched];
    this.#touched.clear();
    this.#deliveries.look(found);
  }
}

function compile(engine: EventsSetting, hasGiven: boolean, targets: WebhookTargets): Compiled {
  const recording = compileRecording(engine, hasGiven);
  const wrapping = compileWrapping(engine);
  const pull = statedValue(engine.compilation.spec.events.delivery)?.pull;
  const way = pullKind(pull?.word);
  // A stream of no known format has no plan, and nobody who listens.
  const kind = streamKind(pull?.format) ?? streamKinds[0];
  return {
    recording,
    rules: { schedule: compileSchedule(engine), signing: compileSigning(engine, wrapping, targets) },
    stream: {
      recording,
      wrapping,
      way,
      keptMs: pull?.keepMs ?? way.usualKeepMs,
      kind,
      comment: Buffer.from(kind.comment),
      isGood: (caller) => engine.store.read((rows) => isStillKnown(engine, caller, rows, engine.clock.now())),
    },
  };
}

/** How long deliveries that are done with are kept, to be looked at and sent again. */
const keptMs = 7 * 86_400_000;
/** How often it is looked whether something can go, and how much goes at once. */
const everyMs = 60_000;
const stepMost = 500;

/** Removes deliveries and events that are kept no longer, a bounded number at a time, while others are recorded. */
class Pruning {
  readonly #engine: () => EventsSetting;
  #nextMs = 0;
  /** How far events were looked through: one that is still being delivered stays behind. */
  #reached = 0;
  /** The last event at the step before: what was recorded since is not looked at, however far the clock has jumped. */
  #known = 0;
  #step: Promise<void> | undefined;

  constructor(engine: () => EventsSetting) {
    this.#engine = engine;
  }

  /** Does a step, where it is time for one, over what everybody who listens was told of. */
  step(streams: Pick<Streams, 'toldThrough'>): void {
    const { clock, onFailure } = this.#engine();
    if (this.#step || clock.now() < this.#nextMs) return;
    this.#step = this.#prune(streams.toldThrough)
      .catch((failure: unknown) => onFailure(failure, 'pruning'))
      .finally(() => {
        this.#step = undefined;
      });
  }

  async settled(): Promise<void> {
    await this.#step;
  }

  async #prune(toldThrough: number): Promise<void> {
    const { clock, store, compilation } = this.#engine();
    const nowMs = clock.now();
    const delivery = statedValue(compilation.spec.events.delivery);
    const eventsMs = Math.max(delivery?.pull?.keepMs ?? 0, keptMs);
    const events = {
      beforeMs: nowMs - eventsMs,
      afterSeq: this.#reached,
      throughSeq: Math.min(this.#known, toldThrough),
    };
    const { removed, reached, last } = await store.change(({ outbox }) => ({
      ...outbox.prune(nowMs - keptMs, events, stepMost),
      last: outbox.lastEvent(),
    }));
    this.#known = last;
    const isDone = removed === 0 && reached === this.#reached;
    this.#reached = isDone ? 0 : reached;
    this.#nextMs = isDone ? nowMs + everyMs : nowMs;
  }
}
