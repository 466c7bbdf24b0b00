import type { Pausing } from './exchange/client.ts';
import type { Trial } from './session/trial.ts';

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

type Noise = Trial['noise'];

interface Cost {
  cases: number;
  ms: number;
  requests: number;
}

/** What a whole run would have taken. */
export interface WouldSuffice {
  readonly timeMs: number;
  readonly requests: number;
}

/** What cases of each noise have cost so far, and what those that are left would cost by that. */
export class CaseCosts {
  readonly #spent: Readonly<Record<Noise, Cost>> = { quiet: none(), alone: none(), loud: none(), last: none() };
  readonly #beside: number;

  constructor(beside: number) {
    this.#beside = beside;
  }

  note(noise: Noise, { cases, ms, requests }: Readonly<Cost>): void {
    const spent = this.#spent[noise];
    spent.cases += cases;
    spent.ms += ms;
    spent.requests += requests;
  }

  /** What would have sufficed for the cases that are left too; nothing where none was carried out. */
  sufficing(left: Readonly<Record<Noise, number>>): WouldSuffice | undefined {
    const all = Object.values(this.#spent);
    const done = total(all, 'cases');
    if (done === 0) return undefined;
    let [ms, requests] = [total(all, 'ms'), total(all, 'requests')];
    for (const noise of noises) {
      const spent = this.#spent[noise];
      // Of a noise that nothing was carried out of it is reckoned that its cases cost what others did, one after the other.
      const of = spent.cases > 0 ? spent : { cases: done, ms: total(all, 'ms') * this.#beside, requests: total(all, 'requests') };
      ms += (left[noise] * of.ms) / of.cases;
      requests += (left[noise] * of.requests) / of.cases;
    }
    const trialMs = ms * margin;
    // Shorter runs keep a quarter of their time.
    const timeMs = trialMs >= 3 * keptMs ? trialMs + keptMs : trialMs / 0.75;
    return { timeMs: roundedMs(timeMs), requests: rounded((requests * margin) / 0.8, 100) };
  }
}

/** Measures are of what came first, which is never quite what comes later. */
const margin = 1.25;
/** What a long run keeps for looking again and cleaning up. */
const keptMs = 15_000;

function none(): Cost {
  return { cases: 0, ms: 0, requests: 0 };
}

function total(costs: readonly Readonly<Cost>[], of: keyof Cost): number {
  return costs.reduce((sum, cost) => sum + cost[of], 0);
}

/** Whole tens of seconds, from two minutes on whole minutes. */
function roundedMs(ms: number): number {
  return rounded(ms, ms <= 120_000 ? 10_000 : 60_000);
}

function rounded(value: number, to: number): number {
  return Math.ceil(value / to) * to;
}

/** A noise, until so much is used of what trials have; `least` is its part all the same, where those before it have used more. */
interface Phase {
  readonly noise: Trial['noise'];
  readonly share: number;
  readonly least: number;
}

/** How much of what trials have is for each phase at least. */
const shareLeast = 0.15;
/** What comes last is seldom much, and tells of the end of versions: that much is left for it. */
const beforeLast = 0.93;

/**
 * The noises one after the other, each until so much is used of what trials have: who has little has looked at something of each. What is
 * left of them goes on in the end.
 */
export const phases: readonly Phase[] = [
  { noise: 'quiet', share: 0.6, least: shareLeast },
  { noise: 'alone', share: 0.75, least: shareLeast },
  { noise: 'loud', share: 0.9, least: shareLeast },
  { noise: 'quiet', share: beforeLast, least: 0 },
  { noise: 'alone', share: beforeLast, least: 0 },
  { noise: 'loud', share: beforeLast, least: 0 },
  { noise: 'last', share: 1, least: shareLeast },
];

/** All noises, in the order in which they are come to first. */
const noises: readonly Trial['noise'][] = ['quiet', 'alone', 'loud', 'last'];
