import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { Untestable } from '../exchange/untestable.ts';
import { callerContext } from '../model/access.ts';
import type { Known } from '../model/expressions.ts';
import type { Model } from '../model/model.ts';
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

/** The ways by whose row somebody else may see it first, as far as what a row has of its maker tells: gardens are let by the warden of one's own district. */
export function seenFirst<T extends Way>(
  { model }: Session,
  resource: string,
  ways: readonly T[],
  reader: TrialCaller | undefined,
): readonly T[] {
  if (!reader || ways.every(({ caller }) => caller === reader || caller === undefined)) return ways;
  const unseen = (way: T): number =>
    way.caller && way.caller !== reader && !maySee(model, resource, way.caller, reader) ? 1 : 0;
  return [...ways].sort((one, other) => unseen(one) - unseen(other));
}

/** What a row has of whoever made it, as far as that is told. */
function knownOf(model: Model, resource: string, maker: TrialCaller): Known {
  const fields = entriesOf(model.resource(resource)?.fields);
  const told = fields.flatMap(([name, { set }]) => {
    const value = set.create && model.expressions.evaluate(set.create, `create ${resource}`, { context: callerContext(maker) });
    return typeof value === 'object' ? [[name, value.value] as const] : [];
  });
  const known = Object.fromEntries(told);
  const unseen = new Set(fields.flatMap(([name]) => (Object.hasOwn(known, name) ? [] : [name])));
  return { context: { resource: known }, unseen: { resource: unseen } };
}

/** Whether somebody may do something to what another makes, unless that is known to be refused. */
function mayDo(model: Model, operation: Operation, maker: TrialCaller, who: TrialCaller): boolean {
  return model.access.allows(operation, who, knownOf(model, operation.resource ?? '', maker)) !== 'no';
}

const seen = new WeakMap<Model, Map<string, boolean>>();

function maySee(model: Model, resource: string, maker: TrialCaller, reader: TrialCaller): boolean {
  return remembered(seen, model, [resource, maker.name, reader.name], () => {
    const reads = [...model.endpointsThat('read', resource), ...model.endpointsThat('list', resource)];
    return reads.length === 0 || reads.some((read) => mayDo(model, model.operationOf(read), maker, reader));
  });
}

const used = new WeakMap<Model, Map<string, boolean>>();

/** Whether for all that can be done to a row there is somebody who may do it to what this caller makes, as its own rows may be changed by itself alone. */
function isOfUse(model: Model, resource: string, maker: TrialCaller): boolean {
  return remembered(used, model, [resource, maker.name], () =>
    model.operations
      .filter((one) => one.endpoint && one.resource === resource && isOnRow(one.endpoint))
      .every((operation) => model.callers.some((who) => mayDo(model, operation, maker, who))),
  );
}

function isOnRow({ does }: Endpoint): boolean {
  return ['read', 'update', 'replace', 'delete', 'transition'].includes(statedValue(does)?.verb ?? '');
}

function remembered<T>(all: WeakMap<Model, Map<string, T>>, model: Model, names: readonly string[], find: () => T): T {
  const known = all.get(model) ?? new Map<string, T>();
  all.set(model, known);
  const key = JSON.stringify(names);
  const found = known.get(key) ?? find();
  known.set(key, found);
  return found;
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
      const rank = (isSure ? 2 : 0) + (mayRead ? 1 : 0) + (caller && isOfUse(model, resource, caller) ? 0.5 : 0);
      return { endpoint, caller, rank };
    });
  });
  return ways.sort((one, other) => other.rank - one.rank);
}
