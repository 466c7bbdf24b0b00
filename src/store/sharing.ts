/** What several processes that have one store know of each other, and the rates that they count together. */

/** What of a store is remembered in memory by whoever has it. */
export type Mark = 'events' | 'credentials' | 'subscribers' | 'timers';

/** Work that one process does at a time. */
export type SharedWork = 'timers' | 'deliveries';

export interface SharedStore {
  /** What was remembered under a key when tables were last brought up, whatever document's they are by now. */
  remembered(key: string): Promise<{ readonly fingerprint: string; readonly body: string } | undefined>;
  /**
   * Has it called soon after another process has changed something of these, until the store is closed; it may be called for nothing, too.
   * Returns what ends that.
   */
  watch(changed: (marks: ReadonlySet<Mark>) => void): () => void;
  /**
   * Does some work as long as no other process does: `held` is told whenever that changes. A process that is killed is followed by another
   * within seconds. Returns what gives the work back, so that another takes it at once.
   */
  share(work: SharedWork, held: (isHeld: boolean) => void): () => Promise<void>;
  /** Rates that all processes count together; a crash of the database may begin them anew. They are closed with the store. */
  rates(rulesOf: (kind: string) => RateRules): SharedRates;
}

/** One rate in one request. */
export interface AskedRate {
  /** What is counted apart: the rate and whom it counts. */
  readonly key: string;
  /** The word of its kind, as the rules know it. */
  readonly kind: string;
  readonly facts: { readonly limit: number; readonly windowMs: number; readonly capacity: number };
  readonly cost: number;
  /** After how long without a request nothing of it is remembered. */
  readonly memoryMs: number;
}

/** One that was counted, as it is given back. */
export interface TakenRate extends AskedRate {
  readonly atMs: number;
  readonly before: number;
}

/** A request that is counted in all of some rates or, where one refuses it, in none; without any it only gives back. */
export interface AskedRates {
  readonly rates: readonly AskedRate[];
  /** What was counted of it before, and is given back where it is not counted. */
  readonly back: readonly TakenRate[];
  /** The time where that is not the one of the machine that counts, which all processes share. */
  readonly nowMs: number | undefined;
}

/** What a rate says of a request. */
export interface DecidedRate {
  readonly isAllowed: boolean;
  readonly remaining: number;
  readonly moreMs: number;
  readonly waitMs: number;
  readonly before: number;
}

export interface DecidedRates {
  /** When it was decided. */
  readonly atMs: number;
  /** In the order in which they were asked. */
  readonly rates: readonly DecidedRate[];
}

/** What is kept under a key; no numbers = nothing. */
interface KeptUse {
  readonly numbers: Float64Array;
  length: number;
}

/** How a kind of rate counts. Pure: the use is read and written in place. */
export interface RateRules {
  readonly numbersMax: number;
  decide(facts: AskedRate['facts'], use: KeptUse, nowMs: number, cost: number): DecidedRate;
  giveBack(facts: AskedRate['facts'], use: KeptUse, nowMs: number, taken: Pick<TakenRate, 'atMs' | 'cost' | 'before'>): void;
}

/** Where several processes count rates, exactly: what one has counted the others know. */
export interface SharedRates {
  /** @throws {StoreUnavailable} where it cannot be counted now. */
  count(asked: AskedRates): Promise<DecidedRates>;
  close(): Promise<void>;
}

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
