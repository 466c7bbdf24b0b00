import { statedValue } from '../../parts/fact.ts';
import { identifierParameter, pathParameters } from '../../parts/payload.ts';
import type { Version } from '../../parts/versioning.ts';
import { type FactName, type Judgement, moot } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import { missingIdentifier } from '../model/missing-identifier.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { deprecationFlaw, inVersion, isOver } from './versions.ts';

/** What is refused because nothing of that name is there was refused in its version, which is told of as in any answer. */
export async function refuseIn(session: Session, version: Version, fact: FactName): Promise<void> {
  const { model } = session;
  const plan = missingIn(model, version.name);
  if (!plan) return;
  const done = await session.send(plan);
  session.claim({
    fact,
    reason: 'told of refusals',
    of: [done],
    isOfForm: true,
    judge: (seen: TrialExchange): Judgement => {
      if (seen.status !== missingStatus || isOver(version, seen.toMs) !== false)
        return moot('it was no refusal of what is missing');
      const stated = statedValue(version.deprecation);
      const flaw = stated && deprecationFlaw([stated], seen.headers);
      return flaw === undefined ? undefined : { promised: `a refusal in ${version.name} tells of its deprecation`, seen: flaw };
    },
  });
}

const missingStatus = 404;

/** A request of a version that reads what there is not, by somebody who may read such things. */
export function missingIn(model: Model, version: string): RequestPlan | undefined {
  for (const operation of model.operations) {
    const { endpoint } = operation;
    const effect = endpoint && statedValue(endpoint.does);
    if (effect?.verb !== 'read' || endpoint?.method !== 'GET' || endpoint.identity || endpoint.deprecated) continue;
    const parameter = identifierParameter(endpoint);
    if (parameter === undefined || pathParameters(endpoint.path).length !== 1) continue;
    const id = missingIdentifier(model, effect.resource);
    const caller = model.callers.find((one) => model.access.allows(operation, one) !== 'no');
    if (id === undefined || !(caller || model.access.isPublic(operation))) continue;
    const { endpoint: _, ...plan } = inVersion(model, model.request(endpoint, { path: { [parameter]: id }, caller }), version);
    return plan;
  }
  return undefined;
}
