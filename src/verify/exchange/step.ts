import type { Json } from '../../document/document.ts';
import type { Client, Sending } from './client.ts';
import type { ServiceClock } from './clock.ts';
import type { Sent, TrialExchange } from './exchange.ts';
import type { Lane, QuotaCount } from './lanes.ts';
import type { RequestPlan } from './plan.ts';
import type { ShellNames } from './shell.ts';
import type { Captured, Values } from './symbol.ts';

/** One act of a script, which can be done again from a clean start. A trial may bring kinds of its own. */
export interface Step<T> {
  /** What is done, for people: `POST /parcels as merchant`. */
  readonly says: string;
  act(run: ScriptRun): Promise<T>;
  /** The values it takes from earlier steps. */
  readonly takes: readonly Captured[];
  /** The steps that it needs without taking a value from them, by number. */
  readonly needs?: readonly number[];
  /** What came of it in a few words. */
  tell(result: T): string;
  /** The shell lines that do the same. */
  shell(names: ShellNames): readonly string[];
  /** The step with less in it, simplest first; each is tried and kept if the claim is still broken. */
  smaller?(): Iterable<Step<T>>;
  /** Whether its result may be judged at all: an exchange without an answer is not. */
  readonly isRequest?: boolean;
  /** Whether it does nothing but wait, so that others may go on meanwhile. */
  readonly isWait?: boolean;
}

/** A step that was done, and what it gave in the session's own run. */
export interface Done<T> {
  readonly step: number;
  readonly value: T;
}

/** What a step gives in a run. Requests see themselves how long they are waited for. @throws {Spent} where there is no time left */
export function carriedOut<T>(step: Step<T>, run: ScriptRun): Promise<T> {
  if (step.isRequest) return step.act(run);
  const act = run.client.within(step.act(run), run.errand);
  return step.isWait && run.pausing ? run.pausing(act) : act;
}

/** A row that is to come, or to be otherwise, as far as it is known beforehand. */
export interface Newcomer {
  readonly resource: string;
  readonly fields: Readonly<Record<string, Json>>;
  /** As it is now, where it is there. */
  readonly was?: Readonly<Record<string, Json>> | undefined;
}

/** Gives back the place that a row was to have: once it is there, it counts itself. */
export type HeldPlace = () => void;

/** What rows are counted together as, and how many there may be of each. */
export type CountedIn = ReadonlyMap<string, number>;

/** Places for rows of which there may be only so many. */
export interface RowPlaces {
  /** What a row that is to come counts in, in each of its states. */
  countedIn(newcomers: readonly Newcomer[]): CountedIn;
  /** Holds a place; nothing where there is none now. */
  hold(counted: CountedIn): HeldPlace | undefined;
  /** Waits until others have given something back of what these count in; false where all others wait as well. */
  more(wanted: readonly CountedIn[]): Promise<boolean>;
}

/** One execution of a script: its first, or a replay from a clean start. */
export interface ScriptRun extends Values, Sending {
  readonly client: Client;
  readonly clock: ServiceClock;
  /** Stands for this run wherever what it made or changed is remembered: the run itself would keep everything that was answered in it. */
  readonly owner: object;
  /** Whether nothing may be sent that could change something. */
  readonly isReadOnly?: boolean;
  /** Told of every exchange, so that what was made can be removed. */
  readonly note: (exchange: TrialExchange) => void;
  /** Whether another run has made a row. */
  readonly isOthers?: TrialExchange['isOthers'];
  /** The stated rates that count a request. */
  readonly lanesOf?: (plan: RequestPlan) => readonly Lane[];
  /** When what was refused is given again, where a stated quota refused it. */
  readonly refilledAtMs?: (exchange: TrialExchange) => number | undefined;
  /** The stated quotas that count a request: what is used up is not asked for; absent = it is asked for all the same. */
  readonly quotasOf?: (plan: RequestPlan) => readonly QuotaCount[];
  /** The places for rows of which there may be only so many; absent = they are asked for all the same. */
  readonly places?: RowPlaces;
  /** Whether something was refused since others have all the rows that there may be. */
  readonly wasFull?: (exchanges: readonly TrialExchange[]) => boolean;
  /** What a refusal says to be used up, and until when by the service's clock. */
  readonly usedUpBy?: (exchange: TrialExchange) => { readonly count: QuotaCount; readonly untilMs: number } | undefined;
  /** Told of what was not sent since a quota for it is used up. */
  readonly onHeldBack?: () => void;
  /** Lets a long time of the service's clock go by once nobody is under way whom that could disturb; absent where the clock cannot be moved. @throws {Untestable} */
  readonly goneBy?: (ms: number, run: Pick<ScriptRun, 'client' | 'errand'>) => Promise<void>;
  /** Asked before anything is sent that may change something. @throws {Untestable} for what is somebody's own and must stay as it is */
  readonly guard?: (plan: RequestPlan, sent: Sent, run: ScriptRun) => Promise<void>;
  /** Asked before anything is sent about rows that other cases may hold as well; throws what ends the case where it may not be sent. */
  readonly reserve?: (plan: RequestPlan, path: Sent['path'], owner: object) => void;
}
