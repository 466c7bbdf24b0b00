import type { Sizes } from '../../../parts/limits.ts';
import type { Operation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';

export const sizesFact: FactName = { kind: 'size limits', subject: 'service' };

/** How a body comes whose length nobody tells before. */
export const inChunks = 'body in chunks';

/** The largest body that is sent. */
export const bodyBytesMost = 20 * 1024 * 1024;

/** What is as large as it is, and how large it may be. */
export interface Sized {
  readonly what: string;
  readonly bytes: number;
  readonly size: (seen: TrialExchange) => number;
  readonly at: keyof Sizes;
  /** How it is sent, where that is another look. */
  readonly how?: string;
  /** The same in small, which is taken. */
  readonly control?: RequestPlan;
}

/** Claims that what is within a bound is not said to be too large, and that what is beyond it is, by the stated code. */
export function claimSize(session: Session, operation: Operation, done: Done<TrialExchange>, sized: Sized): void {
  const { model } = session;
  const { what, bytes, size, at, how, control } = sized;
  const isRefused = session.claim({
    fact: sizesFact,
    reason: `${how ?? at} ${size(done.value) > bytes ? 'above' : 'up to'} the bound`,
    at: `${model.spec.limits.size.at}/${at}`,
    of: [done] as const,
    control,
    judge: (seen: TrialExchange): Judgement => {
      // A server may insist on being told a length (RFC 9110 section 15.5.12).
      if (seen.status === 411) return moot('it wants to be told a length');
      const own = size(seen);
      const isTooLarge = isSizeRefusal(model, operation, seen);
      const bound = `${bytes} are allowed`;
      if (own <= bytes && isTooLarge)
        return { promised: `${what} of ${own} bytes is not too large: ${bound}`, seen: `it was answered ${seen.status}` };
      if (own > bytes && !isTooLarge)
        return { promised: `${what} of ${own} bytes is too large: ${bound}`, seen: `it was answered ${seen.status}` };
      return undefined;
    },
  });
  // Headers are counted before anybody looks at what is asked for, by servers that know nothing of codes.
  if (!isRefused || at === 'headers' || size(done.value) <= bytes || done.value.status === 411) return;
  const isSo = (seen: TrialExchange) => size(seen) > bytes && seen.status >= 400 && seen.status !== 411;
  claimRefusedAs(session, done, {
    by: { when: 'limit.size' },
    what: `${what} of more than ${bytes} bytes`,
    isSo,
    ...(control && { control }),
  });
}

/** By its stated refusal, or by one of the statuses that HTTP has for it. */
function isSizeRefusal(model: Model, operation: Operation, seen: TrialExchange): boolean {
  const refusal = refusalFor(model, 'limit.size', operation);
  if (refusal && isRefusal(model, seen, refusal) && isRefused(model, seen)) return true;
  return [413, 414, 431].includes(seen.status);
}
