import { setTimeout as pause } from 'node:timers/promises';
import { formatNamed } from '../../../kinds/formats/all.ts';
import { clockOperation } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { type Expression, entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import { type Operation, operationsOf } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { identifierField } from '../../make/callers-for.ts';
import { endsWithin } from '../../make/ends.ts';
import { lookAt } from '../../make/look.ts';
import { makeWhere } from '../../make/row-where.ts';
import { dueIn } from '../../make/walk.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { rowIn } from '../../model/row-shown.ts';
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
      const isEnough = (all: Listening['deliveries']) =>
        eventsOf(model, kind, resource, look.done.value, { deliveries: all, nowSeconds: undefined }).length > 0;
      const heard = await hear(session, ear, [waited, look.done], { isEnough, ms: eventMs, quietMs: 100 });
      // By then what is told to others has come as well.
      const heardToo = other && (await hear(session, other, [waited, look.done, heard], { isEnough, ms: soonMs, quietMs: 0 }));
      session.claim({
        shrinkingRuns: 2,
        fact,
        reason: operation.name,
        of: [ear.opened, look.done, heard],
        judge: (opened: TrialExchange, shown: TrialExchange, all: Listening): Judgement => {
          if (!isDone(opened) || !hasMoved(operation, shown)) return moot('nobody listened, or the clock has not fired it');
          if (kind.if && !isMetBy(model, operation, kind.if, shown)) return moot('whether its condition holds is not known');
          return oneJudgement(model, kind, operation, eventsOf(model, kind, resource, shown, all).length, all);
        },
      });
      const judgeKinds = (all: Listening) => kindsJudgement(model, { heard: all });
      session.claim({ shrinkingRuns: 2, fact: kindsFact, reason: 'kinds', of: [heard], judge: judgeKinds });
      for (const [by, all] of [[ear, heard], ...(other && heardToo ? [[other, heardToo] as const] : [])] as const)
        claimPayload(session, { operation, kind, resource }, { by, look: look.done, all });
    },
  };
}

/** Claims that what a subscriber is told of what the clock did is the row as it is then, without what is not shown to it. */
function claimPayload(
  session: Session,
  { operation, kind, resource }: { readonly operation: Operation; readonly kind: EventKind; readonly resource: string },
  { by, look, all }: { readonly by: Ear; readonly look: Done<TrialExchange>; readonly all: Done<Listening> },
): void {
  const { model } = session;
  session.claim({
    shrinkingRuns: 2,
    fact: { kind: 'payload shapes', subject: kind.name },
    reason: operation.name,
    of: [by.opened, look, all] as const,
    judge: (opened: TrialExchange, shown: TrialExchange, came: Listening): Judgement => {
      const [event] = eventsOf(model, kind, resource, shown, came);
      if (!isDone(opened) || !hasMoved(operation, shown) || !event) return moot('nothing came');
      const unseen = model.unseenBy(resource, shown.caller);
      const change = { operation, before: undefined, after: rowIn(shown), acted: shown, unseen, beside: [] };
      if (!showsPayload(model.spec)) return moot(unshown);
      return payloadFlaw(model, kind, event.payload, change, by.maker);
    },
  });
}

/** A row in a state that the transition leaves. */
function rowBefore(session: Session, { transition, resource = '' }: Operation): Promise<TrialRow> {
  const from = transition?.from;
  const state = from === undefined || from === '*' ? undefined : from[0];
  const wanted = state === undefined ? {} : { state };
  return transition?.if ? makeWhere(session, resource, wanted, transition.if, true) : session.make(resource, wanted);
}

/** Whether the condition of an event holds of the row that the clock has moved. */
function isMetBy(model: Model, { name, resource = '' }: Operation, condition: Expression, shown: TrialExchange): boolean {
  const next = rowIn(shown);
  if (!next) return false;
  const unseen = { next: model.unseenBy(resource, shown.caller) };
  const evaluated = model.expressions.evaluate(condition, name, { context: { next }, unseen });
  return typeof evaluated === 'object' && evaluated.value === true;
}

/** The events of a kind about the row that was shown: the clock moves others too. */
function eventsOf(model: Model, kind: EventKind, resource: string, shown: TrialExchange, { deliveries }: Listening) {
  const id = rowIn(shown)?.[identifierField(model, resource)];
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
function hasMoved({ transition }: Operation, { text }: TrialExchange): boolean {
  return (transition?.to ?? []).some(({ state }) => text.includes(`"${state}"`));
}

const dayMs = 86_400_000;
/** How far ahead the times of rows lie that are made for this. */
const aheadMs = 30 * dayMs;
const quietMs = 200;
/** How long before its time an event must not be there. */
const earlyMs = 3_600_000;

type Clock = NonNullable<EventKind['clock']>;

/** What the clock tells of rows comes at their times, once. */
export const toldByClock: Trial = {
  name: 'events/at a time',
  part: 'events',
  about: 'An event that the clock tells of a row comes once, at the time that is stated, and not before.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    if (!canListen(model)) return;
    for (const [, kind] of entriesOf(model.spec.events.kinds))
      if (kind.clock && !kind.to) yield toldCase(model, kind, kind.clock);
  },
};

