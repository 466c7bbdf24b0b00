import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { endsWithin } from '../../make/ends.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { rowIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { toldIn } from './envelope.ts';
import { actTwice, makerOf, type Pair, pairOf } from './pair.ts';
import { deliveryFact } from './reached.ts';
import { openEar, streaming, streamOf } from './stream-ears.ts';

/** What is told of a stream is kept as long as stated, and no longer needs to be. */
export const kept: Trial = {
  name: 'events/kept',
  part: 'events',
  about: 'Just before the stated time is over, who comes back is told what was missed; afterwards, what is still kept.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    const pair = pairOf(model);
    const keepMs = streamOf(model)?.keepMs;
    if (keepMs !== undefined && pair?.isOneRow && streaming(model).length > 0) yield caseOf(model, pair, keepMs);
  },
};

function caseOf(model: Model, pair: Pair, keepMs: number): Case {
  const { create, then, resource } = pair;
  return {
    name: `${create.name}, ${then.name}, and back after ${keepMs / 1000} s`,
    facts: [deliveryFact],
    async run(session: Session) {
      const { clock } = session.run;
      session.need(
        clock.advance !== undefined,
        `events are kept for ${keepMs / 1000} s: say how the clock is moved with --clock`,
      );
      session.need(!endsWithin(model, session, 1.5 * keepMs), 'the tokens that were given end before that');
      session.need(create.endpoint !== undefined, `no caller reaches ${create.name}`);
      const maker = makerOf(model, pair, streaming(model));
      const { ear, made, moved } = await actTwice(session, pair, () => openEar(session, maker));
      const isBoth = ({ length }: Listening['deliveries']) => length > 1;
      const heard = await session.do(ear.hearing([made, moved], { isEnough: isBoth, ms: eventMs, quietMs: 0 }));
      // What comes later may be when older events are thrown away.
      const later = (await ready(session, create.endpoint)).request;
      const still = await session.wait(Math.floor(keepMs * 0.9));
      const newest = await session.send(later);
      session.need(isDone(newest.value), `${create.name} was answered ${newest.value.status}`);
      const isTold = (all: Listening['deliveries']) => all.some((one) => isOf(model, resource, newest.value, one));
      const waiting = { isEnough: isTold, ms: eventMs, quietMs: 0 };
      const back = await openEar(session, maker, { behind: heard });
      const told = await session.do(back.hearing([still, newest], waiting));
      claimKept(session, keepMs, [heard, newest, back.opened, told]);
      const over = await session.wait(Math.ceil(keepMs * 0.2));
      const again = await openEar(session, maker, { behind: heard });
      const oldest = await session.do(again.hearing([still, newest, over], waiting));
      claimOldest(session, resource, [heard, newest, again.opened, oldest]);
    },
  };
}

/** What was heard before, the last event's request, and the coming back: how it was answered and what was told. */
type Return = readonly [Done<Listening>, Done<TrialExchange>, Done<TrialExchange>, Done<Listening>];

/** While events are kept, the one that was missed is told first. */
function claimKept(session: Session, keepMs: number, of: Return): void {
  const { model } = session;
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: 'kept',
    of,
    judge: (before: Listening, last: TrialExchange, opened: TrialExchange, after: Listening): Judgement => {
      const missed = idsIn(model, before)[1];
      if (missed === undefined || !isDone(last) || !isDone(opened)) return moot('fewer than two events came');
      if (idsIn(model, after)[0] === missed) return undefined;
      return {
        promised: `after ${0.9 * keepMs} ms of the ${keepMs} that events are kept, what was missed is told: ${missed}`,
        seen: idsIn(model, after)[0] ?? 'nothing came',
      };
    },
  });
}

/** When the event that somebody comes back behind is gone, what is still kept is told. */
function claimOldest(session: Session, resource: string, of: Return): void {
  const { model } = session;
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: 'oldest kept',
    of,
    judge: (before: Listening, last: TrialExchange, opened: TrialExchange, after: Listening): Judgement => {
      if (idsIn(model, before).length === 0 || !isDone(last) || !isDone(opened)) return moot('no event came');
      if (after.deliveries.some((one) => isOf(model, resource, last, one))) return undefined;
      return {
        promised: 'behind an event that is kept no longer comes the oldest that is',
        seen: after.deliveries.length === 0 ? 'nothing came' : idsIn(model, after).join(', '),
      };
    },
  });
}

function idsIn(model: Model, { deliveries }: Listening): (string | undefined)[] {
  return deliveries.map((one) => toldIn(model.spec, one).id);
}

/** Whether an event is about the row that was made. */
function isOf(model: Model, resource: string, made: TrialExchange, { text }: Listening['deliveries'][number]): boolean {
  const id = rowIn(made)?.[model.identifierField(resource)];
  return id !== undefined && text.includes(JSON.stringify(id));
}

/** Who comes back to the stream is told what it has missed, in order and without a gap. */
export const resuming: Trial = {
  name: 'events/resumed',
  part: 'events',
  about: 'A stream that is resumed with Last-Event-ID begins with the event behind it (WHATWG HTML section 9.2.4).',
  noise: 'alone',
  *cases(model) {
    const pair = pairOf(model);
    if (streamOf(model)?.keepMs !== undefined && pair?.isOneRow && streaming(model).length > 0) yield resumingCase(model, pair);
  },
};

function resumingCase(model: Model, pair: Pair): Case {
  return {
    name: `${pair.create.name}, ${pair.then.name}, and back with Last-Event-ID`,
    facts: [deliveryFact],
    async run(session: Session) {
      const maker = makerOf(model, pair, streaming(model));
      const { ear, made, moved } = await actTwice(session, pair, () => openEar(session, maker));
      const isEnough = ({ length }: Listening['deliveries']) => length > 1;
      const heard = await session.do(ear.hearing([made, moved], { isEnough, ms: eventMs, quietMs: 0 }));
      const again = await openEar(session, maker, { behind: heard });
      const resumed = await session.do(again.hearing([], { isEnough: ({ length }) => length > 0, ms: eventMs, quietMs: 50 }));
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: 'resumed',
        of: [ear.opened, heard, again.opened, resumed],
        judge: (one: TrialExchange, before: Listening, other: TrialExchange, after: Listening): Judgement => {
          const ids = before.deliveries.map((one) => toldIn(model.spec, one).id);
          if (![one, other].every(isDone) || ids.length < 2)
            return moot('the stream was not opened, or fewer than two events came');
          const missed = ids.slice(1);
          const told = after.deliveries.map((one) => toldIn(model.spec, one).id);
          if (missed.every((id, at) => told[at] === id)) return undefined;
          const named = (list: typeof told) => (list.length === 0 ? 'nothing' : list.join(', '));
          return { promised: `behind ${ids[0]} comes what was missed: ${named(missed)}`, seen: named(told) };
        },
      });
    },
  };
}
