import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../../document/document.ts';
import { along } from '../../../parts/reach.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { endsWithin } from '../../make/ends.ts';
import { type Look, lookAt } from '../../make/look.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { eventMs, type Listening } from './ear.ts';
import { deliveryOf, toldIn } from './envelope.ts';
import { actTwice, makerOf, type Pair, pairOf } from './pair.ts';
import { deliveryFact, hear } from './reached.ts';
import { type SubscribedEar, subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** The reason of such a claim. */
export const triedToTheEnd = 'tried as often as stated';
/** The longest that tries may take together. */
const totalMsMost = 4 * 86_400_000;
const quietMs = 150;

/** What is never accepted is tried again after each of the stated waits. */
export const allTries: Trial = {
  name: 'events/tries',
  part: 'events',
  about:
    'A delivery that is never accepted comes again after each stated wait, the last of them too, and not long before it is over.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    const pair = pairOf(model);
    const waits = waitsOf(model);
    if (pair && waits.length > 1) yield caseOf(model, pair, waits);
  },
};

/** The stated waits, where a subscriber is not disabled before they are over; the first alone is another trial's. */
export function waitsOf(model: Model): readonly number[] {
  const { retryMs = [], disableAfterMs = Number.POSITIVE_INFINITY } = deliveryOf(model.spec)?.push ?? {};
  if (!subscribersOf(model) || subscribing(model).length === 0) return [];
  let totalMs = 0;
  return retryMs.filter((ms) => {
    totalMs += 1.3 * ms;
    return totalMs < Math.min(totalMsMost, disableAfterMs);
  });
}

function caseOf(model: Model, pair: Pair, waits: readonly number[]): Case {
  const triesIn = ({ deliveries }: Pick<Listening, 'deliveries'>) =>
    deliveries.filter((one) => toldIn(model.spec, one).kind === pair.first.name).length;
  return {
    name: `${pair.create.name}, and nothing is accepted until all ${waits.length} waits are over`,
    facts: [deliveryFact],
    async run(session: Session) {
      const { clock } = session.run;
      const totalMs = waits.reduce((sum, ms) => sum + 1.3 * ms, 0);
      session.need(
        clock.advance !== undefined,
        `it takes ${Math.ceil(totalMs / 1000)} s: say how the clock is moved with --clock`,
      );
      session.need(!endsWithin(model, session, totalMs), 'the tokens that were given end before that');
      const { ear, made, moved } = await actTwice(session, pair, () =>
        subscribe(session, makerOf(model, pair, subscribing(model)), { events: ['*'], react: () => 500 }),
      );
      let heard = await hear(session, ear, [made, moved], { isEnough: ({ length }) => length > 0, ms: eventMs, quietMs });
      const steps: Done<unknown>[] = [heard];
      const waited: Done<null>[] = [];
      for (const [at, waitMs] of waits.entries()) {
        // Of a short wait what is heard and looked at takes the rest.
        const earlyMs = waitMs < earlyLeastMs ? 0 : Math.floor(waitMs * earlyPart);
        if (earlyMs > 0) {
          const nearly = await session.wait(earlyMs);
          const early = await session.do(ear.hearing([...steps, nearly], { isEnough: () => false, ms: 0, quietMs }));
          claimNotBefore(session, { opened: ear.opened, early, nearly }, { tries: at + 1, waitMs, triesIn });
          steps.push(nearly, early);
          waited.push(nearly);
        }
        waited.push(await session.wait(Math.ceil(waitMs * 1.25) - earlyMs));
        steps.push(...waited.slice(-1));
        const isEnough = (deliveries: Listening['deliveries']) => triesIn({ deliveries }) > at + 1;
        heard = await session.do(ear.hearing(steps, { isEnough, ms: eventMs / 4, quietMs }));
        steps.push(heard);
        if (triesIn(heard.value) < at + 2) break;
      }
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: triedToTheEnd,
        // Without the waits nothing would have to come again.
        of: [ear.opened, made, heard, ...waited] as const,
        judge: (opened: TrialExchange, change: TrialExchange, all: Listening, ..._waited: readonly null[]): Judgement => {
          const tries = triesIn(all);
          if (!isDone(opened) || !isDone(change) || tries === 0) return moot('nobody subscribed, or nothing came');
          if (tries > waits.length) return undefined;
          return { promised: `${waits.length + 1} tries of what is never accepted`, seen: `${tries} came` };
        },
      });
    },
  };
}

/** Waits are moved by up to a fifth: by this part of one nothing comes again. */
const earlyPart = 0.7;
const earlyLeastMs = 10_000;

/** Claims that no further try comes before its wait is nearly over. */
function claimNotBefore(
  session: Session,
  {
    opened,
    early,
    nearly,
  }: { readonly opened: Done<TrialExchange>; readonly early: Done<Listening>; readonly nearly: Done<null> },
  { tries, waitMs, triesIn }: { readonly tries: number; readonly waitMs: number; triesIn(all: Listening): number },
): void {
  session.claim({
    shrinkingRuns: 2,
    fact: deliveryFact,
    reason: 'no try before its wait',
    of: [opened, early, nearly] as const,
    judge: (subscribed: TrialExchange, all: Listening, _nearly: null): Judgement => {
      const seen = triesIn(all);
      if (!isDone(subscribed) || seen < tries) return moot('fewer tries came before');
      if (seen === tries) return undefined;
      return {
        promised: `try ${tries + 1} some ${waitMs / 1000} s after the one before it`,
        seen: `it came within ${earlyPart} of that`,
      };
    },
  });
}

