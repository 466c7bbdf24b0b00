import { baselineKey, type PlannedCase, planOf } from './asked.ts';
import { endsWithin } from './authentication/ends.ts';
import { cleanUp } from './clean-up.ts';
import { type Budget, Spent } from './client/budget.ts';
import type { Client } from './client/client.ts';
import type { ServiceClock } from './client/clock.ts';
import { confirm } from './confirm.ts';
import type { Made } from './made.ts';
import type { RowMaker } from './make/row.ts';
import type { Model } from './model/model.ts';
import type { Observer } from './observer.ts';
import type { VerifyOptions } from './options.ts';
import type { Breach, Unsteady, VerifyReport } from './report.ts';
import type { ScriptRun } from './script/run.ts';
import { type Ledgering, Session, type Suspicion } from './script/session.ts';
import { Missing } from './script/symbol.ts';
import type { Tally } from './tally.ts';
import type { Trial } from './trial.ts';
import { Untestable } from './untestable.ts';
import { Draws } from './values/chance.ts';
import { NoValue } from './values/no-value.ts';

interface RoundsGiven {
  readonly model: Model;
  readonly seed: number;
  readonly client: Client;
  readonly clock: ServiceClock;
  readonly budget: Budget;
  readonly tally: Tally;
  readonly startRun: () => ScriptRun;
  readonly observers: readonly Observer[];
  readonly options: VerifyOptions;
  readonly made: Made;
  readonly origin: string;
  readonly beside: number;
  readonly rows: (session: Session) => RowMaker;
}

type Found = Pick<VerifyReport, 'breaches' | 'unsteady' | 'notes' | 'stopped'>;

/** After so many requests in a row without an answer the service counts as gone. */
const troublesMax = 40;
/** A claim that was seen to fail and did not fail again is looked at so often; then it is unsteady. */
const suspicionsMax = 3;
/** A day, and a little: what is refused for longer stays so. */
const refillMsMax = 25 * 3_600_000;

/** Carries out the cases of all trials: quiet ones beside each other, then those that want to be alone, the loud ones last. */
export class Rounds {
  readonly #given: RoundsGiven;
  readonly #refill: Refill;
  readonly #breaches = new Map<string, Breach>();
  readonly #unsteady = new Map<string, Unsteady>();
  readonly #suspected = new Map<string, number>();
  readonly #witnesses = new Map<string, number>();
  /** What looked broken when there was no time left to look again. */
  readonly #unsettled = new Set<string>();
  readonly #notes: string[] = [];
  #stopped: string | undefined;
  #done = 0;
  #of = 0;

  constructor(given: RoundsGiven) {
    this.#given = given;
    const { client, clock, model } = given;
    this.#refill = new Refill(client, clock, (ms) => ms <= refillMsMax && !endsWithin(model, this.bareSession(), ms + 60_000));
  }

