import { entriesOf } from '../../../parts/fact.ts';
import { namesOperation, type Operation } from '../../../parts/operations.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

const fact = { kind: 'functions', subject: 'service' };

/** What users are said to be able to do can be done from its beginning to its end. */
export const functions: Trial = {
  name: 'purpose/functions',
  part: 'purpose',
  about: 'Each operation of each function succeeds at least once, with everything that it needs made before.',
  noise: 'quiet',
  *cases(model) {
    for (const [name, operations] of entriesOf(model.spec.purpose.functions)) yield caseOf(model, name, operations);
  },
};

function caseOf(model: Model, name: string, named: readonly string[]): Case {
  const operations = model.operations.filter((operation) => operation.endpoint && namesOperation(named, operation));
  return {
    name,
    facts: [fact],
    async run(session: Session) {
      const reasons: string[] = [];
      for (const operation of operations) {
        try {
          await carryOut(session, operation);
        } catch (error) {
          if (!(error instanceof Untestable)) throw error;
          reasons.push(`${operation.name}: ${error.message}`);
        }
      }
      session.need(reasons.length < operations.length || operations.length === 0, reasons.join('; '));
    },
  };
}

async function carryOut(session: Session, operation: Operation): Promise<void> {
  const { model } = session;
  const { endpoint } = operation;
  if (!endpoint) return;
  const { request } = await ready(session, endpoint);
  const done = await session.send(request);
  session.claim({
    fact,
    reason: `${operation.name} succeeds`,
    of: [done],
    judge: (seen: TrialExchange) => judged(model, operation, seen),
  });
}

/** A failure of the service, or an operation that is not there, shows that it cannot be done; what else is refused may be for a reason of its own. */
function judged(model: Model, operation: Operation, seen: TrialExchange): Judgement {
  if (isDone(seen)) return undefined;
  const missing = refusalFor(model, 'resource.missing', operation)?.code;
  const absent = (['route.unknown', 'method.unsupported'] as const).some((when) => {
    const refusal = refusalFor(model, when, operation);
    return refusal !== undefined && refusal.code !== missing && isRefused(model, seen) && isRefusal(model, seen, refusal);
  });
  // What is unavailable now and at every replay is not to be had.
  const failed = seen.status >= 500 && seen.status !== 501;
  if (!absent && !failed) return moot(`it was answered ${seen.status}`);
  return { promised: `${operation.name} can be done`, seen: `it was answered ${seen.status}` };
}
