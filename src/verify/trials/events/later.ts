import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../../document/document.ts';
import type { EventKind } from '../../../parts/events.ts';
import type { Expression } from '../../../parts/fact.ts';
import { type Operation, operationsOf } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { identifierField } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { makeWhere } from '../../make/row-where.ts';
import { dueIn } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowIn, rowWith, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { type Ear, eventMs, type Listening } from './ear.ts';
import { payloadFlaw, showsPayload, toldIn } from './envelope.ts';
import { kindsOn } from './expected.ts';
import { eventsIn, isNameless, kindsJudgement, nameless, unshown } from './heard.ts';
import { anEar, canListen, hear, kindsFact } from './reached.ts';
import { subscribe } from './subscribing.ts';
import { toldLess } from './told-less.ts';

/** What the clock does is told as what callers do. */
export const later: Trial = {
  name: 'events/by the clock',
  part: 'events',
  about: 'A transition that the clock fires emits its events.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    if (!canListen(model)) return;
    for (const operation of operationsOf(model.spec)) {
      const { transition } = operation;
      if (operation.by !== 'clock' || !(transition?.after ?? transition?.atTime)) continue;
      for (const kind of kindsOn(model, operation)) if (!kind.to) yield caseOf(model, operation, kind);
    }
  },
};

/** How long is waited for what comes beside what came. */
const soonMs = 400;

function caseOf(model: Model, operation: Operation, kind: EventKind): Case {
  const { after, atTime } = operation.transition ?? {};
  const when = after ? `${after.ms / 1000} s later` : `at ${atTime?.source}`;
  const fact = { kind: 'emitting operations', subject: kind.name };
  return {
    name: `${operation.name}, ${when}`,
    facts: [fact, { kind: 'payload shapes', subject: kind.name }],
    async run(session: Session) {
      session.need(session.run.clock.advance !== undefined, `it comes ${when}: say how the clock is moved with --clock`);
      const row = await rowBefore(session, operation);
      const { resource } = row;
      await lookAt(session, row);
      const afterMs = operation.transition && dueIn(session, row, operation.transition);
      session.need(afterMs !== undefined && afterMs > 0, `when ${operation.name} is due is not shown, or over already`);
      session.need(!endsWithin(model, session, afterMs), 'the tokens that were given end before that');
      const ear = await anEar(session, row.caller);
      const [shownLess] = toldLess(model, kind);
      const other = shownLess && (await ifTestable(subscribe(session, shownLess, { events: ['*'] })));
      const waited = await session.wait(afterMs + 1_000);
      let look = await lookAt(session, row);
      // Where much falls due at once it takes its time.
      for (let looks = 0; looks < 10 && !hasMoved(operation, look.done.value); looks++) {
        await pause(100);
        look = await lookAt(session, row);
      }
      const made = row.made ? [row.made] : [];
      const field = identifierField(model, resource);
      const isEnough = (all: Listening['deliveries']) =>
        eventsOf(model, kind, movedRow(model, resource, look.done.value, row.made?.value)?.[field], all).length > 0;
      const heard = await hear(session, ear, [waited, look.done], { isEnough, ms: eventMs, quietMs: 100 });
      // By then what is told to others has come as well.
      const heardToo = other && (await hear(session, other, [waited, look.done, heard], { isEnough, ms: soonMs, quietMs: 0 }));
      session.claim<readonly [TrialExchange, TrialExchange, Listening, ...TrialExchange[]]>({
        shrinkingRuns: 2,
        fact,
        reason: operation.name,
        // What a list shows of it is told from others by what made it.
        of: [ear.opened, look.done, heard, ...made],
        judge(opened, shown, all, creation): Judgement {
          const moved = movedRow(model, resource, shown, creation);
          if (!isDone(opened) || !hasMoved(operation, shown)) return moot('nobody listened, or the clock has not fired it');
          if (!moved) return moot('the row is not shown');
          if (kind.if && !isMetBy(model, operation, kind.if, shown, moved))
            return moot('whether its condition holds is not known');
          return oneJudgement(model, kind, operation, eventsOf(model, kind, moved[field], all.deliveries).length, all);
        },
      });
      const judgeKinds = (all: Listening) => kindsJudgement(model, { heard: all });
      session.claim({ shrinkingRuns: 2, fact: kindsFact, reason: 'kinds', of: [heard], judge: judgeKinds });
      for (const [by, all] of [[ear, heard], ...(other && heardToo ? [[other, heardToo] as const] : [])] as const)
        claimPayload(session, { operation, kind, resource }, { by, look: look.done, all, made });
    },
  };
}