function toldCase(model: Model, kind: EventKind, clock: Clock): Case {
  const fact = { kind: 'emitting operations', subject: kind.name };
  return {
    name: `${kind.name}, at ${clock.at.source}`,
    facts: [fact, { kind: 'payload shapes', subject: kind.name }],
    async run(session: Session) {
      session.need(session.run.clock.advance !== undefined, 'it comes later: say how the clock is moved with --clock');
      const wanted = { style: 'full', body: timesAhead(session, clock) } as const;
      const row = kind.if ? await makeWhere(session, clock.of, wanted, kind.if, true) : await session.make(clock.of, wanted);
      const look = await lookAt(session, row);
      const dueMs = dueOf(session, clock, row);
      session.need(dueMs !== undefined && dueMs > 2 * earlyMs, 'when it is due is not shown, or is over');
      const [before, ear] = [await anEar(session, row.caller), await anEar(session, row.caller)];
      const nearly = await session.wait(dueMs - earlyMs);
      const none = await session.do(before.hearing([look.done, nearly], { isEnough: () => false, ms: 0, quietMs }));
      const waited = await session.wait(earlyMs + 1_000);
      const isEnough = (deliveries: Listening['deliveries']) => about(model, kind, look.done.value, deliveries).length > 0;
      const heard = await session.do(ear.hearing([none, waited], { isEnough, ms: eventMs, quietMs }));
      const since = (await lookAt(session, row)).done;
      session.claim({
        shrinkingRuns: 2,
        fact,
        reason: 'at its time',
        of: [ear.opened, look.done, none, heard, since],
        judge: (
          opened: TrialExchange,
          shown: TrialExchange,
          early: Listening,
          all: Listening,
          then: TrialExchange,
        ): Judgement => {
          if (!isDone(opened) || !isDone(shown)) return moot('nobody listened, or the row is not shown');
          if (kind.if && ![shown, then].every((one) => isSo(model, kind, one)))
            return moot('its condition may not have held all the time');
          const tooEarly = about(model, kind, shown, early.deliveries).length;
          if (tooEarly > 0) return { promised: `${kind.name} comes at ${clock.at.source}`, seen: 'it came an hour before' };
          const count = about(model, kind, shown, all.deliveries).length;
          return count === 1 ? undefined : { promised: `the clock tells of one ${kind.name}`, seen: `${count} came` };
        },
      });
      session.claim({
        shrinkingRuns: 2,
        fact: { kind: 'payload shapes', subject: kind.name },
        reason: 'payload',
        of: [look.done, heard],
        judge: (shown: TrialExchange, all: Listening): Judgement => {
          const [event] = about(model, kind, shown, all.deliveries);
          const fields = rowIn(shown);
          if (!event || !fields) return moot('nothing came');
          if (!showsPayload(model.spec)) return moot(unshown);
          const operation: Operation = { name: clockOperation(kind.name), resource: clock.of };
          const unseen = model.unseenBy(clock.of, shown.caller);
          const change = { operation, before: fields, after: fields, acted: shown, unseen, beside: [] };
          return payloadFlaw(model, kind, event.payload, change, ear.maker);
        },
      });
    },
  };
}

/** Times to come for what the time of an event is reckoned of. */
function timesAhead({ model, run }: Session, { of, at }: Clock): Record<string, Symbolic> {
  const out: Record<string, Symbolic> = {};
  for (const { root, path } of model.expressions.readsOf(at, undefined)) {
    const [name = ''] = path;
    const shape = statedValue(entryOf(model.resource(of)?.fields, name)?.shape);
    const isTime = shape?.type === 'string' && formatNamed(shape.format)?.time !== undefined;
    if (root === 'resource' && path.length === 1 && isTime && isSendable(model, of, name))
      out[name] = new Fresh(() => new Date(run.clock.toService(Date.now()) + aheadMs).toISOString());
  }
  return out;
}

/** How long it is until the event is due for a row; nothing where that is not seen. */
function dueOf({ model, run }: Session, { at }: Clock, { fields }: TrialRow): number | undefined {
  const evaluated = fields && model.expressions.evaluate(at, undefined, { context: { resource: fields } });
  const atMs = typeof evaluated === 'object' ? Date.parse(asText(evaluated.value)) : Number.NaN;
  return Number.isFinite(atMs) ? atMs - run.clock.toService(Date.now()) : undefined;
}

/** Whether the condition of what the clock tells of holds of a row as it is shown. */
function isSo(model: Model, { if: condition, clock }: EventKind, shown: TrialExchange): boolean {
  const resource = rowIn(shown);
  if (!condition || !resource) return false;
  const unseen = model.unseenBy(clock?.of ?? '', model.readerOf(shown));
  const known = { context: { resource, next: resource }, unseen: { resource: unseen, next: unseen } };
  const evaluated = model.expressions.evaluate(condition, undefined, known);
  return typeof evaluated === 'object' && evaluated.value === true;
}

/** The events of a kind about the row that was shown. */
function about(model: Model, kind: EventKind, shown: TrialExchange, deliveries: Listening['deliveries']) {
  const id = rowIn(shown)?.[model.identifierField(kind.clock?.of ?? '')];
  return eventsIn(model, deliveries).filter(
    ({ kind: name, payload, delivery }) =>
      name === kind.name && (payload === undefined ? delivery.text : JSON.stringify(payload)).includes(asText(id)),
  );
}
