import { canShow, type TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import { acceptable, type Door, guardedDoors } from '../../make/knocking.ts';
import type { Model } from '../../model/model.ts';
import { mayBeRefusedBefore } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { isUnknownCaller, unknownFlaw } from './carriers.ts';

const fact: FactName = { kind: 'schemes', subject: 'service' };

/** An endpoint that accepts some of the schemes alone knows nobody by another one. */
export const schemesAtDoors: Trial = {
  name: 'authentication/schemes at doors',
  part: 'authentication',
  about: 'At an endpoint with its own accepted schemes, a credential that is good elsewhere and of none of them shows nobody.',
  noise: 'quiet',
  *cases(model) {
    for (const door of guardedDoors(model)) {
      const others = othersAt(model, door);
      if (others.length > 0) yield caseOf(model, door, others);
    }
  },
};

/** One caller of each scheme that a door does not look at. */
function othersAt(model: Model, { endpoint }: Door): readonly TrialCaller[] {
  if (endpoint.accept === undefined) return [];
  const bySchemes = new Map<string, TrialCaller>();
  for (const caller of model.callers)
    if (caller.credential && !canShow(caller, endpoint) && !bySchemes.has(caller.credential.scheme.name))
      bySchemes.set(caller.credential.scheme.name, caller);
  return [...bySchemes.values()];
}

/** The reason of a claim about a credential of a scheme that a door does not look at. */
const notLookedAt = (endpoint: string, scheme: string): string => `${scheme} is none at ${endpoint}`;

/** Of each endpoint with schemes of its own, and each other scheme of which somebody has a credential. */
export function looksAtDoors(model: Model): readonly string[] {
  return guardedDoors(model).flatMap((door) =>
    othersAt(model, door).map(({ credential }) => notLookedAt(door.endpoint.key, credential?.scheme.name ?? '')),
  );
}

function caseOf(model: Model, door: Door, others: readonly TrialCaller[]): Case {
  const { operation, endpoint } = door;
  return {
    name: endpoint.key,
    facts: [fact],
    async run(session: Session) {
      const good = model.callers.find((one) => canShow(one, endpoint) && model.access.allows(operation, one) === 'yes');
      const request = await acceptable(session, door, good);
      session.need(request !== undefined, `nobody may ask for it`);
      for (const other of others) {
        const done = await session.send({ ...request, caller: { ...other, name: 'stranger', user: '' } });
        const scheme = other.credential?.scheme.name ?? '';
        session.claim({
          fact,
          reason: notLookedAt(endpoint.key, scheme),
          of: [done],
          control: request,
          judge: (seen: TrialExchange): Judgement =>
            mayBeRefusedBefore(model, 'caller', seen) && !isUnknownCaller(model, operation, seen)
              ? moot('something else may have been asked first')
              : unknownFlaw(model, operation, seen, `with a credential of the scheme ${scheme}`),
        });
      }
    },
  };
}
