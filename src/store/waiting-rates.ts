import type { AskedRates, DecidedRates } from './shared-rates.ts';

const MOST_ASKED = 512;

interface Waiting {
  readonly asked: AskedRates;
  readonly resolve: (decided: DecidedRates) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests that wait to be counted while others are: they are asked together, one batch at a time. */
export class WaitingRates {
  readonly #decide: (asked: readonly AskedRates[]) => Promise<readonly DecidedRates[]>;
  #waiting: Waiting[] = [];
  #running: Promise<void> | undefined;

  /** @param decide Decides requests one after the other, and gives what came of each. */
  constructor(decide: (asked: readonly AskedRates[]) => Promise<readonly DecidedRates[]>) {
    this.#decide = decide;
  }

  add(asked: AskedRates): Promise<DecidedRates> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#running ??= this.#runAll();
    });
  }

  /** Resolves once nothing waits any more. */
  async drain(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async #runAll(): Promise<void> {
    // What else comes in this turn goes with it.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST_ASKED);
      try {
        const decided = await this.#decide(batch.map(({ asked }) => asked));
        // One for each that was asked.
        for (const [index, { resolve }] of batch.entries()) resolve(decided[index]!);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    // Whoever comes from here on begins anew.
    this.#running = undefined;
  }
}
