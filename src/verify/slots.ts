import type { Pausing } from './exchange/client.ts';

/** How many times as many cases may be begun as go on beside each other: the others wait for something. */
const underWayTimes = 6;

/** A case's right to go on beside others. */
export interface Slot {
  /** Gives the right back for as long as something is waited for. */
  readonly pausing: Pausing;
  end(): void;
}

/** So many cases go on beside each other; one that only waits lets another go on meanwhile. */
export class CaseSlots {
  readonly #most: number;
  #active = 0;
  #underWay = 0;
  /** Those that have waited go on before anything is begun. */
  readonly #resuming: (() => void)[] = [];
  #beginning: (() => void) | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  /** Begins another case as soon as there is room; one is begun at a time. */
  async begin(): Promise<Slot> {
    while (this.#active >= this.#most || this.#underWay >= this.#most * underWayTimes) {
      await new Promise<void>((resolve) => {
        this.#beginning = resolve;
      });
    }
    this.#active += 1;
    this.#underWay += 1;
    return this.#slot();
  }

  #slot(): Slot {
    let [waits, holds, isResuming, isOver] = [0, true, false, false];
    const giveBack = () => {
      if (!holds) return;
      holds = false;
      this.#leave();
    };
    const goOn = async () => {
      isResuming = true;
      await this.#resume();
      isResuming = false;
      holds = true;
      if (waits > 0 || isOver) giveBack();
    };
    return {
      pausing: async (wait) => {
        waits += 1;
        giveBack();
        try {
          return await wait;
        } finally {
          waits -= 1;
          if (waits === 0 && !holds && !isResuming && !isOver) await goOn();
        }
      },
      end: () => {
        isOver = true;
        giveBack();
        this.#underWay -= 1;
        this.#beginning?.();
      },
    };
  }

  #leave(): void {
    this.#active -= 1;
    const next = this.#resuming.shift();
    if (next) {
      this.#active += 1;
      next();
    } else this.#beginning?.();
  }

  async #resume(): Promise<void> {
    if (this.#active < this.#most) {
      this.#active += 1;
      return;
    }
    await new Promise<void>((resolve) => this.#resuming.push(resolve));
  }
}
