import { type Expression, entryOf } from '../../../parts/fact.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { deliveryOf, toldIn } from './envelope.ts';
import { actTwice, kindNames, makerOf, type Pair, pairOf } from './pair.ts';
import { deliveryFact, hear } from './reached.ts';
import type { ReceivedDelivery } from './receiver.ts';
import { askingOf, subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** How long a wait may be that is waited out where the clock cannot be moved. */
const waitMsMost = 6_000;

const quietMs = 200;

/** What a receiver that fails is told again, in order, under one id; and what subscribers ask for and do not ask for. */
export const delivering: Trial = {
  name: 'events/delivered',
  part: 'events',
  about:
    'A delivery that is not accepted comes again under the same id, later ones wait for it; subscribers hear of the kinds they list.',
  noise: 'alone',
  *cases(model) {
    const pair = pairOf(model);
    if (!subscribersOf(model) || !pair || subscribing(model).length === 0) return;
    yield failing(model, pair);
    if (subscribersOf(model)?.events !== undefined) {
      yield choosing(model, pair);
      yield misspelt(model);
    }
    if (mayBeSwitchedOff(model)) yield switchedOff(model, pair, { enabled: false });
    for (const unmet of askingOf(model)) yield switchedOff(model, pair, { unmet });
  },
};

function failing(model: Model, pair: Pair): Case {
  return {
    name: `${pair.create.name}, ${pair.then.name}: the first delivery is answered with 500`,
    facts: [deliveryFact],
    async run(session: Session) {
      const waitMs = waitOf(model, session);
      const { clock } = session.run;
      const react = (_: unknown, earlier: readonly ReceivedDelivery[]) => (earlier.length === 0 ? 500 : 204);
      const { ear, made, moved } = await actTwice(session, pair, () =>
        subscribe(session, makerOf(model, pair, subscribing(model)), { events: ['*'], react }),
      );
      const first = await hear(session, ear, [made, moved], { isEnough: ({ length }) => length > 0, ms: eventMs, quietMs });
      const waited = await session.wait(clock.advance ? Math.ceil(waitMs * 1.25) : Math.ceil(waitMs * 0.5));
      const again = (deliveries: Listening['deliveries']) =>
        kindsIn(model, deliveries).includes(pair.second.name) && ofFirst(model, pair, deliveries).length > 1;
      const ms = clock.advance ? eventMs : Math.ceil(waitMs * 0.8) + eventMs;
      const heard = await session.do(ear.hearing([first, waited], { isEnough: again, ms, quietMs }));
      const of = [ear.opened, made, moved, heard] as const;
      for (const [reason, judge] of retryClaims(model, pair, clock.advance ? undefined : waitMs))
        session.claim({ shrinkingRuns: 2, fact: deliveryFact, reason, of, judge: whereTold(judge) });
    },
  };
}

/** The stated wait before a delivery is tried again, where it can be waited out. @throws {Untestable} */
function waitOf(model: Model, session: Session): number {
  const [waitMs] = deliveryOf(model.spec)?.push?.retryMs ?? [];
  session.need(waitMs !== undefined, 'it is not stated when a delivery is tried again');
  session.need(
    session.run.clock.advance !== undefined || waitMs <= waitMsMost,
    `a delivery is tried again after ${waitMs / 1000} s: say how the clock is moved with --clock`,
  );
  return waitMs;
}

type JudgeDeliveries = (deliveries: readonly ReceivedDelivery[]) => Judgement;

/** What is claimed of tries, by its reason. `waitMs` is the wait that went by, where the clock of the receiver tells it. */
function retryClaims(model: Model, pair: Pair, waitMs: number | undefined): (readonly [string, JudgeDeliveries])[] {
  const isInOrder = pair.isOneRow && deliveryOf(model.spec)?.push?.order !== 'any';
  return [
    ['tried again', (all) => retryJudgement(model, pair, all)],
    ['one id', (all) => oneIdJudgement(model, pair, all)],
    ...(isInOrder ? [['in order', (all: readonly ReceivedDelivery[]) => orderJudgement(model, pair, all)] as const] : []),
    ...(waitMs === undefined
      ? []
      : [['waits', (all: readonly ReceivedDelivery[]) => waitJudgement(model, pair, all, waitMs)] as const]),
  ];
}

/** Judges what came, where somebody listened to two changes and anything did. */
function whereTold(judge: JudgeDeliveries) {
  return (opened: TrialExchange, one: TrialExchange, other: TrialExchange, all: Listening): Judgement => {
    if (![opened, one, other].every(isDone)) return moot('nobody subscribed, or a change was refused');
    return all.deliveries.length === 0 ? moot('nothing came') : judge(all.deliveries);
  };
}

function choosing(model: Model, pair: Pair): Case {
  return {
    name: `a subscriber of ${pair.second.name} alone`,
    facts: [deliveryFact],
    async run(session: Session) {
      session.need(pair.first.name !== pair.second.name, 'there is one kind of event');
      const { ear, made, moved } = await actTwice(session, pair, () =>
        subscribe(session, makerOf(model, pair, subscribing(model)), { events: [pair.second.name] }),
      );
      const isEnough = (deliveries: Listening['deliveries']) => kindsIn(model, deliveries).includes(pair.second.name);
      const heard = await hear(session, ear, [made, moved], { isEnough, ms: eventMs, quietMs });
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: 'kinds that are asked for',
        of: [ear.opened, made, moved, heard],
        judge: (opened: TrialExchange, one: TrialExchange, other: TrialExchange, all: Listening): Judgement => {
          if (![opened, one, other].every(isDone)) return moot('nobody subscribed, or a change was refused');
          const kinds = kindsIn(model, all.deliveries);
          if (kinds.includes(pair.first.name))
            return { promised: `who asks for ${pair.second.name} hears of nothing else`, seen: kinds.join(', ') };
          return kinds.length > 0 ? undefined : moot('nothing came');
        },
      });
    },
  };
}

