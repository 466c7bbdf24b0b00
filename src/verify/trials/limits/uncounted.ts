import { statedValue } from '../../../parts/fact.ts';
import { isUncounted, type Rate } from '../../../parts/limits.ts';
import { identifierParameter } from '../../../parts/payload.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { Model } from '../../model/model.ts';
import { refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { applies, askersOf, type CountedOperation, countedRequest, ratesFor, roomFor } from './counted.ts';
import { burst, ratesFact, type Shot } from './rate-told.ts';
import { answeredSo, uncountedAs } from './told-costs.ts';

/** What counts nothing in a rate may be asked for more often than the rate lets through. */
export const uncountedAnswers: Trial = {
  name: 'limits/uncounted',
  part: 'limits',
  about: 'Answers that a rate does not count, what is not there and what has not changed, are given more often than it allows.',
  noise: 'loud',
  *cases(model) {
    for (const rate of statedValue(model.spec.limits.rate) ?? []) {
      for (const status of [404, 304] as const) {
        const counted = isUncounted(rate, status) ? readerOf(model, rate, status) : undefined;
        if (counted) yield caseOf(rate, counted, status);
      }
    }
  },
};

/** Somebody who reads a row by its identifier, and is counted for that by this rate and by none that counts the answer. */
function readerOf(model: Model, rate: Rate, status: number): CountedOperation | undefined {
  const reading = model.operations.filter(
    ({ endpoint }) =>
      endpoint &&
      statedValue(endpoint.does)?.verb === 'read' &&
      identifierParameter(endpoint) !== undefined &&
      (status === 404 || endpoint.etag !== undefined),
  );
  const isFree = (one: Rate) => one === rate || isUncounted(one, status);
  return reading
    .flatMap((operation) => askersOf(model, operation).map((caller) => ({ operation, caller })))
    .find(
      ({ operation, caller }) =>
        applies(model, rate, operation, caller) === 'yes' &&
        roomFor(rate, operation) <= roomMost &&
        ratesFor(model, operation, caller).every(isFree),
    );
}

const roomMost = 500;

function caseOf(rate: Rate, counted: CountedOperation, status: 404 | 304): Case {
  const { operation } = counted;
  return {
    name: `${operation.name} answered ${status}, more than ${rate.limit} times`,
    facts: [ratesFact],
    async run(session: Session) {
      const request = await countedRequest(session, counted);
      const plan = await answeredSo(session, request, operation.resource ?? '', status);
      const refused = refusalFor(session.model, 'limit.rate', operation)?.status ?? 429;
      const shots = await session.do(burst(plan, Math.floor(roomFor(rate, operation)) + 1, refused));
      session.claim({
        fact: ratesFact,
        reason: uncountedAs(status),
        at: rate.at,
        of: [shots],
        judge: (all: readonly Shot[]): Judgement => {
          const others = all.filter((shot) => shot.status !== status);
          if (others.some((shot) => shot.status !== refused)) return moot('it was answered otherwise');
          return others.length === 0
            ? undefined
            : { promised: `${status} counts nothing`, seen: `${refused} after ${all.length - 1} of them` };
        },
      });
    },
  };
}
