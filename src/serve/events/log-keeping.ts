import { logOf } from '../../parts/event-log.ts';
import type { Recorded } from '../exchange/exchange.ts';
import { removeRow } from '../resources/delete.ts';
import { drawOnce } from '../resources/drawn.ts';
import { ownWork } from '../resources/own-work.ts';
import { Alarm } from './alarm.ts';
import type { EventsSetting } from './setting.ts';

/** How many rows go in one change. */
const stepMost = 100;
/** How long nothing is done after the store could not be asked. */
const storeRestMs = 1000;

/** What one step came to. */
interface Step {
  readonly recorded: Recorded | undefined;
  /** The last row that is not looked at again, as it was not made by the log. */
  readonly passed: number;
  /** When the first of those that stay has been kept long enough; nothing where there is none. */
  readonly nextMs: number | undefined;
  readonly isDone: boolean;
}

/** Takes rows out of the log of events that were kept long enough, oldest first, a bounded number in one change. */
export class LogKeeping {
  readonly #engine: () => EventsSetting;
  readonly #alarm: Alarm;
  #isMine = true;
  #isStopped = false;
  #running: Promise<void> | undefined;
  /** Whether it is known when the first one goes, or that there is none. */
  #isSet = false;
  /** Whether a row may have come that what is under way did not see. */
  #isAsked = false;
  #passed = 0;

  constructor(engine: () => EventsSetting) {
    this.#engine = engine;
    this.#alarm = new Alarm(
      () => engine().clock,
      () => this.#begin(),
    );
  }

  /** There may be a row to wait for. */
  look(): void {
    this.#isAsked = this.#running !== undefined;
    if (!this.#isSet) this.#begin();
  }

  /** The document may be another one, or this process the one that looks after rows. */
  resume(isMine = this.#isMine): void {
    this.#isMine = isMine;
    this.#isSet = false;
    this.#passed = 0;
    this.#alarm.stop();
    this.#begin();
  }

  async settled(): Promise<void> {
    while (this.#running) await this.#running;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#alarm.stop();
    await this.#running;
  }

  #begin(): void {
    const keepMs = logOf(this.#engine().compilation.spec)?.keepMs;
    if (this.#running || this.#isStopped || !this.#isMine || keepMs === undefined || !Number.isFinite(keepMs)) return;
    this.#isSet = true;
    this.#running = this.#run()
      .catch((failure: unknown) => {
        const { clock, onFailure } = this.#engine();
        onFailure(failure, 'the log of events');
        this.#alarm.set(clock.now() + storeRestMs);
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && this.#isMine) {
      const { recorded, passed, nextMs, isDone } = await this.#step();
      this.#passed = passed;
      this.#engine().events.recorded(recorded);
      const isAsked = nextMs === undefined && this.#isAsked;
      this.#isAsked = false;
      if (!isDone || isAsked) continue;
      if (nextMs === undefined) this.#isSet = false;
      else this.#alarm.set(nextMs);
      return;
    }
  }

  async #step(): Promise<Step> {
    const engine = this.#engine();
    const { store, models, chance, clock, events, compilation } = engine;
    const { resource = '', keepMs = Number.POSITIVE_INFINITY } = logOf(compilation.spec) ?? {};
    const model = models.get(resource);
    const nothing: Step = { recorded: undefined, passed: this.#passed, nextMs: undefined, isDone: true };
    if (!model) return nothing;
    const draw = drawOnce(chance, clock.now());
    return store.change((rows) => {
      if (!rows.holds('deliveries')) return nothing;
      const work = ownWork(rows, models, draw, `delete ${resource}`);
      const page = rows.scan(resource, this.#passed, stepMost);
      let passed = this.#passed;
      for (const row of page) {
        const dueMs = row.entered + keepMs;
        // What has no time was not made by the log.
        if (row.entered > 0 && dueMs > work.nowMs)
          return { recorded: events.record(work, undefined), passed, nextMs: dueMs, isDone: true };
        if (row.entered > 0) removeRow(work, model, row, model.parse(row), `delete ${resource}`);
        else passed = row.seq;
      }
      return { recorded: events.record(work, undefined), passed, nextMs: undefined, isDone: page.length < stepMost };
    });
  }
}
