import { formatNamed } from '../../../kinds/formats/all.ts';
import { clockOperation } from '../../../parts/event-telling.ts';
import type { EventKind } from '../../../parts/events.ts';
import { entriesOf, entryOf, statedValue } from '../../../parts/fact.ts';
import type { Operation } from '../../../parts/operations.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Fresh, type Symbolic } from '../../exchange/symbol.ts';
import { lookAt } from '../../make/look.ts';
import { makeWhere } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import { isSendable } from '../../model/own-body.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { payloadFlaw, showsPayload } from './envelope.ts';
import { eventsIn, unshown } from './heard.ts';
import { anEar, canListen } from './reached.ts';

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
          const unseen = model.unseenIn(clock.of, shown.caller, fields);
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
  const unseen = model.unseenIn(clock?.of ?? '', model.readerOf(shown), resource);
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
