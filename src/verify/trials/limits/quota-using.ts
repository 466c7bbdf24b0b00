import type { Quota } from '../../../parts/limits.ts';
import type { Operation } from '../../../parts/operations.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { FactName } from '../../exchange/facts.ts';
import type { Done } from '../../exchange/step.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';

export const quotasFact: FactName = { kind: 'quotas', subject: 'service' };

/** A quota, what uses it, and who. */
export interface Using {
  readonly quota: Quota;
  readonly operation: Operation;
  readonly caller: TrialCaller;
  /** Whether an answer says that it is used up. */
  readonly isUsedUp: (seen: TrialExchange) => boolean;
  readonly promised: string;
}

/** One use, with what it needs made before. @throws {Untestable} */
export async function useOnce(session: Session, { operation, caller }: Using): Promise<Done<TrialExchange>> {
  const { endpoint } = operation;
  session.need(endpoint !== undefined, `no caller reaches ${operation.name}`);
  const { request } = await ready(session, endpoint, { caller, maker: makerFor(session.model, operation, caller) });
  return session.send(request);
}

/** Who makes what the operation is about: its caller, where that may. */
function makerFor(model: Model, { resource = '' }: Operation, caller: TrialCaller): TrialCaller | undefined {
  const may = model
    .endpointsThat('create', resource)
    .some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no');
  return may ? caller : undefined;
}
