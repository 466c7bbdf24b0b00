import type { Trial } from './session/trial.ts';

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
  readonly #spent: Readonly<Record<Noise, Cost>> = { quiet: none(), alone: none(), loud: none() };
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
    for (const noise of ['quiet', 'alone', 'loud'] as const) {
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
