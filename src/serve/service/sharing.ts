/** What the processes that have a store together share: the work of the clock, the counting of rates, and the newest document. */

import { parseDocument } from '../../document/read/parse.ts';
import { isRateWord, rateKind, rateKinds } from '../../kinds/limits/all.ts';
import { isKey } from '../../parts/form.ts';
import { readSpec, type Spec } from '../../parts/spec.ts';
import { Superseded } from '../../store/failures.ts';
import { openRedisRates, readRedisAddress } from '../../store/redis/rates.ts';
import type { SharedRates, SharedStore, SharedWork } from '../../store/sharing.ts';
import type { Store } from '../../store/store.ts';
import type { Call, Reply } from '../http/call.ts';
import { type Clock, systemClock } from '../http/clock.ts';
import type { CountingTogether } from '../limits/shared-count.ts';
import type { Engine } from '../operations/engine.ts';
import type { AnswerCall } from '../serve.ts';
import type { ServeOptions } from './service.ts';
import { documentKey } from './stored/migrate.ts';
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

/** A store as the plans of one document have it. */
export interface DocumentStore {
  readonly store: Store;
  /** Whether another document is about to be served in place of this one: then nothing more is read or changed by these plans. */
  isPast: boolean;
}

/** Where other processes can bring tables up to another document, plans of the one before must not touch them any more. */
export function storeOfDocument(store: Store): DocumentStore {
  if (!store.shared) return { store, isPast: false };
  const { shared } = store;
  const past = () => Promise.reject(new Superseded('the store'));
  const own: DocumentStore = {
    isPast: false,
    store: {
      shared,
      prepare: (...given) => store.prepare(...given),
      tablesBeside: (known) => store.tablesBeside(known),
      copyTo: (path) => store.copyTo(path),
      read: (body, goesOn) => (own.isPast ? past() : store.read(body, goesOn)),
      change: (body) => (own.isPast ? past() : store.change(body)),
      due: (nowMs, most) => store.due(nowMs, most),
      timers: (most, search) => store.timers(most, search),
      nextDue: () => store.nextDue(),
      setting: (...given) => store.setting(...given),
      compact: () => store.compact(),
      close: () => store.close(),
    },
  };
  return own;
}

/**
 * What goes on with newer documents; nothing where a store is this process's alone, or where code of the user's belongs to the document that
 * this process was started with.
 */
export function newestOf(
  { handlers = {}, before = {}, sample }: Pick<ServeOptions, 'handlers' | 'before' | 'sample'>,
  { shared }: Store,
  clock: Clock,
  replace: (spec: Spec) => Promise<void>,
): NewestDocument | undefined {
  const hasCode = Object.keys(handlers).length + Object.keys(before).length > 0;
  return shared && !hasCode && !sample ? new NewestDocument(shared, replace, () => clock.now()) : undefined;
}

/** Tells failures, but for those that a newer document is the remedy of: that is gone on with. */
export function tellingNewest(newest: NewestDocument | undefined, tell: OnFailure): OnFailure {
  return (failure, requestId) => {
    if (failure instanceof Superseded && newest) newest.goOn().catch((other: unknown) => tell(other, requestId));
    else tell(failure, requestId);
  };
}

type OnFailure = (failure: unknown, requestId: string) => void;

/** How often a call is begun anew. */
const againMost = 3;
/** How long after a document could not be gone on with that is tried again. */
const restMs = 1000;

/** Goes on with the document that tables were brought up to by another process. */
export class NewestDocument {
  readonly #shared: SharedStore;
  readonly #replace: (spec: Spec) => Promise<void>;
  readonly #nowMs: () => number;
  #trying: Promise<void> | undefined;
  #restsUntilMs = Number.NEGATIVE_INFINITY;

  constructor(shared: SharedStore, replace: (spec: Spec) => Promise<void>, nowMs: () => number) {
    this.#shared = shared;
    this.#replace = replace;
    this.#nowMs = nowMs;
  }

  /** Resolves once this process serves the newest document; one try at a time. Rejects where that cannot be. */
  goOn(): Promise<void> {
    if (!this.#trying && this.#nowMs() < this.#restsUntilMs) return Promise.reject(new Superseded('the store'));
    this.#trying ??= this.#goOn().then(
      () => {
        this.#trying = undefined;
      },
      (failure: unknown) => {
        this.#trying = undefined;
        this.#restsUntilMs = this.#nowMs() + restMs;
        throw failure;
      },
    );
    return this.#trying;
  }

  /** The same road for calls that nothing was done about, because another document was served meanwhile: they are begun anew. */
  answering(road: AnswerCall): AnswerCall {
    const begin = async (call: Call, times: number): Promise<Reply> => {
      const isLast = times === againMost;
      try {
        call.mayBeginAnew = !isLast;
        return await road(call);
      } catch (failure) {
        if (isLast || !(failure instanceof Superseded)) throw failure;
        const isOn = await this.goOn().then(
          () => true,
          () => false,
        );
        return begin(call, isOn ? times + 1 : againMost);
      }
    };
    return (call) => begin(call, 0);
  }

  async #goOn(): Promise<void> {
    const found = await this.#shared.remembered(documentKey);
    if (!found) throw new Superseded('the store');
    await this.#replace(readSpec(parseDocument(found.body, 'document.json', { isKey })));
  }
}