/** Claims that what a subscriber is told of what the clock did is the row as it is then, without what is not shown to it. */
function claimPayload(
  session: Session,
  { operation, kind, resource }: { readonly operation: Operation; readonly kind: EventKind; readonly resource: string },
  {
    by,
    look,
    all,
    made,
  }: {
    readonly by: Ear;
    readonly look: Done<TrialExchange>;
    readonly all: Done<Listening>;
    readonly made: readonly Done<TrialExchange>[];
  },
): void {
  const { model } = session;
  session.claim<readonly [TrialExchange, TrialExchange, Listening, ...TrialExchange[]]>({
    shrinkingRuns: 2,
    fact: { kind: 'payload shapes', subject: kind.name },
    reason: operation.name,
    of: [by.opened, look, all, ...made],
    judge(opened, shown, came, creation): Judgement {
      const after = movedRow(model, resource, shown, creation);
      const [event] = eventsOf(model, kind, after?.[identifierField(model, resource)], came.deliveries);
      if (!isDone(opened) || !hasMoved(operation, shown) || !event) return moot('nothing came');
      const unseen = model.unseenIn(resource, shown.caller, after);
      const change = { operation, before: undefined, after, acted: shown, unseen, beside: [] };
      if (!showsPayload(model.spec)) return moot(unshown);
      return payloadFlaw(model, kind, event.payload, change, by.maker);
    },
  });
}

/** A row in a state that the transition leaves. */
export function rowBefore(session: Session, { transition, resource = '' }: Operation): Promise<TrialRow> {
  const from = transition?.from;
  const state = from === undefined || from === '*' ? undefined : from[0];
  const wanted = state === undefined ? {} : { state };
  return transition?.if ? makeWhere(session, resource, wanted, transition.if, true) : session.make(resource, wanted);
}

/** Whether the condition of an event holds of the row that the clock has moved. */
export function isMetBy(
  model: Model,
  { name, resource = '' }: Operation,
  condition: Expression,
  shown: TrialExchange,
  next: ShownFields | undefined = rowIn(shown),
): boolean {
  if (!next) return false;
  const unseen = { next: model.unseenIn(resource, shown.caller, next) };
  const evaluated = model.expressions.evaluate(condition, name, { context: { next }, unseen });
  return typeof evaluated === 'object' && evaluated.value === true;
}

/** The row that the clock has moved: alone in its answer, or in a list among others, where it is known by what made it. */
function movedRow(
  model: Model,
  resource: string,
  shown: TrialExchange,
  creation: TrialExchange | undefined,
): ShownFields | undefined {
  const row = rowIn(shown);
  if (row?.[identifierField(model, resource)] !== undefined) return row;
  return creation && rowWith(model, shown, idIn(model, creation));
}

/** The events of a kind about the row that was shown: the clock moves others too. */
function eventsOf(
  model: Model,
  kind: EventKind,
  id: Json | undefined,
  deliveries: Listening['deliveries'],
): ReturnType<typeof eventsIn> {
  return eventsIn(model, deliveries.filter(kindIn(model, kind))).filter(({ payload, delivery }) =>
    (payload === undefined ? delivery.text : JSON.stringify(payload)).includes(asText(id)),
  );
}

/** That one came, unless what came says of no kind. */
function oneJudgement(model: Model, kind: EventKind, { name }: Operation, count: number, { deliveries }: Listening): Judgement {
  if (count === 0 && isNameless(model, eventsIn(model, deliveries))) return moot(nameless);
  return count === 1 ? undefined : { promised: `${name} emits one ${kind.name}`, seen: `${count} came` };
}

function kindIn(model: Model, kind: EventKind): (delivery: Listening['deliveries'][number]) => boolean {
  return (one) => toldIn(model.spec, one).kind === kind.name;
}

/** Whether a row is in a state that the transition leads to. */
export function hasMoved({ transition }: Operation, { text }: TrialExchange): boolean {
  return (transition?.to ?? []).some(({ state }) => text.includes(`"${state}"`));
}
