import type { EventKind } from '../../../parts/events.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { Judgement } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { creationsOf } from '../../make/made.ts';
import type { Model } from '../../model/model.ts';
import { rowIn, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { type Ear, eventMs, type Listening as Heard, hasArrived, type Waiting } from './ear.ts';
import {
  type ChangeHeard,
  emissionJudgement,
  eventsIn,
  kindsJudgement,
  payloadJudgement,
  silenceShown,
  strangerJudgement,
} from './heard.ts';
import { deliveryFact, hearAll, kindsFact } from './reached.ts';

/** How long it is listened for what must not come. */
const quietMs = 120;

/** What was done, and what showed the row before. */
export interface Acted {
  readonly operation: Operation;
  readonly kinds: readonly EventKind[];
  readonly shown: { readonly done: Done<TrialExchange>; readonly fields?: ShownFields | undefined } | undefined;
  readonly acted: Done<TrialExchange>;
  /** What is claimed of it, where that is no usual look. */
  readonly reason?: string;
}

/** Everybody listens to what comes of a change, and is held to have heard what is stated. @throws {Untestable} */
export async function listenTo(
  session: Session,
  { operation, kinds, shown, acted, reason = 'emitted' }: Acted,
  ears: readonly Ear[],
): Promise<void> {
  const { model } = session;
  const row = { ...shown?.fields, ...(isDone(acted.value) ? rowIn(acted.value) : {}) };
  const beside = creationsOf(session, operation.resource ?? '', row);
  const listenings = ears.map((ear) => {
    const one = { operation, kinds, ear, shown: shown?.done, acted, beside, reason };
    return { ...one, waiting: waitingFor(model, one) };
  });
  const after = [...(shown ? [shown.done] : []), acted];
  const hear = async (some: readonly Awaiting[], more: Partial<Waiting> = {}) => {
    const heard = await hearAll(
      session,
      some.map(({ ear, waiting }) => ({ ear, after, waiting: { ...waiting, ...more } })),
    );
    // The cast holds: each of them has heard something.
    return some.map((one, at) => ({ one, heard: heard[at] as Done<Heard> }));
  };
  // Who has to hear of it does so first: by then what others must not hear of would have come.
  const told = await hear(listenings.filter(({ waiting }) => waiting.ms > 0));
  const isFenced = told.some(({ one, heard }) => one.waiting.isEnough(heard.value.deliveries));
  const untold = await hear(
    listenings.filter(({ waiting }) => waiting.ms === 0),
    isFenced ? { isAfterOthers: true } : { isUnfenced: true },
  );
  const isSilence = told.length > 0 ? isFenced : hasArrived(session.run);
  for (const { one, heard } of told) judgeAll(session, one, heard, true);
  for (const { one, heard } of untold) judgeAll(session, one, heard, isSilence);
}

interface Listening {
  readonly operation: Operation;
  readonly kinds: readonly EventKind[];
  readonly ear: Ear;
  readonly shown: Done<TrialExchange> | undefined;
  readonly acted: Done<TrialExchange>;
  readonly beside: readonly Done<TrialExchange>[];
  readonly reason: string;
}

/** Somebody who listens, and what it waits for. */
interface Awaiting extends Listening {
  readonly waiting: Waiting;
}

/** A subscriber waits for what has to come, and listens a moment longer for what must not. */
function waitingFor(model: Model, { operation, kinds, ear, shown, acted, beside }: Listening): Waiting {
  const nothing = { deliveries: [], nowSeconds: undefined };
  const wanted = kinds.filter((kind) => {
    const others = beside.map(({ value }) => value);
    const seen = { created: ear.opened.value, shown: shown?.value, acted: acted.value, heard: nothing, beside: others };
    // Nothing has come yet, so what is missed by now is what has to come.
    const judged = emissionJudgement(model, operation, kind, ear.maker, seen);
    return judged !== undefined && 'promised' in judged;
  });
  const isEnough = (deliveries: Heard['deliveries']) => {
    const came = new Set(eventsIn(model, deliveries).map((event) => event.kind));
    return wanted.every(({ name }) => came.has(name));
  };
  return { isEnough, ms: wanted.length === 0 ? 0 : eventMs, quietMs };
}

/** The exchange that subscribed, one that showed the row, the change, what was heard of it, and what made the row and those that it refers to. */
type Seen = readonly [TrialExchange, TrialExchange, TrialExchange, Heard, ...TrialExchange[]];

/** Holds what one subscriber was told of a change to everything that is stated of it; where nothing came, `isSilence` says whether that shows anything. */
function judgeAll(
  session: Session,
  { operation, kinds, ear, shown, acted, beside, reason }: Listening,
  heard: Done<Heard>,
  isSilence: boolean,
): void {
  const { model } = session;
  const { maker, opened: created } = ear;
  const of = [created, shown ?? created, acted, heard, ...beside] as const;
  const seenIn = (...[one, look, act, come, ...others]: Seen): ChangeHeard => ({
    created: one,
    shown: shown && look,
    acted: act,
    heard: come,
    beside: others,
  });
  for (const kind of kinds) {
    const judge = (...all: Seen): Judgement =>
      silenceShown(emissionJudgement(model, operation, kind, maker, seenIn(...all)), isSilence);
    session.claim({ shrinkingRuns: 2, fact: { kind: 'emitting operations', subject: kind.name }, reason, of, judge });
    const judgePayload = (...all: Seen): Judgement => payloadJudgement(model, operation, kind, maker, seenIn(...all));
    session.claim({
      shrinkingRuns: 2,
      fact: { kind: 'payload shapes', subject: kind.name },
      reason: 'payload',
      of,
      judge: judgePayload,
    });
  }
  const judgeKinds = (...all: Seen) => kindsJudgement(model, seenIn(...all));
  session.claim({ shrinkingRuns: 2, fact: kindsFact, reason: 'kinds', of, judge: judgeKinds });
  const judgeDelivery = (one: TrialExchange, come: Heard) => ear.judge(one, come);
  session.claim({ shrinkingRuns: 2, fact: deliveryFact, reason: 'sent as stated', of: [created, heard], judge: judgeDelivery });
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: 'to nobody else',
    of,
    judge: (...all) => silenceShown(strangerJudgement(model, operation, kinds, maker, seenIn(...all)), isSilence),
  });
}
