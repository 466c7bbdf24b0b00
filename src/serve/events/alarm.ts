import type { Clock } from '../http/clock.ts';

/** Rings once at the earliest of the times that it was set to; what rings runs in a turn of its own. */
export class Alarm {
  readonly #clock: () => Clock;
  readonly #ring: () => void;
  #ms = Number.POSITIVE_INFINITY;
  #cancel = () => {};

  constructor(clock: () => Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at this time at the latest. */
  set(ms: number): void {
    if (ms >= this.#ms) return;
    this.#cancel();
    this.#ms = ms;
    const clock = this.#clock();
    if (ms <= clock.now()) setImmediate(() => this.#due(ms));
    else this.#cancel = clock.at(ms, () => this.#due(ms));
  }

  stop(): void {
    this.#cancel();
    this.#cancel = () => {};
    this.#ms = Number.POSITIVE_INFINITY;
  }

  #due(ms: number): void {
    // It was stopped, or set to another time.
    if (ms !== this.#ms) return;
    this.stop();
    this.#ring();
  }
}
