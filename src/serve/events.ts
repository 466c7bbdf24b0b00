import { streamKind, streamKinds } from '../kinds/streams/all.ts';
import { statedValue } from '../parts/fact.ts';
import { Deliveries, type DeliveryRules } from './events/deliveries.ts';
import { Pruning } from './events/pruning.ts';
import { isStillKnown } from './events/reading.ts';
import { compileRecording, type Recording } from './events/recording.ts';
import { compileSchedule } from './events/schedule.ts';
import type { Events, EventsSetting } from './events/setting.ts';
import { compileSigning } from './events/signing.ts';
import { Streams } from './events/stream.ts';
import { type GivenWebhook, Subscribers } from './events/subscribers.ts';
import type { StreamRules } from './events/told.ts';
import { compileWrapping } from './events/wrapping.ts';

/** Where events go besides those who ask for them. */
export interface EventsOptions {
  /** Addresses that receive everything, for development. */
  readonly webhooks: readonly GivenWebhook[];
  /** Whether webhooks may go to addresses that are not public. */
  readonly allowsPrivate: boolean;
}

interface Compiled {
  readonly recording: Recording;
  readonly rules: DeliveryRules;
  readonly stream: StreamRules;
}

/** Starts the events part: records with changes, delivers by webhook, and tells those who listen to the stream. */
export function startEvents(engine: () => EventsSetting, { webhooks, allowsPrivate }: EventsOptions): Events {
  const compiled = new WeakMap<EventsSetting, Compiled>();
  const subscribers = new Subscribers(webhooks);
  const touched = new Set<string>();
  let looking: NodeJS.Immediate | undefined;

  function current(): Compiled {
    const now = engine();
    let made = compiled.get(now);
    if (!made) {
      made = compile(now, webhooks.length > 0, allowsPrivate);
      compiled.set(now, made);
      subscribers.forget();
    }
    return made;
  }

  const deliveries = new Deliveries(engine, () => current().rules, subscribers);
  const streams = new Streams(engine, () => current().stream);
  const pruning = new Pruning(engine);

  function look(): void {
    looking = undefined;
    const found = [...touched];
    touched.clear();
    deliveries.look(found);
  }

  async function load(): Promise<void> {
    await subscribers.load(engine());
  }

  return {
    record(work, caller, emitted = []) {
      if (work.stored.length === 0 && emitted.length === 0) return undefined;
      return current().recording.record(work, caller, emitted, subscribers);
    },
    recorded(recorded) {
      for (const subscriber of recorded?.reached ?? []) touched.add(subscriber);
      if (recorded && recorded.subscribers.length > 0) subscribers.changed(recorded.subscribers);
      if (recorded && !subscribers.isLoaded) void load().catch((failure: unknown) => engine().onFailure(failure, 'subscribers'));
      // The answer to the change goes first.
      if (touched.size > 0) looking ??= setImmediate(look);
      streams.recorded();
      pruning.step(streams.toldThrough);
    },
    open: streams.open,
    look(subscriber) {
      deliveries.look([subscriber]);
    },
    async resume() {
      current();
      await load();
      await deliveries.resume();
    },
    async settled() {
      while (looking) await new Promise<void>((resolve) => setImmediate(resolve));
      await deliveries.settled();
      await streams.settled();
    },
    async stop() {
      clearImmediate(looking);
      streams.stop();
      await deliveries.stop();
      await pruning.settled();
    },
  };
}

function compile(engine: EventsSetting, hasGiven: boolean, allowsPrivate: boolean): Compiled {
  const recording = compileRecording(engine, hasGiven);
  const wrapping = compileWrapping(engine);
  const stated = statedValue(engine.compilation.spec.events.delivery)?.stream?.format;
  // A stream of no known format has no plan, and nobody who listens.
  const kind = streamKind(stated) ?? streamKinds[0];
  return {
    recording,
    rules: { schedule: compileSchedule(engine), signing: compileSigning(engine, wrapping, allowsPrivate) },
    stream: {
      ...{ recording, wrapping, kind, comment: Buffer.from(kind.comment) },
      isGood: (caller) => engine.store.read((rows) => isStillKnown(engine, caller, rows, engine.clock.now())),
    },
  };
}
