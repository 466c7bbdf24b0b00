import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { deliveryFact } from './changing.ts';
import type { Listening } from './ear.ts';
import { eventMs } from './ear.ts';
import { toldIn } from './envelope.ts';
import { actTwice, makerOf, type Pair, pairOf } from './pair.ts';
import { openEar, streaming, streamOf } from './stream-ears.ts';

/** Who comes back to the stream is told what it has missed, in order and without a gap. */
export const resuming: Trial = {
  name: 'events/resumed',
  part: 'events',
  about: 'A stream that is resumed with Last-Event-ID begins with the event behind it (WHATWG HTML section 9.2.4).',
  noise: 'alone',
  *cases(model) {
    const pair = pairOf(model);
    if (streamOf(model)?.keepMs !== undefined && pair && streaming(model).length > 0) yield caseOf(model, pair);
  },
};

function caseOf(model: Model, pair: Pair): Case {
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
