import { baselineKey, type PlannedCase } from './asked.ts';
import { cleanUp } from './clean-up.ts';
import { type Confirming, causesOf, confirm, proved } from './confirm.ts';
import { Spent } from './exchange/budget.ts';
import { crashKind } from './exchange/claim.ts';
import { isExchange } from './exchange/exchange.ts';
import type { ScriptRun } from './exchange/step.ts';
import type { GivenKept } from './given.ts';
import type { Made } from './make/made.ts';
import type { Model } from './model/model.ts';
import type { VerifyOptions } from './options.ts';
import type { Refill } from './refill.ts';
import type { Breach, Reproduced, Unsteady, VerifyReport } from './report.ts';
import type { Room } from './room.ts';
import type { Suspect } from './session/replay.ts';
import type { Session, Suspicion } from './session/session.ts';
import type { Trial } from './session/trial.ts';
import type { Skips } from './skips.ts';
import type { Tally } from './tally.ts';

interface SuspectsGiven {
  readonly model: Model;
  readonly seed: number;
  readonly tally: Tally;
  readonly skips: Skips;
  readonly options: VerifyOptions;
  readonly made: Made;
  readonly given: GivenKept;
  readonly room: Room;
  readonly origin: string;
  readonly startRun: (trial: Trial) => ScriptRun;
  /** Does something once what is due is over, and keeps the time from being moved meanwhile. */
  readonly around: Refill['around'];
  /** A session that holds answers to nothing. */
  readonly bareSession: () => Session;
  /** Why something came to nothing, by what was thrown. */
  readonly whyOf: (error: unknown, trial: string) => string;
}

/** A breach, the script that shows it, and how it is run again. */
interface Found {
  readonly breach: Breach;
  readonly suspect: Suspect;
  readonly confirming: Confirming;
}

/** A claim that was seen to fail and did not fail again is looked at so often; then it is unsteady. */
const suspicionsMax = 3;

/** What looked broken, and what came of looking again. */
export class Suspects {
  readonly #given: SuspectsGiven;
  readonly #found = new Map<string, Found>();
  readonly #unsteady = new Map<string, Unsteady>();
  readonly #suspected = new Map<string, number>();
  readonly #witnesses = new Map<string, number>();
  /** What looked broken when there was no time left to look again. */
  readonly #unsettled = new Set<string>();
  /** What was run again where nothing else went on: the service may be another one after it. */
  readonly #proved = new Set<string>();

  constructor(given: SuspectsGiven) {
    this.#given = given;
  }

  get broken(): number {
    return this.#found.size;
  }

  /** How many breaches are still to be run again where nothing else goes on. */
  get unproved(): number {
    return this.#found.size - this.#proved.size;
  }

  /** Looks at a failed claim again, from a clean start; one fact is reported once for one reason. Whether that is what was looked for. */
  async settle({ trial, testCase }: PlannedCase, session: Session, suspicion: Suspicion): Promise<boolean> {
    const { tally, seed, startRun, around, model, origin, options, skips } = this.#given;
    const { fact, reason } = suspicion.claim;
    if (skips.ofFact(fact) !== undefined) return false;
    const key = baselineKey({ ...fact, reason });
    this.#witnesses.set(key, (this.#witnesses.get(key) ?? 0) + 1);
    const looked = this.#suspected.get(key) ?? 0;
    if (this.#found.has(key) || looked >= suspicionsMax) return false;
    this.#suspected.set(key, looked + 1);
    const found = `${trial.name}@${testCase.name}`;
    const id = `${fact.kind}:${fact.subject}:${reason}@${found}@${seed}`;
    const { pausing } = session.run;
    const start = (): ScriptRun => ({ ...startRun(trial), errand: 'again', ...(pausing && { pausing }) });
    const clear = (run: ScriptRun) => this.#clear(run);
    const wasFull = (run: ScriptRun) => this.#given.room.wasFull(run.results.filter(isExchange));
    const confirming = { session, suspicion, start, around, clear, wasFull, model, origin, id, found, before: this.#found.size };
    const confirmed = await session.run.client.within(confirm(confirming), 'again').catch((error: unknown) => {
      const why = this.#given.whyOf(error, trial.name);
      if (error instanceof Spent) this.#unsettled.add(`${fact.kind}:${fact.subject}`);
      tally.doubted(fact, `it looked broken once, and could not be looked at again: ${why}`);
      return 'left' as const;
    });
    if (confirmed === 'left') return false;
    if (!confirmed) {
      tally.fleeting(fact, reason);
      return false;
    }
    if ('unsteady' in confirmed) {
      const { unsteady } = confirmed;
      this.#unsteady.set(key, unsteady);
      tally.doubted(fact, `it is unsteady: broken in ${unsteady.seenTimes} of ${unsteady.tries} tries`);
      return false;
    }
    tally.broken(fact);
    this.#unsteady.delete(key);
    // Nothing waits for its turn in the end: what is proved then goes alone.
    this.#found.set(key, { ...confirmed, confirming: { ...confirming, start: () => ({ ...startRun(trial), errand: 'again' }) } });
    return options.until?.(confirmed.breach) === true;
  }

  /** Runs each breach's script again once nothing else goes on, from a clean start, or from a service that was started anew; gives a note where that could not be. */
  async prove(restart: (() => Promise<void>) | undefined): Promise<string | undefined> {
    const from: Reproduced['from'] = restart ? 'restarted' : 'alone';
    for (const [key, found] of this.#found) {
      if (this.#proved.has(key)) continue;
      this.#proved.add(key);
      try {
        const breach = await proved(found, found.confirming, from, restart ?? (async () => {}));
        this.#found.set(key, { ...found, breach });
      } catch (error) {
        const why = this.#given.whyOf(error, found.breach.found);
        return `Not every reproduction was run again ${restart ? 'from a new start of the service' : 'alone'}: ${why}.`;
      }
    }
    return undefined;
  }

  told(): Pick<VerifyReport, 'breaches' | 'crashes' | 'causes' | 'unsteady'> & { readonly notes: readonly string[] } {
    const known = new Set(this.#given.options.baseline ?? []);
    const found = [...this.#found].map(([key, { breach }]) => ({
      ...breach,
      witnesses: this.#witnesses.get(key) ?? 1,
      ...(known.has(key) && { isKnown: true }),
    }));
    const unsettled = [...this.#unsettled].join(', ');
    const breaches = found.filter(({ kind }) => kind !== crashKind);
    return {
      breaches,
      crashes: found.filter(({ kind }) => kind === crashKind),
      causes: causesOf(breaches),
      unsteady: [...this.#unsteady.values()],
      notes: unsettled === '' ? [] : [`No time was left to look again at what looked broken once: ${unsettled}.`],
    };
  }

  async #clear(run: ScriptRun): Promise<void> {
    const { made, bareSession, given, room } = this.#given;
    await cleanUp(made, bareSession, { owner: run.owner });
    await room.ended(run.owner);
    await given.putBack(run.owner);
  }
}
