import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { boundByPath, isWritable } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { contextOfRow } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { identified } from '../../make/identities.ts';
import { requestAbout } from '../../make/request-about.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { makersFor } from './makers.ts';
import { ownCode, readability } from './row-rules.ts';

/** What refers to a row that its sender may not read refers to nothing, in a path and in a body; and rules over what would be stored hold. */
export const referring: Trial = {
  name: 'authentication/referring',
  part: 'authentication',
  about: 'A reference to a row of somebody else, in the path or the body, is refused to who may not read it.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const operation = model.operationOf(endpoint);
      if (isStated(endpoint.request) || model.access.isPublic(operation)) continue;
      for (const link of linksOf(model, endpoint)) {
        for (const caller of model.callers) {
          const rules = caller.credential ? (model.access.rules(operation, caller) ?? []) : [];
          if (rules.length > 0 && isCutDown(model, link.target, caller)) yield caseOf(model, endpoint, link, caller);
        }
      }
    }
  },
};

/** A field of what is written that refers to a row. */
interface Link {
  readonly field: string;
  readonly target: string;
  readonly isInPath: boolean;
}

function linksOf(model: Model, endpoint: Endpoint): Link[] {
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  if (!resource || !effect || !['create', 'update', 'replace'].includes(effect.verb)) return [];
  const bound = boundByPath(model.spec, endpoint);
  return entriesOf(resource.fields).flatMap(([field, stated]) => {
    const isInPath = bound.includes(field);
    const isTaken = isInPath ? effect.verb === 'create' : isWritable(model.spec, resource, stated) && !stated.writable;
    const isFixed = stated.immutable && effect.verb !== 'create';
    return stated.ref === undefined || !isTaken || isFixed ? [] : [{ field, target: stated.ref, isInPath }];
  });
}

/** Whether every rule by which a caller may read such rows asks about the row. */
export function isCutDown(model: Model, resource: string, caller: TrialCaller): boolean {
  const reads = model.endpointsThat('read', resource);
  const asked = reads.length > 0 ? reads : model.endpointsThat('list', resource);
  const rules = asked.flatMap((endpoint) => model.access.rules(model.operationOf(endpoint), caller) ?? []);
  return (
    asked.length > 0 && rules.every((rule) => rule.if) && !asked.some((one) => model.access.isPublic(model.operationOf(one)))
  );
}

function caseOf(model: Model, endpoint: Endpoint, link: Link, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: endpoint.operation };
  return {
    name: `${endpoint.key} as ${caller.name}, with ${link.field} of others`,
    facts: [fact],
    async run(session: Session) {
      let tried = 0;
      for (const maker of makersFor(model, caller)) {
        const target = maker === caller ? undefined : await ifTestable(session.make(link.target, { caller: maker }));
        const when = target?.made && (await whyRefused(session, endpoint, link, caller, target));
        const plan = when && (await ifTestable(referTo(session, endpoint, link, caller, target)));
        if (!plan || !target?.made) continue;
        tried += 1;
        const done = await session.send(plan);
        const code = ownCode(model, model.operationOf(endpoint), caller);
        claimRefused(session, done, {
          by: code === undefined ? { when } : { code },
          fact,
          reason: `${link.field} of others`,
          what: `${endpoint.operation} by ${caller.name} with a ${link.target} that another made`,
          beside: [target.made],
          isSo: (_sent: TrialExchange, made?: TrialExchange) => made !== undefined && isDone(made),
        });
      }
      session.need(tried > 0, `no ${link.target} is known to be hidden from ${caller.name}`);
    },
  };
}

/** As what a reference to a row has to be refused, as far as that is known: the row is hidden, or no rule is for what would be stored. */
async function whyRefused(session: Session, endpoint: Endpoint, link: Link, caller: TrialCaller, target: TrialRow) {
  const { model } = session;
  const known = contextOfRow(session, target);
  const who = await identified(session, caller);
  if (!known) return undefined;
  if (readability(model, target, who, known) === 'no') return link.isInPath ? 'resource.missing' : 'reference.missing';
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const others = new Set((resource ? entriesOf(resource.fields) : []).map(([name]) => name));
  others.delete(link.field);
  const { resource: _row, ...context } = known.context;
  const next = { [link.field]: resolve(target.id, session.run) };
  const allowed = model.access.allows(model.operationOf(endpoint), who, {
    context: { ...context, next },
    unseen: { next: others },
  });
  return allowed === 'no' ? 'caller.forbidden' : undefined;
}

/** A request that is valid but for whose row it refers to. @throws {Untestable} */
async function referTo(
  session: Session,
  endpoint: Endpoint,
  { field, isInPath }: Link,
  caller: TrialCaller,
  target: TrialRow,
): Promise<RequestPlan> {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const resource = resourceOfEffect(effect) ?? '';
  if (effect?.verb === 'create') {
    const wanted = { caller, parents: { [field]: target }, ...(!isInPath && { body: { [field]: target.id } }) };
    const { path, json } = await session.parts(endpoint, wanted);
    return model.request(endpoint, { path, caller, ...(json !== undefined && { json }) });
  }
  const [state] = endpoint.in ?? [];
  const row = await session.make(resource, { caller, ...(state !== undefined && { state }) });
  const headers = await session.preconditions(endpoint, row, caller);
  const plan = await requestAbout(session, row, endpoint, { caller, headers });
  const json = plan.body && 'value' in plan.body && effect?.verb === 'replace' ? plan.body.value : {};
  return { ...plan, body: { value: withMember(json, [field], target.id), type: plan.body?.type ?? 'application/json' } };
}
