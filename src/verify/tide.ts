import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceClock } from './exchange/clock.ts';
import { Untestable } from './exchange/untestable.ts';

/** A case that waits until a time of the service's clock. */
interface Waiting {
  readonly untilMs: number;
  goOn(): void;
  giveUp(error: unknown): void;
}

/** So long is waited for others to come, once nobody is under way who does not wait. */
const settleMs = 10;
/** Those whose times lie so near to each other go on together. */
const togetherMs = 60_000;

/**
 * Lets long times go by, such as the month until a row is ripe, once for all cases that wait for one: only when all that is under way waits,
 * so that nobody's rows grow old while they are looked at, and up to the time that is come to first.
 */
export class Tide {
  readonly #clock: ServiceClock;
  readonly #underWay: () => number;
  readonly #isHeld: () => boolean;
  readonly #waiting = new Set<Waiting>();
  #isTurning = false;

  /** `underWay` says how many cases are, those among them that wait here; `isHeld` whether somebody waits for less, and goes first. */
  constructor(clock: ServiceClock, underWay: () => number, isHeld: () => boolean = () => false) {
    this.#clock = clock;
    this.#underWay = underWay;
    this.#isHeld = isHeld;
  }

  /** How many wait here. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether all that is under way waits here. */
  get isAll(): boolean {
    return this.#underWay() <= this.#waiting.size;
  }

  /** Lets a time go by while all that is under way waits here: no further than what one of them waits for. Whether it came to its end. */
  async pass(ms: number): Promise<boolean> {
    const untilMs = this.#clock.toService(Date.now()) + ms;
    if (this.#waiting.size > 0 && this.#firstMs <= untilMs) {
      await this.#goOn();
      return false;
    }
    if (ms > 0) await this.#clock.wait(ms).catch(() => undefined);
    return true;
  }

  /** Waits for so long by the service's clock, and no longer than there is time. @throws {Untestable} */
  async wait(ms: number, leftMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let waiting: Waiting | undefined;
    try {
      await new Promise<void>((goOn, giveUp) => {
        waiting = { untilMs: this.#clock.toService(Date.now()) + ms, goOn, giveUp };
        this.#waiting.add(waiting);
        timer = setTimeout(() => giveUp(new Untestable('no time was left to wait for the clock')), Math.max(0, leftMs));
        this.turn();
      });
    } finally {
      clearTimeout(timer);
      if (waiting) this.#waiting.delete(waiting);
    }
  }

  /** Asked whenever a case is over or waits: lets the time go by where nobody is left who does not wait. */
  turn(): void {
    if (this.#isTurning || !this.#isStill) return;
    this.#isTurning = true;
    this.#turn().finally(() => {
      this.#isTurning = false;
      this.turn();
    });
  }

  get #isStill(): boolean {
    return this.#waiting.size > 0 && this.isAll && !this.#isHeld();
  }

  get #firstMs(): number {
    return Math.min(...[...this.#waiting].map(({ untilMs }) => untilMs));
  }

  async #turn(): Promise<void> {
    await delay(settleMs);
    if (this.#isStill) await this.#goOn();
  }

  /** Those whose time is come to first go on. */
  async #goOn(): Promise<void> {
    const first = this.#firstMs;
    const due = [...this.#waiting].filter(({ untilMs }) => untilMs <= first + togetherMs);
    const untilMs = Math.max(...due.map((one) => one.untilMs));
    try {
      const ms = untilMs - this.#clock.toService(Date.now());
      if (ms > 0) await this.#clock.wait(ms);
      for (const one of due) one.goOn();
    } catch (error) {
      for (const one of due) one.giveUp(error);
    }
    for (const one of due) this.#waiting.delete(one);
  }
}
