import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../../document/document.ts';
import { along } from '../../../parts/field-path.ts';
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
import { deliveryFact } from './changing.ts';
import { eventMs, type Listening } from './ear.ts';
import { deliveryOf } from './envelope.ts';
import { makerOf, type Pair, pairOf } from './pair.ts';
import { hear } from './reached.ts';
import { type SubscribedEar, subscribe, subscribersOf, subscribing } from './subscribing.ts';

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
    yield caseOf(model, pair, afterMs, enabled);
  },
};

/** How long is waited after a try until what came of it has been written down. */
const quietMs = 250;

function caseOf(model: Model, pair: Pair, afterMs: number, enabled: string): Case {
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
  return hear(session, ear, [...after, made], { isEnough, ms: eventMs / 4, quietMs });
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