/** Whether somebody may say of a new subscriber that nothing is sent to it: else it is as the service has it. */
function mayBeSwitchedOff(model: Model): boolean {
  const { resource = '', enabled } = subscribersOf(model) ?? {};
  const [name = ''] = enabled?.split('.') ?? [];
  const field = entryOf(model.resource(resource)?.fields, name);
  return field !== undefined && !field.readOnly;
}

function misspelt(model: Model): Case {
  return {
    name: 'a subscriber of a kind that there is not',
    facts: [deliveryFact],
    async run(session: Session) {
      const field = subscribersOf(model)?.events ?? '';
      const [maker] = subscribing(model);
      const good = await subscribe(session, maker, { events: [kindNames(model)[0] ?? '*'] });
      const { endpoint, sent } = good.opened.value;
      session.need(endpoint !== undefined, 'nobody can subscribe');
      const json = { ...(typeof sent.json === 'object' ? (sent.json as object) : {}), [field]: ['ninefold.verify'] };
      const done = await session.send(model.request(endpoint, { path: sent.path, caller: maker, json }));
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: 'unknown kind',
        of: [good.opened, done],
        judge: (one: TrialExchange, other: TrialExchange): Judgement => {
          if (!isDone(one)) return moot('a good one is refused too');
          return isDone(other)
            ? { promised: 'a kind that there is not is `request.invalid`', seen: `it was answered ${other.status}` }
            : undefined;
        },
      });
    },
  };
}

