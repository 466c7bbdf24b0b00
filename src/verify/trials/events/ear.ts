import type { TrialCaller } from '../../exchange/callers.ts';
import type { Judgement } from '../../exchange/claim.ts';
import type { Client } from '../../exchange/client.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done, ScriptRun, Step } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import type { AskedAddress, ReceivedDelivery } from './receiver.ts';

/** What has come to somebody who listens. */
export interface Listening {
  readonly deliveries: readonly ReceivedDelivery[];
  /** The time of the service when they were looked at, in seconds; nothing where it is not known. */
  readonly nowSeconds: number | undefined;
  /** What asked the address before anything was to be delivered to it. */
  readonly asked?: readonly AskedAddress[];
  /** Whether nothing has ever come to the receiver, to whatever subscriber: perhaps nothing can. */
  readonly isUnreached?: boolean;
}

/** How long an event is waited for. */
export const eventMs = 4_000;

/** What is waited for, and how long. */
export interface Waiting {
  isEnough(deliveries: readonly ReceivedDelivery[]): boolean;
  readonly ms: number;
  /** How long it is listened on afterwards for what should not come. */
  readonly quietMs: number;
  /** Whether nothing that has to come shows by when what must not come would have: then it is listened for longer. */
  readonly isUnfenced?: boolean;
  /** Whether others have just listened for as long, and what was to come to them has come: who listens then need not wait as well. */
  readonly isAfterOthers?: boolean;
}

/** How long is waited for what does not come: many times what the slowest took to come; when it is looked at again, which is often, four times. */
export function msFor({ errand, client }: Pick<ScriptRun, 'errand' | 'client'>, { ms }: Waiting): number {
  const slowestMs = slowest.get(client);
  if (slowestMs === undefined) return ms;
  return Math.min(ms, errand === 'again' ? Math.max(600, 4 * slowestMs) : Math.max(1_500, 12 * slowestMs));
}

/** How many times as long as the slowest took is listened for what must not come, and how long at most: beside what came, and beside nothing. */
const fenced = { times: 2, mostMs: 500 };
const unfenced = { times: 6, mostMs: 2_000 };

/** How long is listened for what must not come: longer where what comes takes its time. */
export function quietFor(
  { client, errand }: Pick<ScriptRun, 'client' | 'errand'>,
  { quietMs, isUnfenced, isAfterOthers }: Waiting,
): number {
  // What is looked at again may be looked at without the others.
  if (isAfterOthers && errand !== 'again') return 0;
  const { times, mostMs } = isUnfenced ? unfenced : fenced;
  return Math.max(quietMs, Math.min(mostMs, times * (slowest.get(client) ?? 0)));
}

/** Whether anything that had to come has come in this run, so that it is known how long that takes. */
export function hasArrived({ client }: Pick<ScriptRun, 'client'>): boolean {
  return slowest.has(client);
}

const slowest = new WeakMap<Client, number>();

/** Notes how long it took until what was waited for had come. */
export function noteArrival({ client }: Pick<ScriptRun, 'client'>, tookMs: number): void {
  slowest.set(client, Math.max(slowest.get(client) ?? 0, tookMs));
}

const listening = new WeakMap<Session, Set<Ear>>();

/** Notes that somebody listens from now on, until a session ends them. */
export function listenIn<T extends Ear>(session: Session, ear: T): T {
  const known = listening.get(session) ?? new Set();
  listening.set(session, known);
  known.add(ear);
  return ear;
}

/** Ends everybody who still listens in a session: a service may let only so many, and each is told of all that comes later. */
export async function endAll(session: Session): Promise<void> {
  for (const ear of listening.get(session) ?? []) {
    listening.get(session)?.delete(ear);
    await ifTestable(ear.end(session));
  }
}

/** A trial each of whose cases ends those who listened in it, however it came out. */
export function endingAll(trial: Trial): Trial {
  return {
    ...trial,
    *cases(model) {
      for (const one of trial.cases(model)) yield { ...one, run: (session) => one.run(session).finally(() => endAll(session)) };
    },
  };
}

/** Somebody who is told of events, by web hook or on the stream. */
export interface Ear {
  /** Whose rights decide what is told. */
  readonly maker: TrialCaller | undefined;
  /** The exchange with which it began. */
  readonly opened: Done<TrialExchange>;
  /** The step that listens. `after` are the steps that have to come before it. */
  hearing(after: readonly Done<unknown>[], waiting: Waiting): Step<Listening>;
  /** Listens no more: every subscriber is told of everything that comes later. */
  end(session: Session): Promise<void>;
  /** That what comes is sent as stated. */
  judge(opened: TrialExchange, heard: Listening): Judgement;
}
