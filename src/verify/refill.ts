import type { Client, Pausing } from './exchange/client.ts';
import type { ServiceClock } from './exchange/clock.ts';
import { Tide } from './tide.ts';

/** The longest month, and a little: what is refused for longer stays so. */
export const refillMsMax = 32 * 24 * 3_600_000;

/** Lets long windows go by, such as the day of a quota that is used up, while nothing is under way that time could change. */
export class Refill {
  readonly #client: Client;
  readonly #clock: ServiceClock;
  readonly #mayWait: (ms: number) => boolean;
  readonly #tide: Tide;
  readonly #onWaiting: () => void;
  #underWay = 0;
  /** Those who wait for what is due. */
  #held = 0;
  #idle: (() => void) | undefined;
  #refilling: Promise<void> | undefined;

  /** `onWaiting` is told whenever somebody begins to wait here. */
  constructor(client: Client, clock: ServiceClock, mayWait: (ms: number) => boolean, onWaiting: () => void = () => {}) {
    this.#onWaiting = onWaiting;
    this.#client = client;
    this.#clock = clock;
    this.#mayWait = mayWait;
    this.#tide = new Tide(
      clock,
      () => this.#underWay,
      () => this.#refilling !== undefined,
    );
  }

  /** Lets a long time go by, together with all others that wait for one, once nothing else is under way. @throws {Untestable} */
  goneBy(ms: number, leftMs: number): Promise<void> {
    const gone = this.#tide.wait(ms, leftMs);
    if (this.#tide.isAll) this.#idle?.();
    this.#onWaiting();
    return gone;
  }

  /** How many cases wait for time to go by, which it does once nothing else is under way. */
  get waiting(): number {
    return this.#tide.waiting + this.#held;
  }

  /** Whether something was refused until a time that is further off than anybody waits for in a request, and that can be come to. */
  get isDue(): boolean {
    const ms = this.#client.owedMs;
    return ms !== undefined && this.#clock.advance !== undefined && this.#mayWait(ms);
  }

  /** Carries out a case, after what is due; who waits for that keeps nobody from coming to an end. What `outlasts` is waited for by nobody. */
  async around<T>(run: () => Promise<T>, pausing: Pausing = (wait) => wait, outlasts = false): Promise<T> {
    while (this.#refilling || this.isDue) {
      this.#refilling ??= this.#refill();
      this.#held += 1;
      this.#onWaiting();
      await pausing(this.#refilling);
      this.#held -= 1;
    }
    if (outlasts) return run();
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
      if (this.#tide.isAll) this.#idle?.();
      this.#tide.turn();
    }
  }

  /** Those who wait for longer go on waiting meanwhile: what they wait for is further off than a day of a quota. */
  async #refill(): Promise<void> {
    while (!this.#tide.isAll) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#idle = undefined;
    const ms = this.#client.owedMs;
    this.#client.forgiveOwed();
    const untilMs = this.#clock.toService(Date.now()) + (ms ?? 0);
    if (ms !== undefined && !(await this.#tide.pass(ms))) this.#client.owe(untilMs);
    this.#refilling = undefined;
    this.#tide.turn();
  }
}
