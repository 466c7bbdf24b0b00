import { statedValue } from '../../parts/fact.ts';
import type { EventsSetting } from './setting.ts';

/** How long deliveries that are done with are kept, to be looked at and sent again. */
const keptMs = 7 * 86_400_000;
/** How often it is looked whether something can go, and how much goes at once. */
const everyMs = 60_000;
const stepMost = 500;

/** Removes deliveries and events that are kept no longer, a bounded number at a time, while others are recorded. */
export class Pruning {
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

  /** Does a step, where it is time for one. `toldThrough` is the last event that everybody who listens was told of. */
  step(toldThrough: number): void {
    const { clock, onFailure } = this.#engine();
    if (this.#step || clock.now() < this.#nextMs) return;
    this.#step = this.#prune(toldThrough)
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
    const eventsMs = Math.max(delivery?.stream?.keepMs ?? 0, keptMs);
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
