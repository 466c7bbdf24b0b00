import { CommitFailed } from '../../store/failures.ts';
import type { Timer } from '../../store/store.ts';
import { freePass } from '../callers/operation-access.ts';
import { after } from '../exchange/after.ts';
import { type Fields, Refused } from '../exchange/exchange.ts';
import type { Engine } from '../operations/engine.ts';
import { ownWork } from '../resources/act.ts';
import { type Drawn, drawOnce } from '../resources/setters.ts';
import { fire } from '../serve.ts';
import type { FailingTimer, TimersAtHand } from './admin/command.ts';
import { Firings } from './firings.ts';

/** The clock's part of the machines: transitions that are due are fired, in order, once, and late rather than not at all. */
export interface Timers extends TimersAtHand {
  /** Looks anew at what is due first. */
  changed(): void;
  /** Fires a transition on a row now, as the service itself. */
  fire(resource: string, id: string, transition: string): Promise<Fields>;
  /** Resolves once nothing that is due is left to be fired. */
  settled(): Promise<void>;
  stop(): Promise<void>;
  /** Whether this process is the one that fires what is due; it is, until it is told otherwise. */
  become(isMine: boolean): void;
}

/** How many timers are fired at once; their changes are brought to disk together. */
const batch = 256;
/** How long nothing is fired after the store could not keep what was, at first and at most. */
const storeRestMs = { first: 1000, most: 30_000 };
/** How long a transition that failed waits until it is tried again, at first and at most. */
const againMs = { first: 1000, most: 300_000 };
/** Of so many that failed it is remembered how often, and of so many it is told. */
const failingMax = 10_000;
const toldMost = 500;

export function startTimers(engine: () => Engine): Timers {
  const firings = new Firings(engine);
  const due = new DueTimers(engine, firings);
  return {
    changed: () => due.changed(),
    failing: () => due.failing(),
    fireDue: (timer) => due.fireNow(timer),
    dropped: (timer) => due.dropped(timer),
    async fire(resource, id, transition) {
      const model = engine().models.get(resource);
      const firing = firings.of(resource, transition);
      if (!model || !firing) throw new Error(`There is no ${transition} of ${resource}.`);
      const draw = drawOnce(engine().chance, engine().clock.now());
      const { fields, recorded } = await engine().store.change((rows) => {
        const row = rows.get(resource, id);
        if (!row) throw new Refused({ when: 'resource.missing' });
        const work = ownWork(rows, engine().models, draw, `${transition} ${resource}`);
        const outcome = fire(work, firing, { row, fields: model.parse(row), pass: freePass });
        if (!('did' in outcome)) throw new Refused('refusal' in outcome ? outcome.refusal : { when: 'internal' });
        return { fields: outcome.fields, recorded: engine().events.record(work, undefined) };
      });
      due.schedule();
      engine().events.recorded(recorded);
      return fields;
    },
    settled: () => due.settled(),
    stop: () => due.stop(),
    become: (isMine) => due.become(isMine),
  };
}

/** Waits for what is due first, and fires what is. */
class DueTimers {
  readonly #engine: () => Engine;
  readonly #firings: Firings;
  #cancel = () => {};
  /** For when it is to be woken; nothing where it is not waiting. */
  #wakesMs: number | undefined;
  #running: Promise<void> | undefined;
  /** The newest look at what is due first, while the store is waited for. */
  #looking: Promise<void> | undefined;
  #looks = 0;
  #isStopped = false;
  #isMine = true;
  /** How often the store failed since it last did not. */
  #storeFailures = 0;
  /** What failed and has not fired since. */
  readonly #failures = new Map<string, FailingTimer>();

  constructor(engine: () => Engine, firings: Firings) {
    this.#engine = engine;
    this.#firings = firings;
  }

