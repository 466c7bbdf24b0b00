import { isRateWord, rateKind, rateKinds } from '../../kinds/limits/all.ts';
import { openRedisRates, readRedisAddress } from '../../store/redis/rates.ts';
import type { SharedRates } from '../../store/shared-rates.ts';
import type { Store } from '../../store/store.ts';
import { systemClock } from '../http/clock.ts';
import type { CountingTogether } from '../limits/shared-count.ts';
import type { ServeOptions } from './service.ts';

/** Where the rates of a service are counted, and what ends it. */
export interface CountingPlace {
  /** Nothing where this process counts for itself. */
  readonly shared: CountingTogether | undefined;
  close(): Promise<void>;
}

/**
 * Counts rates in Redis where its address is given; in the store, where several processes can have that; else in this process.
 * @throws for what is no address.
 */
export function startCounting({ limits, clock = systemClock }: ServeOptions, store: Store): CountingPlace {
  const hasOwnClock = clock !== systemClock;
  const together = (rates: SharedRates | undefined) => rates && { rates, hasOwnClock };
  if (limits === countedHere) return { shared: undefined, close: async () => {} };
  // What is counted in the store is closed with it.
  if (limits === undefined) return { shared: together(store.shared?.rates(rulesOf)), close: async () => {} };
  const rules = new Map(rateKinds.flatMap(({ word, lua }) => (lua === undefined ? [] : [[word, lua] as const])));
  const rates = openRedisRates(limits, rules);
  return { shared: together(rates), close: () => rates.close() };
}

/** What is wrong with what is said of where rates are counted; nothing where it is right. */
export function countingFlaw(limits: string): string | undefined {
  if (limits === countedHere) return undefined;
  try {
    readRedisAddress(limits);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** What `limits` is where each process counts for itself. */
const countedHere = 'here';

function rulesOf(word: string) {
  if (!isRateWord(word)) throw new Error(`${word} is no kind of rate`);
  return rateKind(word);
}
