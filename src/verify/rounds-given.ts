import type { Budget } from './exchange/budget.ts';
import type { Client } from './exchange/client.ts';
import type { ServiceClock } from './exchange/clock.ts';
import type { RowMaker } from './exchange/row.ts';
import type { ScriptRun } from './exchange/step.ts';
import { Untestable } from './exchange/untestable.ts';
import type { GivenKept } from './given.ts';
import type { SharedRows } from './make/lent-rows.ts';
import type { Made } from './make/made.ts';
import { forgetOwnRows } from './make/own-rows.ts';
import type { Model } from './model/model.ts';
import type { VerifyOptions } from './options.ts';
import type { Refill } from './refill.ts';
import type { Room } from './room.ts';
import type { Observer } from './session/observer.ts';
import type { Ledgering, Session, Suspicion } from './session/session.ts';
import { isBeside, type Trial } from './session/trial.ts';
import type { Skips } from './skips.ts';
import type { Tally } from './tally.ts';

/** What the cases of all trials are carried out with. */
export interface RoundsGiven {
  readonly model: Model;
  readonly seed: number;
  readonly client: Client;
  readonly clock: ServiceClock;
  readonly budget: Budget;
  readonly tally: Tally;
  readonly skips: Skips;
  readonly startRun: () => ScriptRun;
  readonly observers: readonly Observer[];
  readonly options: VerifyOptions;
  readonly made: Made;
  readonly origin: string;
  readonly beside: number;
  readonly rows: (session: Session) => RowMaker;
}

/** What a case came to: what a quota stopped, found no room for its rows, or would change what others refer to, is carried out once more. */
export type CameTo = 'its end' | 'a quota' | 'no room' | 'a shared row';

export interface CarriedOut {
  readonly cameTo: CameTo;
  readonly session: Session;
  readonly found: readonly Suspicion[];
}

/** What a session tells, passed on to the course of its case, and what looked broken to it. */
export function gathering(course: ReturnType<Tally['courseOf']>): {
  readonly ledgering: Ledgering;
  readonly found: readonly Suspicion[];
} {
  const found: Suspicion[] = [];
  const ledgering: Ledgering = {
    held: (claim) => course.held(claim),
    moot: ({ fact }, why) => course.moot(fact, why),
    suspected: (suspicion) => {
      course.looked(suspicion.claim.fact);
      found.push(suspicion);
    },
  };
  return { ledgering, found };
}

/** Starts the service anew, and has nothing left of what was known of it. @throws {Untestable} where it does not start */
export function serviceBegunAnew(client: Client, restart: () => Promise<void>): () => Promise<void> {
  const begin = async () => {
    await restart().catch((error: unknown) => {
      throw new Untestable(error instanceof Error ? error.message : String(error));
    });
    await client.renew();
    forgetOwnRows(client);
  };
  return () => client.within(begin(), 'again');
}

/** What those who carry out cases look after together. */
interface LookedAfter {
  readonly kept: GivenKept;
  readonly room: Room;
  readonly shared: SharedRows;
  readonly refill: Refill;
}

/** A run for a case of a trial, or for none. Whether a quota is really used up is for the trials of limits to see. */
export function runFor(
  trial: Trial | undefined,
  { quotasOf, ...run }: ScriptRun,
  { kept, room, shared, refill }: LookedAfter,
): ScriptRun {
  const goneBy: ScriptRun['goneBy'] = (ms, { client, errand = 'trial' }) => refill.goneBy(ms, client.leftMs(errand));
  // What measures time itself lets none go by for the rows that it makes.
  const mayGoBy = trial !== undefined && (isBeside(trial) || trial.mayLetTimeGo) && run.clock.advance !== undefined;
  const guard: ScriptRun['guard'] = (plan, sent, one) => kept.guard(plan, sent, one);
  const wasFull: ScriptRun['wasFull'] = (exchanges) => room.wasFull(exchanges);
  const sparing = trial?.part !== 'limits' && { ...(quotasOf && { quotasOf }), wasFull };
  return { ...run, guard, reserve: shared.reserve, ...(mayGoBy && { goneBy }), ...sparing };
}