/** Who accepts nothing for so long is told of nothing any more. */
export const disabling: Trial = {
  name: 'events/disabled',
  part: 'events',
  about: 'A subscriber with nothing but failures is disabled after the stated time, and not before half of it.',
  noise: 'loud',
  movesClock: true,
  *cases(model) {
    const pair = pairOf(model);
    const afterMs = deliveryOf(model.spec)?.push?.disableAfterMs;
    const enabled = subscribersOf(model)?.enabled;
    if (afterMs === undefined || enabled === undefined || !pair || subscribing(model).length === 0) return;
    yield disablingCase(model, pair, afterMs, enabled);
  },
};

/** How long is waited after a try until what came of it has been written down. */
const disablingQuietMs = 250;

function disablingCase(model: Model, pair: Pair, afterMs: number, enabled: string): Case {
  return {
    name: `${pair.create.name}, and nothing is accepted for ${afterMs / 1000} s`,
    facts: [deliveryFact],
    async run(session: Session) {
      const { clock } = session.run;
      session.need(
        clock.advance !== undefined,
        `it takes ${afterMs / 1000} s to be disabled: say how the clock is moved with --clock`,
      );
      session.need(!endsWithin(model, session, 1.2 * afterMs), 'the tokens that were given end before that');
      const ear = await subscribe(session, makerOf(model, pair, subscribing(model)), { events: ['*'], react: () => 500 });
      const isOn = (opened: TrialExchange, shown: TrialExchange) =>
        along<Json>(rowWith(model, shown, idIn(model, opened)), enabled);
      const first = await failing(session, pair, ear, []);
      const half = await session.wait(Math.floor(afterMs * 0.5));
      const second = await failing(session, pair, ear, [first, half]);
      const early = await lookAt(session, ear.row, ear.maker);
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: 'not disabled earlier',
        of: [ear.opened, second, early.done],
        judge: (opened: TrialExchange, come: Listening, shown: TrialExchange): Judgement => {
          if (!isDone(opened) || !isDone(shown) || come.deliveries.length === 0)
            return moot('nobody subscribed, or nothing came');
          if (isOn(opened, shown) !== false) return undefined;
          return { promised: `a subscriber that fails is disabled after ${afterMs} ms`, seen: `it is after ${afterMs * 0.5} ms` };
        },
      });
      const rest = await session.wait(Math.ceil(afterMs * 0.6));
      const third = await failing(session, pair, ear, [second, rest]);
      const late = await until(session, ear, ({ fields }) => along<Json>(fields, enabled) === false);
      session.claim({
        shrinkingRuns: 2,
        fact: deliveryFact,
        reason: 'disabled',
        of: [ear.opened, second, third, late.done],
        judge: (opened: TrialExchange, before: Listening, after: Listening, shown: TrialExchange): Judgement => {
          if (!isDone(opened) || !isDone(shown)) return moot('nobody subscribed, or the subscriber is not shown');
          if (isOn(opened, shown) === false) return undefined;
          // Only at a failure after that time does it have to be found out.
          if (after.deliveries.length <= before.deliveries.length) return moot('nothing more was tried');
          return {
            promised: `a subscriber is disabled after ${afterMs} ms of nothing but failures`,
            seen: `${enabled} is ${JSON.stringify(isOn(opened, shown))} after ${1.1 * afterMs} ms`,
          };
        },
      });
    },
  };
}

/** Makes a row that has to be told of, and listens until it is, in vain. @throws {Untestable} */
async function failing(
  session: Session,
  { create }: Pair,
  ear: SubscribedEar,
  after: readonly Done<unknown>[],
): Promise<Done<Listening>> {
  const { endpoint, name } = create;
  session.need(endpoint !== undefined, `no caller reaches ${name}`);
  const known = after.flatMap(({ value }) => (isHeard(value) ? [value.deliveries.length] : []));
  const { request } = await ready(session, endpoint);
  const made = await session.send(request);
  session.need(isDone(made.value), `${name} was answered ${made.value.status}`);
  const isEnough = ({ length }: Listening['deliveries']) => length > Math.max(0, ...known);
  // One that is disabled already is told of nothing more.
  return hear(session, ear, [...after, made], { isEnough, ms: eventMs / 4, quietMs: disablingQuietMs });
}

function isHeard(value: unknown): value is Listening {
  return typeof value === 'object' && value !== null && 'deliveries' in value;
}

/** Looks at the subscriber until it is so, for a second at most: what comes of a try is written down after it. */
async function until(session: Session, ear: SubscribedEar, isSo: (look: Look) => boolean): Promise<Look> {
  let look = await lookAt(session, ear.row, ear.maker);
  for (let looks = 0; looks < 10 && !isSo(look); looks++) {
    await pause(100);
    look = await lookAt(session, ear.row, ear.maker);
  }
  return look;
}