  changed(): void {
    if (!this.#running) this.schedule();
  }

  become(isMine: boolean): void {
    this.#isMine = isMine;
    if (isMine) this.changed();
    else this.#sleep();
  }

  failing(): readonly FailingTimer[] {
    return [...this.#failures.values()].slice(0, toldMost);
  }

  /** Fires a timer whether it is due or not. @throws {Refused} where it is refused; it stays set then. */
  async fireNow(timer: Timer): Promise<void> {
    await this.#fire(timer, this.#engine().clock.now(), false);
    this.schedule();
  }

  dropped(timer: Timer): void {
    this.#failures.delete(keyOf(timer));
    this.changed();
  }

  schedule(): void {
    if (this.#isStopped || !this.#isMine) return;
    const mine = ++this.#looks;
    // A look that was begun later knows more.
    const look = after(this.#engine().store.nextDue(), (next) => {
      if (mine === this.#looks) this.#wakeAt(next);
    });
    const over = () => {
      if (mine === this.#looks) this.#looking = undefined;
    };
    this.#looking = look instanceof Promise ? look.catch((failure: unknown) => this.#rest(failure)).finally(over) : undefined;
  }

  async settled(): Promise<void> {
    for (let busy = this.#running ?? this.#looking; busy; busy = this.#running ?? this.#looking) await busy;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sleep();
    await this.#looking;
    await this.#running;
  }

  #sleep(): void {
    this.#cancel();
    this.#wakesMs = undefined;
  }

  #wakeAt(next: number | undefined): void {
    // Most changes leave what is due first where it was.
    if (next !== undefined && next === this.#wakesMs) return;
    this.#sleep();
    if (this.#isStopped || !this.#isMine || next === undefined) return;
    const { clock } = this.#engine();
    this.#wakesMs = next;
    this.#cancel = clock.at(next, () => this.#wake());
    if (next <= clock.now()) this.#wake();
  }

  #wake(): void {
    this.#wakesMs = undefined;
    if (this.#isStopped || !this.#isMine || this.#running) return;
    this.#cancel();
    this.#running = this.#run().then(
      () => {
        this.#running = undefined;
        this.schedule();
      },
      (failure: unknown) => {
        this.#running = undefined;
        this.#rest(failure);
      },
    );
  }

  async #run(): Promise<void> {
    for (;;) {
      const { clock, store } = this.#engine();
      const nowMs = clock.now();
      const due = await store.due(nowMs, batch);
      if (due.length === 0 || !this.#isMine) return;
      const done = await Promise.allSettled(due.map((timer) => this.#fireSafely(timer, nowMs)));
      const failed = done.find(({ status }) => status === 'rejected');
      if (failed?.status === 'rejected') throw failed.reason;
      this.#storeFailures = 0;
    }
  }

  /** A timer whose transition fails is put off, so that it does not hold up the others, and tried again. @throws {CommitFailed} */
  async #fireSafely(timer: Timer, readMs: number): Promise<void> {
    try {
      await this.#fire(timer, readMs, true);
    } catch (failure) {
      if (failure instanceof CommitFailed) throw failure;
      await this.#putOff(timer, failure);
    }
  }

  /** Where the work was taken by another process meanwhile, what is due is fired there. */
  async #fire(timer: Timer, readMs: number, isDue: boolean): Promise<void> {
    const engine = this.#engine;
    let draw: Drawn | undefined;
    const recorded = await engine().store.change((rows) => {
      // Each has the time at which it is fired, and keeps it where its body is run again.
      draw ??= drawOnce(engine().chance, firedMs(readMs, engine().clock.now()));
      return isDue && !rows.holds('timers') ? undefined : this.#firings.fireDue(rows, timer, draw);
    });
    this.#failures.delete(keyOf(timer));
    engine().events.recorded(recorded);
  }

  async #putOff(timer: Timer, failure: unknown): Promise<void> {
    const { clock, store, onFailure } = this.#engine();
    const key = keyOf(timer);
    const times = (this.#failures.get(key)?.times ?? 0) + 1;
    const reason =
      failure instanceof Refused ? (failure.refusal.message ?? failure.refusal.code ?? failure.refusal.when) : failure;
    const why = String(reason instanceof Error ? reason.message : reason);
    const waitMs = waitAfter(times, againMs);
    const again = { ...timer, dueMs: clock.now() + waitMs };
    if (this.#failures.size >= failingMax) this.#failures.clear();
    this.#failures.set(key, { timer: again, times, why });
    await store.change((rows) => rows.setTimer(again));
    const words = `${timer.name} of ${timer.resource} ${timer.id} failed ${times === 1 ? 'once' : `${times} times`}: ${why}. It is tried again in ${
      waitMs / 1000
    } s; ninefold timers shows, fires and drops it.`;
    onFailure(new Error(words, { cause: failure }), `timer ${timer.name} ${timer.resource} ${timer.id}`);
  }

  /** The store could not say what is due, or keep what was fired: it is asked again after a while. */
  #rest(failure: unknown): void {
    const { clock, onFailure } = this.#engine();
    onFailure(failure, 'timers');
    this.#sleep();
    this.#storeFailures += 1;
    const waitMs = waitAfter(this.#storeFailures, storeRestMs);
    if (!this.#isStopped) this.#cancel = clock.at(clock.now() + waitMs, () => this.schedule());
  }
}

/** Where a clock was set forward meanwhile, what fell due on the way is fired at the time on the way. */
function firedMs(readMs: number, nowMs: number): number {
  return nowMs - readMs < setMs ? nowMs : readMs;
}

/** No firing waits so long for its turn; a clock that has gone on by more was set. */
const setMs = 10_000;

function keyOf({ resource, id, name, token }: Timer): string {
  return `${resource}\n${id}\n${name}\n${token}`;
}

/** Twice as long after each failure. */
function waitAfter(times: number, { first, most }: { readonly first: number; readonly most: number }): number {
  return Math.min(most, first * 2 ** (times - 1));
}
