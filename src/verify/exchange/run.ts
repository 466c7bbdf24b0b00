import type { Client, Sending } from './client.ts';
import type { ServiceClock } from './clock.ts';
import type { Sent, TrialExchange } from './exchange.ts';
import type { Lane } from './lanes.ts';
import type { RequestPlan } from './plan.ts';
import type { Values } from './symbol.ts';
import type { QuotaCount } from './used-up.ts';

/** One execution of a script: its first, or a replay from a clean start. */
export interface ScriptRun extends Values, Sending {
  readonly client: Client;
  readonly clock: ServiceClock;
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
  /** What a refusal says to be used up, and until when by the service's clock. */
  readonly usedUpBy?: (exchange: TrialExchange) => { readonly count: QuotaCount; readonly untilMs: number } | undefined;
  /** Told of what was not sent since a quota for it is used up. */
  readonly onHeldBack?: () => void;
  /** Asked before anything is sent that may change something. @throws {Untestable} for what is somebody's own and must stay as it is */
  readonly guard?: (plan: RequestPlan, sent: Sent, run: ScriptRun) => Promise<void>;
}
