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
  #underWay = 0;
  #idle: (() => void) | undefined;
  #refilling: Promise<void> | undefined;

  constructor(client: Client, clock: ServiceClock, mayWait: (ms: number) => boolean) {
    this.#client = client;
    this.#clock = clock;
    this.#mayWait = mayWait;
    this.#tide = new Tide(clock, () => this.#underWay);
  }

  /** Lets a long time go by, together with all others that wait for one, once nothing else is under way. @throws {Untestable} */
  goneBy(ms: number, leftMs: number): Promise<void> {
    return this.#tide.wait(ms, leftMs);
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
      await pausing(this.#refilling);
    }
    if (outlasts) return run();
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
      this.#tide.turn();
    }
  }

  async #refill(): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#idle = undefined;
    const ms = this.#client.owedMs;
    this.#client.forgiveOwed();
    if (ms !== undefined) await this.#clock.wait(ms).catch(() => undefined);
    this.#refilling = undefined;
  }
}