function switchedOff(model: Model, pair: Pair, how: { readonly enabled?: boolean; readonly unmet?: Expression }): Case {
  return {
    name: `a subscriber that ${how.unmet ? `asks for nothing by ${how.unmet.source}` : 'is switched off'}, beside one of everything`,
    facts: [deliveryFact],
    async run(session: Session) {
      const maker = makerOf(model, pair, subscribing(model));
      const { ear, made, moved } = await actTwice(session, pair, async () => ({
        on: await subscribe(session, maker, { events: ['*'] }),
        off: await subscribe(session, maker, { events: ['*'], ...how }),
      }));
      const isEnough = (deliveries: Listening['deliveries']) => kindsIn(model, deliveries).includes(pair.second.name);
      const loud = await hear(session, ear.on, [made, moved], { isEnough, ms: eventMs, quietMs });
      const still = await session.do(ear.off.hearing([loud], { isEnough: () => true, ms: 0, quietMs: 0 }));
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: how.unmet ? 'asks for nothing' : 'switched off',
        of: [ear.off.opened, loud, still],
        judge: (opened: TrialExchange, others: Listening, own: Listening): Judgement => {
          if (!isDone(opened) || others.deliveries.length === 0) return moot('nobody was told of anything');
          if (own.deliveries.length === 0) return undefined;
          return {
            promised: `who ${how.unmet ? 'asks for nothing' : 'is not enabled'} hears of nothing`,
            seen: kindsIn(model, own.deliveries).join(', '),
          };
        },
      });
    },
  };
}

/** The kinds of what came, in order. */
function kindsIn(model: Model, deliveries: readonly ReceivedDelivery[]): (string | undefined)[] {
  return deliveries.map((one) => toldIn(model.spec, one).kind);
}

function ofFirst(model: Model, { first }: Pick<Pair, 'first'>, deliveries: readonly ReceivedDelivery[]): ReceivedDelivery[] {
  return deliveries.filter((one) => toldIn(model.spec, one).kind === first.name);
}

/** What was not accepted comes again. */
function retryJudgement(model: Model, pair: Pair, deliveries: readonly ReceivedDelivery[]): Judgement {
  const tries = ofFirst(model, pair, deliveries);
  if (tries[0] === undefined || tries[0].status < 300) return moot('the first one was not refused');
  return tries.length > 1
    ? undefined
    : { promised: `what was answered ${tries[0].status} is tried again after the stated wait`, seen: 'it came once' };
}

/** The envelope of a try is that of the first one, and so is what it is told apart by, and what headers tell of the event. */
export function oneIdJudgement(model: Model, pair: Pick<Pair, 'first'>, deliveries: readonly ReceivedDelivery[]): Judgement {
  const [first, second] = ofFirst(model, pair, deliveries);
  if (!first || !second || first.status < 300) return moot('it was not tried again');
  const ids = [first, second].map((one) => toldIn(model.spec, one).id ?? one.headers['webhook-id']);
  if (ids[0] !== ids[1]) return { promised: `every try has one id: ${ids[0]}`, seen: ids[1] ?? 'none' };
  const stated = Object.keys(deliveryOf(model.spec)?.push?.headers ?? {}).map((name) => name.toLowerCase());
  const other = ['webhook-id', ...stated].find((name) => first.headers[name] !== second.headers[name]);
  if (other === undefined) return undefined;
  return { promised: `every try has one ${other}: ${first.headers[other]}`, seen: second.headers[other] ?? 'none' };
}

/** A later event of the same row waits until the earlier one is accepted. */
function orderJudgement(model: Model, pair: Pair, deliveries: readonly ReceivedDelivery[]): Judgement {
  const kinds = kindsIn(model, deliveries);
  const later = kinds.indexOf(pair.second.name);
  if (later < 0) return moot('the later one has not come');
  const accepted = deliveries.findIndex(({ status }, at) => kinds[at] === pair.first.name && status < 300);
  if (accepted >= 0 && accepted < later) return undefined;
  return {
    promised: `${pair.second.name} waits until ${pair.first.name} of the same row is accepted`,
    seen: `they came as ${kinds.join(', ')}, the first of them refused`,
  };
}

/** It does not come again long before the stated wait is over. */
function waitJudgement(model: Model, pair: Pair, deliveries: readonly ReceivedDelivery[], waitMs: number): Judgement {
  const [first, second] = ofFirst(model, pair, deliveries);
  if (!first || !second || first.status < 300) return moot('it was not tried again');
  const tookMs = second.atMs - first.atMs;
  if (tookMs >= waitMs / 2) return undefined;
  return { promised: `it is tried again after ${waitMs} ms`, seen: `it came again after ${tookMs} ms` };
}
