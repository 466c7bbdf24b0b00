/** What the processes that have a store together share: the work of the clock, and the counting of rates. */

import { isRateWord, rateKind, rateKinds } from '../../kinds/limits/all.ts';
import { openRedisRates, readRedisAddress } from '../../store/redis/rates.ts';
import type { SharedRates, SharedStore, SharedWork } from '../../store/sharing.ts';
import type { Store } from '../../store/store.ts';
import { systemClock } from '../http/clock.ts';
import type { CountingTogether } from '../limits/shared-count.ts';
import type { Engine } from '../operations/engine.ts';
import type { ServeOptions } from './service.ts';
import type { Timers } from './timers.ts';

/** What one process of several that have a store does with the others. */
export interface SharedService {
  /** From now on there is a document to do it by. */
  begin(): void;
  /** Gives the work back, so that another process goes on with it at once. */
  stop(): Promise<void>;
}

/** Does what is due where no other process does, and hears of what others change; resolves once it is known which work is this process's. */
export async function startSharing(
  shared: SharedStore,
  { timers, events, credentials, onFailure }: Pick<Engine, 'events' | 'credentials' | 'onFailure'> & { readonly timers: Timers },
): Promise<SharedService> {
  const isMine = new Map<SharedWork, boolean>();
  let hasBegun = false;
  const become = (work: SharedWork) => {
    const mine = isMine.get(work) === true;
    if (work === 'timers') timers.become(mine);
    else events.become(mine).catch((failure: unknown) => onFailure(failure, 'deliveries'));
  };
  timers.become(false);
  void events.become(false);
  const works = (['timers', 'deliveries'] as const).map((work) => {
    let giveBack: () => Promise<void> = async () => {};
    const decided = new Promise<void>((resolve) => {
      giveBack = shared.share(work, (isHeld) => {
        isMine.set(work, isHeld);
        if (hasBegun) become(work);
        resolve();
      });
    });
    return { work, decided, giveBack };
  });
  let end = () => {};
  await Promise.all(works.map(({ decided }) => decided));
  return {
    begin() {
      hasBegun = true;
      for (const { work } of works) become(work);
      end = shared.watch((marks) => {
        if (marks.has('credentials')) credentials.changed();
        if (marks.has('events') || marks.has('subscribers')) events.changedElsewhere(marks.has('subscribers'));
        if (marks.has('timers')) timers.changed();
      });
    },
    async stop() {
      end();
      await Promise.all(works.map(({ giveBack }) => giveBack()));
    },
  };
}

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
