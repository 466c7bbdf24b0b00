import type { FactName, Judgement } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { acceptable, asNobody, type Door, inventedFor, knockableSchemes, knocking, showing } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case } from '../../session/trial.ts';
import { badWhereAnyone, unknownFlaw } from './carriers.ts';

/** The fact that whatever nobody gave out breaks. */
export const schemesFact: FactName = { kind: 'schemes', subject: 'service' };

/** What is public looks at no credential. */
export function publicAt(model: Model, { operation, endpoint }: Door): Case {
  return {
    name: `${endpoint.key} with a credential that is not good`,
    facts: [schemesFact],
    async run(session: Session) {
      for (const scheme of knockableSchemes(model)) {
        const invented = inventedFor(scheme);
        if (!invented) continue;
        const done = await session.send(knocking(model, endpoint, showing(invented, invented.value)));
        const refusal = refusalFor(model, 'caller.unknown', operation);
        const judge = (seen: TrialExchange): Judgement => {
          const isUnknown = refusal ? isRefusal(model, seen, refusal) && isRefused(model, seen) : seen.status === 401;
          return isUnknown
            ? { promised: `${operation.name} is public: no credential is looked at`, seen: `it was answered ${seen.status}` }
            : undefined;
        };
        session.claim({ fact: schemesFact, reason: `public ${operation.name}`, of: [done], judge });
      }
    },
  };
}

/** Where nobody needs a credential, one that nobody gave out is refused all the same. */
export function openAt(model: Model, { operation, endpoint }: Door): Case {
  return {
    name: `${endpoint.key} with a credential that is not good, which anyone may do without one`,
    facts: [schemesFact],
    async run(session: Session) {
      const ready = await acceptable(session, { operation, endpoint });
      const control = ready && asNobody(ready);
      session.need(control !== undefined, `${endpoint.key} could not be asked for`);
      for (const scheme of knockableSchemes(model, endpoint)) {
        const invented = inventedFor(scheme);
        if (!invented) continue;
        const done = await session.send({ ...control, caller: showing(invented, invented.value) });
        const judge = (seen: TrialExchange) => unknownFlaw(model, operation, seen, 'with a credential that nobody gave out');
        session.claim({ fact: schemesFact, reason: badWhereAnyone, of: [done], control, judge });
      }
    },
  };
}
