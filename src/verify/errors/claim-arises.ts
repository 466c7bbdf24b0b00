import type { ErrorCondition } from '../../parts/errors.ts';
import type { Operation } from '../../parts/operations.ts';
import { conditionFacts } from '../model/refused-as.ts';
import { type Judgement, moot } from '../script/claim.ts';
import type { TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';

/** Notes that a condition was answered with its code, where another fact is broken if it was not. */
export function claimArises(session: Session, done: Done<TrialExchange>, when: ErrorCondition, operation: Operation): void {
  const { model } = session;
  for (const fact of conditionFacts(model, when, operation)) {
    session.claim({
      fact,
      reason: 'arises',
      of: [done] as const,
      judge: (seen: TrialExchange): Judgement =>
        model.refusals.codeIn(seen) === fact.subject ? undefined : moot('it was answered otherwise'),
    });
  }
}
