import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { boundByPath, identifierParameter, isWritable, pathParameters } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { resolve } from '../../exchange/symbol.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import { contextOfRow, identified } from '../../make/callers-for.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { givenToOther, isDecidedByGiven } from '../../make/entrusted.ts';
import { requestAbout } from '../../make/request-about.ts';
import { rowFor } from '../../make/row-where.ts';
import { sentKeepsRules } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { idIn } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { withMember } from '../../values/at-path.ts';
import { isValid } from '../endpoints/bodies.ts';
import { makersFor, ownCode, readability } from './row-rules.ts';

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
          const isDecided =
            rules.every((rule) => rule.if) && isDecidedByGiven(model, operation.resource ?? '', link.field, caller);
          if (rules.length > 0 && (isDecided || isCutDown(model, link.target, caller)))
            yield referringCase(model, endpoint, link, caller);
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
function isCutDown(model: Model, resource: string, caller: TrialCaller): boolean {
  const reads = model.endpointsThat('read', resource);
  const asked = reads.length > 0 ? reads : model.endpointsThat('list', resource);
  const rules = asked.flatMap((endpoint) => model.access.rules(model.operationOf(endpoint), caller) ?? []);
  return (
    asked.length > 0 && rules.every((rule) => rule.if) && !asked.some((one) => model.access.isPublic(model.operationOf(one)))
  );
}

function referringCase(model: Model, endpoint: Endpoint, link: Link, caller: TrialCaller): Case {
  const fact = { kind: 'permission rules', subject: endpoint.operation };
  return {
    name: `${endpoint.key} as ${caller.name}, with ${link.field} of others`,
    facts: [fact],
    async run(session: Session) {
      let tried = 0;
      for (const maker of makersFor(model, caller)) {
        const given = givenToOther(session, model.operationOf(endpoint).resource ?? '', link.field, caller);
        const target = maker === caller ? undefined : await ifTestable(session.make(link.target, { caller: maker, ...given }));
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
          isSo: (sent: TrialExchange, made?: TrialExchange) =>
            made !== undefined && isDone(made) && refersTo(model, link, sent, made),
        });
      }
      session.need(tried > 0, `no ${link.target} is known to be hidden from ${caller.name}`);
    },
  };
}

/** Whether a request refers to a row that was made, and nothing else is wrong with its body. */
function refersTo(model: Model, { field, isInPath }: Link, sent: TrialExchange, made: TrialExchange): boolean {
  const { endpoint } = sent;
  if (isInPath || !endpoint || statedValue(endpoint.does)?.verb === 'update') return true;
  const { json } = sent.sent;
  const fits =
    !isStated(model.requestShape(endpoint)) || (isValid(model, sent) && sentKeepsRules(model, endpoint, json) !== 'no');
  return fits && isMap(json) && json[field] === idIn(model, made);
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
