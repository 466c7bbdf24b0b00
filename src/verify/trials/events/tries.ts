import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { endsWithin } from '../../make/ends.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { deliveryFact } from './changing.ts';
import { eventMs, type Listening } from './ear.ts';
import { deliveryOf, toldIn } from './envelope.ts';
import { actTwice, makerOf, type Pair, pairOf } from './pair.ts';
import { hear } from './reached.ts';
import { subscribe, subscribersOf, subscribing } from './subscribing.ts';

/** The reason of such a claim. */
export const triedToTheEnd = 'tried as often as stated';
/** The longest that tries may take together. */
const totalMsMost = 4 * 86_400_000;
const quietMs = 150;

/** What is never accepted is tried again after each of the stated waits. */
export const allTries: Trial = {
  name: 'events/tries',
  part: 'events',
  about: 'A delivery that is never accepted comes again after each stated wait, the last of them too.',
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
        waited.push(await session.wait(Math.ceil(waitMs * 1.25)));
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