  async all(trials: readonly Trial[]): Promise<Found> {
    const { options, beside, client, clock, made, model } = this.#given;
    const planned = planOf(trials, model, options);
    this.#of = planned.length;
    for (const noise of ['quiet', 'alone', 'loud'] as const) {
      const queue = planned.filter(({ trial }) => trial.noise === noise);
      // Those that want to be alone go through what is there, which is less once what was made is removed.
      if (noise === 'alone' && queue.length > 0) await cleanUp(made, () => this.bareSession());
      const workers = Array.from({ length: noise === 'quiet' ? beside : 1 }, () => this.#work(queue));
      await Promise.all(workers);
    }
    if (client.waitedMs > 1000 && clock.advance === undefined)
      this.#notes.push(`${Math.round(client.waitedMs / 1000)} s were spent waiting for rates to refill.`);
    if (this.#unsettled.size > 0)
      this.#notes.push(`No time was left to look again at what looked broken once: ${[...this.#unsettled].join(', ')}.`);
    const known = new Set(options.baseline ?? []);
    const told = (breach: Breach) => ({
      ...breach,
      witnesses: this.#witnesses.get(baselineKey(breach)) ?? 1,
      ...(known.has(baselineKey(breach)) && { isKnown: true }),
    });
    return {
      breaches: [...this.#breaches.values()].map(told),
      unsteady: [...this.#unsteady.values()],
      notes: this.#notes,
      ...(this.#stopped !== undefined && { stopped: this.#stopped }),
    };
  }

  /** A session that holds answers to nothing, for cleaning up. */
  bareSession(): Session {
    const { model, seed, startRun, rows } = this.#given;
    return new Session({
      model,
      rows,
      name: 'clean-up',
      observers: [],
      run: { ...startRun(), isOnTop: true },
      chance: new Draws(`${seed}`),
      ledgering: { held: () => {}, moot: () => {}, suspected: () => {} },
    });
  }

  async #work(queue: PlannedCase[]): Promise<void> {
    const again = new Set<PlannedCase>();
    for (let next = queue.shift(); next; next = queue.shift()) {
      const planned = next;
      const isLast = again.has(planned);
      if (this.#stopped === undefined) {
        const isDone = await this.#refill.around(() => this.#carryOut(planned, isLast));
        if (!isDone) {
          again.add(planned);
          queue.push(planned);
          continue;
        }
      } else this.#given.tally.courseOf(next.trial.name, next.testCase.facts).end(this.#stopped);
      this.#done += 1;
      const { options, budget } = this.#given;
      options.onProgress?.({
        done: this.#done,
        of: this.#of,
        requests: budget.requests,
        broken: this.#breaches.size,
        now: next.trial.name,
      });
    }
  }

  /** Whether that is all: what came to nothing for a quota that is used up is carried out once more when it begins anew. */
  async #carryOut(planned: PlannedCase, isLast: boolean): Promise<boolean> {
    const { client, budget, tally } = this.#given;
    const { trial, testCase } = planned;
    const course = tally.courseOf(trial.name, testCase.facts);
    const found: Suspicion[] = [];
    const session = this.#session(planned, {
      held: ({ fact, reason }) => course.held(fact, reason),
      moot: ({ fact }, why) => course.moot(fact, why),
      suspected: (suspicion) => {
        course.looked(suspicion.claim.fact);
        found.push(suspicion);
      },
    });
    let isDone = true;
    try {
      await testCase.run(session);
      course.end();
    } catch (error) {
      isDone = isLast || !(error instanceof Untestable && this.#refill.isDue);
      if (isDone) course.end(this.#whyOf(error, trial.name));
      if (error instanceof Spent) this.#stopped ??= `${error.message}; ${trial.name} was under way`;
    }
    for (const suspicion of found) await this.#settle(planned, session, suspicion);
    if (client.troublesInARow >= troublesMax) this.#stopped ??= 'the service no longer answers';
    if (budget.isSpent) this.#stopped ??= 'the requests or the time that were given are used up';
    return isDone;
  }

  #session(planned: PlannedCase, ledgering: Ledgering): Session {
    const { model, seed, startRun, observers, rows } = this.#given;
    const name = `${planned.trial.name}@${planned.testCase.name}`;
    return new Session({
      model,
      observers,
      rows,
      name,
      ledgering,
      run: startRun(),
      chance: new Draws(`${seed}\n${name}`),
    });
  }

  /** Looks at a failed claim again, from a clean start; one fact is reported once for one reason. */
  async #settle({ trial, testCase }: PlannedCase, session: Session, suspicion: Suspicion): Promise<void> {
    const { tally, seed, startRun, model, origin, options } = this.#given;
    const key = baselineKey({ ...suspicion.claim.fact, reason: suspicion.claim.reason });
    this.#witnesses.set(key, (this.#witnesses.get(key) ?? 0) + 1);
    const looked = this.#suspected.get(key) ?? 0;
    if (this.#breaches.has(key) || looked >= suspicionsMax) return;
    this.#suspected.set(key, looked + 1);
    const found = `${trial.name}@${testCase.name}`;
    const id = `${suspicion.claim.fact.kind}:${suspicion.claim.fact.subject}:${suspicion.claim.reason}@${found}@${seed}`;
    const start = () => ({ ...startRun(), isOnTop: true });
    const clear = async (run: ScriptRun) => void (await cleanUp(this.#given.made, () => this.bareSession(), run.results));
    const confirmed = await confirm({ session, suspicion, start, clear, model, origin, id, found }).catch((error: unknown) => {
      const why = this.#whyOf(error, trial.name);
      if (error instanceof Spent) this.#unsettled.add(`${suspicion.claim.fact.kind}:${suspicion.claim.fact.subject}`);
      tally.doubted(suspicion.claim.fact, `it looked broken once, and could not be looked at again: ${why}`);
      return undefined;
    });
    if (!confirmed) return;
    if ('tries' in confirmed) {
      this.#unsteady.set(key, confirmed);
      tally.doubted(suspicion.claim.fact, `it is unsteady: broken in ${confirmed.seenTimes} of ${confirmed.tries} tries`);
    } else {
      tally.broken(suspicion.claim.fact);
      this.#unsteady.delete(key);
      this.#breaches.set(key, confirmed);
      if (options.until?.(confirmed)) this.#stopped ??= 'what was looked for was found';
    }
  }

  #whyOf(error: unknown, trial: string): string {
    const { why, ownFault } = cameToNothing(error, trial);
    if (ownFault !== undefined) this.#notes.push(ownFault);
    return why;
  }
}

/** Why a case came to nothing. */
interface Nothing {
  readonly why: string;
  /** What nobody thought of is our own fault: it is told, and says nothing of the service. */
  readonly ownFault?: string;
}

const known = [Untestable, Missing, Spent, NoValue];

/** Why a case of a trial came to nothing, by what it threw. */
function cameToNothing(error: unknown, trial: string): Nothing {
  const message = error instanceof Error ? error.message : String(error);
  if (known.some((one) => error instanceof one)) return { why: message };
  const where = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
  return {
    why: `ninefold failed: ${message}`,
    ownFault: `A case of ${trial} failed by a fault of ninefold's own: ${message} ${where}`,
  };
}

/** Lets long windows go by, such as the day of a quota that is used up, while nothing is under way that time could change. */
class Refill {
  readonly #client: Client;
  readonly #clock: ServiceClock;
  readonly #mayWait: (ms: number) => boolean;
  #underWay = 0;
  #idle: (() => void) | undefined;
  #refilling: Promise<void> | undefined;

  constructor(client: Client, clock: ServiceClock, mayWait: (ms: number) => boolean) {
    this.#client = client;
    this.#clock = clock;
    this.#mayWait = mayWait;
  }

  /** Whether something was refused until a time that is further off than anybody waits for in a request, and that can be come to. */
  get isDue(): boolean {
    const ms = this.#client.owedMs;
    return ms !== undefined && this.#clock.advance !== undefined && this.#mayWait(ms);
  }

  /** Carries out a case, after what is due. */
  async around<T>(run: () => Promise<T>): Promise<T> {
    while (this.#refilling || this.isDue) {
      this.#refilling ??= this.#refill();
      await this.#refilling;
    }
    this.#underWay += 1;
    try {
      return await run();
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle?.();
    }
  }

  async #refill(): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    this.#idle = undefined;
    const ms = this.#client.owedMs;
    this.#client.forgiveOwed();
    if (ms !== undefined) await this.#clock.wait(ms).catch(() => undefined);
    this.#refilling = undefined;
  }
}
