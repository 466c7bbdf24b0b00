import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';

/** Whether only what is there can be put, since its tag has to be sent. */
export function needsTag(endpoint: Endpoint): boolean {
  return statedValue(endpoint.does)?.verb === 'upsert' && endpoint.ifMatch === 'required';
}

interface Way {
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
}

/**
 * Those for whom no quota is used up, and of whom there may be another row, where there are any. A way below a row of the same resource has no more room than that row.
 * @throws {Untestable} where all is used up until a time that is going to be come to: what a row needs would be made for nothing.
 */
export function withRoom<T extends Way>({ model, run }: Session, resource: string, ways: readonly T[]): readonly T[] {
  const nowMs = run.clock.toService(Date.now());
  const direct = ways.filter(({ endpoint }) =>
    pathParameters(endpoint.path).every((name) => model.parentOf(endpoint, name) !== resource),
  );
  const open = (direct.length > 0 ? direct : ways).filter(({ endpoint, caller }) => {
    const counts = run.quotasOf?.(model.request(endpoint, { caller })) ?? [];
    return !run.client.usedUp.among(counts, nowMs);
  });
  if (open.length === 0 && ways.length > 0 && run.client.owedMs !== undefined && run.clock.advance !== undefined)
    throw new Untestable(`no quota is left for a ${resource}`);
  // Of whom there may be no more rows makes them for nothing.
  const roomy = open.filter(({ caller }) => run.hasRoom?.(resource, caller) !== false);
  return roomy.length > 0 ? roomy : open.length > 0 ? open : ways;
}

/** Who can create a row by which endpoint, those first who may also read it. */
export function waysToCreate(session: Session, resource: string, wanted: TrialCaller | undefined) {
  const { model } = session;
  const upserts = model.endpointsThat('upsert', resource).filter((endpoint) => !needsTag(endpoint));
  const endpoints = [...model.endpointsThat('create', resource), ...upserts];
  const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
  const callers: readonly (TrialCaller | undefined)[] = wanted ? [wanted] : model.callers;
  const ways = endpoints.flatMap((endpoint) => {
    const operation = model.operationOf(endpoint);
    const isPublic = model.access.isPublic(operation);
    const allowed = callers.filter((caller) => model.access.allows(operation, caller) !== 'no');
    if (allowed.length === 0 && isPublic) return [{ endpoint, caller: undefined, rank: 0 }];
    return allowed.map((caller) => {
      const mayRead = reads.some((read) => model.access.allows(model.operationOf(read), caller) !== 'no');
      const isSure = model.access.allows(operation, caller) === 'yes';
      return { endpoint, caller, rank: (isSure ? 2 : 0) + (mayRead ? 1 : 0) };
    });
  });
  return ways.sort((one, other) => other.rank - one.rank);
}
