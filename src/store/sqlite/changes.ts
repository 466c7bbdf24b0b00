/** What a batch of changes needs of the database. */
interface BatchWork<B> {
  /** Runs one body; a body that fails leaves nothing. A careful one writes nothing together with others. @throws when the whole batch is lost. */
  readonly run: (body: B, isCareful: boolean) => BatchOutcome;
  /** Commits what the batch wrote. */
  readonly commit: () => void;
  /** Resolves once all that is committed is on disk, and rejects with what the batch is told where that failed; nothing where it is there. */
  readonly durable: () => Promise<void> | undefined;
  /** Settles once the flush that is under way has ended; nothing where there is none. */
  readonly flushed: () => Promise<void> | undefined;
  /** Undoes the whole batch. */
  readonly abandon: (cause: unknown) => LostBatch;
}

/** Why a batch was lost, and what its changes reject with, unless one of them alone may be to blame: that is seen when each is run carefully. */
export interface LostBatch {
  readonly isOfOne: boolean;
  readonly error: Error;
}

export type BatchOutcome = { readonly value: unknown } | { readonly error: unknown };

interface Waiting<B> {
  readonly body: B;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What came of a batch: of its first `taken` bodies. */
interface Ran {
  readonly outcomes: readonly BatchOutcome[];
  readonly taken: number;
  readonly lost: Error | undefined;
}

const MOST_BODIES = 512;
const MOST_MS = 5;
const MOST_TURNS = 2;

/**
 * Changes that came in one turn of the event loop, or in turns that followed closely, committed together. Nothing of the caller's runs between the
 * first and the commit but the bodies themselves; promises settle once it is on disk. What comes meanwhile is the next batch.
 */
export class Changes<B> {
  readonly #work: BatchWork<B>;
  #waiting: Waiting<B>[] = [];
  #scheduled = false;
  #running = false;
  #drained: (() => void)[] = [];
  #size = 0;
  /** How many batches are on their way to disk. */
  #onTheirWay = 0;

  constructor(work: BatchWork<B>) {
    this.#work = work;
  }

  /** Whether a body runs at this moment. */
  get running(): boolean {
    return this.#running;
  }

  /** How many changes the batch has that is under way. */
  get size(): number {
    return this.#size;
  }

  add(body: B): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ body, resolve, reject });
      this.#schedule();
    });
  }

  /** Resolves once nothing waits any more. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained.push(resolve);
      this.#tellDrained();
    });
  }

  #tellDrained(): void {
    if (this.#scheduled || this.#onTheirWay > 0) return;
    for (const resolve of this.#drained.splice(0)) resolve();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#gather, 0, 0);
  }

  /**
   * A flush costs as much as many turns of the event loop: while each turn brings more changes, wait for the next; and while one is under way, for its end,
   * since no other can begin before.
   */
  readonly #gather = (turns: number, had: number): void => {
    const has = this.#waiting.length;
    const flushed = has < MOST_BODIES ? this.#work.flushed() : undefined;
    if (flushed) {
      const goOn = (): void => this.#gather(turns, had);
      flushed.then(goOn, goOn);
      return;
    }
    if (has > had && has < MOST_BODIES && turns < MOST_TURNS) setImmediate(this.#gather, turns + 1, has);
    else this.#flush();
  };

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#running = true;
    this.#size = Math.min(batch.length, MOST_BODIES);
    const { outcomes, taken, lost } = this.#runAll(batch, false) ?? this.#runAll(batch, true)!;
    this.#running = false;
    this.#scheduled = false;
    this.#waiting = batch.slice(taken).concat(this.#waiting);
    if (this.#waiting.length > 0) this.#schedule();
    const told = (failure: Error | undefined): void => {
      for (let index = 0; index < taken; index++) settle(batch[index]!, failure ? { error: failure } : outcomes[index]!);
      this.#tellDrained();
    };
    const durable = lost ? undefined : this.#work.durable();
    if (durable) this.#tellOnceDurable(durable, told);
    else told(lost);
  }

  #tellOnceDurable(durable: Promise<void>, tell: (failure: Error | undefined) => void): void {
    this.#onTheirWay += 1;
    const arrived = (failure?: Error): void => {
      this.#onTheirWay -= 1;
      tell(failure);
    };
    durable.then(() => arrived(), arrived);
  }

  /** Runs as many bodies as time allows and commits them. Nothing where they are to be run again, carefully. */
  #runAll(batch: readonly Waiting<B>[], isCareful: boolean): Ran | undefined {
    const outcomes: BatchOutcome[] = [];
    const until = performance.now() + MOST_MS;
    let taken = 0;
    try {
      while (taken < batch.length && taken < MOST_BODIES && (taken === 0 || performance.now() < until)) {
        outcomes.push(this.#work.run(batch[taken++]!.body, isCareful));
      }
      this.#work.commit();
      return { outcomes, taken, lost: undefined };
    } catch (failure) {
      const { isOfOne, error } = this.#work.abandon(failure);
      return isOfOne && !isCareful ? undefined : { outcomes, taken, lost: error };
    }
  }
}

function settle<B>({ resolve, reject }: Waiting<B>, outcome: BatchOutcome): void {
  if ('error' in outcome) reject(outcome.error);
  else resolve(outcome.value);
}
