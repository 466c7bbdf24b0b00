import { isSame } from '../../document/values.ts';
import { type Judgement, moot } from '../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import { idIn, rowWith } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** The reason of such a claim. */
export const tagApart = 'ETag, apart';

/** Claims that a row that reads otherwise than it did to the same reader has another tag: a strong one tells every two representations apart (RFC 9110 section 8.8.1). */
export function claimTagApart(session: Session, done: Done<TrialExchange>): void {
  const { model, run } = session;
  const { endpoint, caller, sent } = done.value;
  if (endpoint?.etag !== 'strong') return;
  const step = run.results.findLastIndex(
    (one, at) =>
      at < done.step &&
      isExchange(one) &&
      one.endpoint === endpoint &&
      one.caller === caller &&
      one.sent.target === sent.target &&
      isDone(one),
  );
  const earlier = run.results[step];
  if (!isExchange(earlier)) return;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: tagApart,
    at: `${endpoint.at}/etag`,
    of: [{ step, value: earlier }, done] as const,
    judge(before: TrialExchange, after: TrialExchange): Judgement {
      const [old, row] = [before, after].map((one) => (isDone(one) ? rowWith(model, one, idIn(model, one)) : undefined));
      if (!old || !row || isSame(old, row)) return moot('nothing has changed');
      const { etag } = before.headers;
      if (etag === undefined || etag.startsWith('W/')) return moot('it shows no strong ETag');
      if (after.headers.etag !== etag) return undefined;
      return { promised: 'another ETag for another representation', seen: `${etag} for both` };
    },
  });
}
