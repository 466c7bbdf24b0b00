import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { contextOfRow } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { identified } from '../../make/identities.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFor } from '../../make/row-where.ts';
import type { Model } from '../../model/model.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { makersFor } from './makers.ts';
import { isCutDown } from './referring.ts';
import { ownCode, readability } from './row-rules.ts';

/** The reason of such a claim. */
export const belowOthers = 'below a row of others';

/** What a path names below a row that its sender may not read is missing, as if that row were not there: a list of nothing tells that it is. */
export const belowParents: Trial = {
  name: 'authentication/below',
  part: 'authentication',
  about: 'Lists and rows below a row that the caller may not read are answered as if that row were not there.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      for (const parent of parentsHidden(model, endpoint)) {
        for (const caller of parent.from) yield caseOf(model, endpoint, parent, caller);
      }
    }
  },
};

/** A row that a path names beside the one that it is about, and those who are not shown every such row. */
interface HiddenParent {
  readonly name: string;
  readonly target: string;
  readonly from: readonly TrialCaller[];
}

/** Rows above what an endpoint is about that somebody who may call it may not be shown; what is made below them is another trial's. */
export function parentsHidden(model: Model, endpoint: Endpoint): HiddenParent[] {
  const verb = statedValue(endpoint.does)?.verb;
  const operation = model.operationOf(endpoint);
  if (!verb || !['list', 'read', 'update', 'delete', 'transition'].includes(verb) || model.access.isPublic(operation)) return [];
  const last = verb === 'list' ? undefined : identifierParameter(endpoint);
  return pathParameters(endpoint.path).flatMap((name) => {
    const target = name === last ? undefined : model.parentOf(endpoint, name);
    if (target === undefined) return [];
    const from = model.callers.filter(
      (caller) =>
        caller.credential !== undefined &&
        (model.access.rules(operation, caller) ?? []).length > 0 &&
        isCutDown(model, target, caller) &&
        makersFor(model, caller).some((maker) => maker !== caller),
    );
    return from.length === 0 ? [] : [{ name, target, from }];
  });
}

function caseOf(model: Model, endpoint: Endpoint, { name, target }: HiddenParent, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: endpoint.operation };
  return {
    name: `${endpoint.key} as ${caller.name}, below a ${target} of others`,
    facts: [fact],
    async run(session: Session) {
      for (const maker of makersFor(model, caller).filter((one) => one !== caller)) {
        const parent = await ifTestable(parentOf(session, endpoint, name, target, maker));
        const known = parent && contextOfRow(session, parent);
        if (!parent?.made || !known) continue;
        if (readability(model, parent, await identified(session, caller), known) !== 'no') continue;
        const plan = await ifTestable(planBelow(session, endpoint, name, parent, caller));
        if (!plan) continue;
        const code = ownCode(model, model.operationOf(endpoint), caller);
        const done = await session.send(plan);
        claimRefused(session, done, {
          by: code === undefined ? { when: 'resource.missing' } : { code },
          fact,
          reason: belowOthers,
          what: `${endpoint.operation} by ${caller.name} below a ${target} that another made`,
          beside: [parent.made],
          isSo: (_sent: TrialExchange, made?: TrialExchange) => made !== undefined && isDone(made),
          ...(parent.caller && { control: { ...plan, caller: parent.caller } }),
        });
        return;
      }
      session.need(false, `no ${target} is known to be hidden from ${caller.name}`);
    },
  };
}

/** A row of somebody else, such that rows can be below it where the endpoint is about one of these. */
function parentOf(session: Session, endpoint: Endpoint, name: string, target: string, maker: TrialCaller): Promise<TrialRow> {
  const verb = statedValue(endpoint.does)?.verb;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  return verb === 'list' ? session.make(target, { caller: maker }) : rowFor(session, resource, name, target, { caller: maker });
}

/** The request below that row; about a row there where it is about one. @throws {Untestable} */
async function planBelow(
  session: Session,
  endpoint: Endpoint,
  name: string,
  parent: TrialRow,
  caller: TrialCaller,
): Promise<RequestPlan> {
  const effect = statedValue(endpoint.does);
  const others = pathParameters(endpoint.path).filter((one) => one !== name && one !== identifierParameter(endpoint));
  session.need(others.length === 0, 'its path names several rows');
  if (effect?.verb === 'list') return session.model.request(endpoint, { path: { [name]: parent.id }, caller });
  const row = await session.make(resourceOfEffect(effect) ?? '', { parents: { [name]: parent }, for: parent.caller });
  const plan = await requestAbout(session, row, endpoint, {
    caller,
    headers: endpoint.ifMatch === 'required' ? { 'If-Match': '*' } : {},
  });
  return { ...plan, path: { ...plan.path, [name]: parent.id } };
}
