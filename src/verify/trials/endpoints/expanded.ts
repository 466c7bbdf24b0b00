import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isAlwaysShown, pathParameters } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import { asText } from '../../exchange/as-text.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import { resolve, type Symbolic } from '../../exchange/symbol.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { beginList } from '../../make/own-list.ts';
import { ready } from '../../make/readied.ts';
import type { Model } from '../../model/model.ts';
import { rowIn, rowsAnswered, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { membersOf } from '../../values/at-path.ts';
import { oneLine } from '../../values/difference.ts';

/** The reasons of claims that what was asked for is shown whole: by a parameter, and by a member of the body. */
const expandedBy = { parameter: 'expanded', member: 'expanded in the body' } as const;

/** A reference that is asked for is shown as the row which it names, in a row and in the rows of a list. */
export const expanded: Trial = {
  name: 'endpoints/expanded',
  part: 'endpoints',
  about: 'A reference that is asked for is shown whole, by the parameter, below the rows of a list, and by the member of a body.',
  noise: 'quiet',
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      const isPlain = !isStated(endpoint.response) && endpoint.produces === undefined && endpoint.select === undefined;
      if (!endpoint.expand || !resource || !isPlain || referencesOf(model, resource).length === 0) continue;
      const facts = [{ kind: 'response payload shapes', subject: endpoint.key }];
      if (effect?.verb === 'read' || effect?.verb === 'list')
        yield { name: endpoint.key, facts, run: (session) => expandRead(session, endpoint, resource) };
      if (endpoint.expand.member !== undefined && (effect?.verb === 'create' || effect?.verb === 'update'))
        yield { name: `${endpoint.key}, in the body`, facts, run: (session) => expandChanged(session, endpoint, resource) };
    }
  },
};

/** References that are shown as identifiers unless they are asked for, to rows that can be read by these alone. */
function referencesOf(
  model: Model,
  resource: Resource,
): { readonly name: string; readonly target: string; readonly read: Endpoint }[] {
  return entriesOf(resource.fields).flatMap(([name, field]) => {
    if (field.ref === undefined || (field.show !== undefined && field.show !== 'id') || !isAlwaysShown(model.spec, field))
      return [];
    const [read] = model.endpointsThat('read', field.ref).filter(({ path }) => pathParameters(path).length === 1);
    return read ? [{ name, target: field.ref, read }] : [];
  });
}

/** So many references of one row are asked for. */
const referencesMost = 4;

interface Asked {
  readonly name: string;
  readonly target: string;
  readonly reason: string;
}

async function expandRead(session: Session, endpoint: Endpoint, resource: Resource): Promise<void> {
  const { model } = session;
  const { parameter = 'expand', below } = endpoint.expand ?? {};
  const isList = statedValue(endpoint.does)?.verb === 'list';
  const { plan, row } = await begun(session, endpoint, isList);
  const there = referencesOf(model, resource).flatMap((one) => {
    const id = isIdentifier(row.fields?.[one.name]) ? row.known[one.name] : undefined;
    return id === undefined ? [] : [{ ...one, id }];
  });
  session.need(there.length > 0, `no ${resource.name} refers to anything that is shown`);
  for (const { name, target, read, id } of there.slice(0, referencesMost)) {
    const path = isList && below !== undefined ? `${below}.${name}` : name;
    const done = await session.send(plan({ [parameter]: path }));
    const look = await lookAtTarget(session, read, id, plan({}));
    claimExpanded(session, endpoint, { name, target, reason: expandedBy.parameter }, done, look);
  }
  const first = there[0]?.name ?? '';
  if (!isList || below === undefined) return;
  // Paths begin with the member that holds the rows: what does not names nothing.
  claimRefused(session, await session.send(plan({ [parameter]: first })), {
    by: { when: 'request.parameter' },
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: 'expanded below alone',
    at: `${endpoint.at}/expand`,
    what: `${parameter}=${first}, which is not below ${below}`,
    control: plan({ [parameter]: `${below}.${first}` }),
  });
}

function isIdentifier(value: Json | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** A request that is ready but for what is asked for, and a row that its answer shows. */
async function begun(
  session: Session,
  endpoint: Endpoint,
  isList: boolean,
): Promise<{ readonly plan: (query: RequestPlan['query']) => RequestPlan; readonly row: TrialRow }> {
  // The newest need not be on the first page: a list that is its own, where there is one, shows it.
  if (isList) return beginList(session, endpoint, { bodies: [{}], style: 'full', narrowedBut: [] });
  const { request, row } = await ready(session, endpoint, { style: 'full' });
  if (!row) throw new Untestable(`${endpoint.key} shows no row that was made`);
  return { row, plan: (query) => ({ ...request, isWhole: true, query: { ...request.query, ...query } }) };
}

/** What the reference leads to, as whoever asks reads it: of what is not to be read it stays an identifier. */
function lookAtTarget(session: Session, read: Endpoint, id: Symbolic, { caller }: RequestPlan): Promise<Done<TrialExchange>> {
  const [parameter = ''] = pathParameters(read.path);
  return session.send(session.model.request(read, { path: { [parameter]: id }, caller }));
}

async function expandChanged(session: Session, endpoint: Endpoint, resource: Resource): Promise<void> {
  const { member = 'expand' } = endpoint.expand ?? {};
  const { request } = await ready(session, endpoint, { style: 'full' });
  const { body } = request;
  session.need(body !== undefined && 'value' in body, `${endpoint.key} takes no body`);
  const sent = membersOf(body.value);
  const there = referencesOf(session.model, resource).find(({ name }) => isIdentifier(resolve(sent[name] ?? null, session.run)));
  session.need(there !== undefined, `${endpoint.key} sends nothing that refers to anything`);
  const done = await session.send({
    ...request,
    isWhole: true,
    body: { ...body, value: { ...sent, [member]: [there.name] } },
  });
  const look = await lookAtTarget(session, there.read, sent[there.name] ?? null, request);
  claimExpanded(session, endpoint, { ...there, reason: expandedBy.member }, done, look);
}

function claimExpanded(
  session: Session,
  endpoint: Endpoint,
  asked: Asked,
  done: Done<TrialExchange>,
  look: Done<TrialExchange>,
): void {
  const { model } = session;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: asked.reason,
    at: `${endpoint.at}/expand`,
    of: [done, look] as const,
    judge: (answer: TrialExchange, read: TrialExchange) => judgeExpanded(model, asked, answer, read),
  });
}

function judgeExpanded(model: Model, { name, target, reason }: Asked, answer: TrialExchange, read: TrialExchange): Judgement {
  if (!isDone(read)) return moot(`the ${target} is not read by whoever asks`);
  const meant = rowIn(read);
  const id = meant?.[model.identifierField(target)];
  if (model.refusals.isHurried(answer) || id === undefined) return moot('it could not be looked at');
  const promised = `${name} is shown as the ${target} that it refers to`;
  if (!isDone(answer))
    return isRefusedForIt(model, answer, reason) ? { promised, seen: asText(answer.status) } : moot('it was not answered');
  const rows: readonly ShownFields[] = rowsAnswered(model, answer)?.rows ?? [];
  const shown = rows.map((row) => row[name]).find((value) => isOf(model, target, value, id));
  if (shown === undefined) return moot('the row that refers to it is not shown');
  if (!isMap(shown)) return { promised, seen: oneLine(shown) };
  const lacking = Object.keys(meant ?? {}).find((field) => shown[field] === undefined);
  return lacking === undefined ? undefined : { promised: `${promised}, with ${lacking}`, seen: oneLine(shown) };
}

/** Whether what was asked for stands in the way of an answer that comes without it. */
function isRefusedForIt(model: Model, answer: TrialExchange, reason: string): boolean {
  const operation = answer.endpoint && model.operationOf(answer.endpoint);
  const code = model.refusals.codeIn(answer);
  const conditions = reason === expandedBy.parameter ? (['request.parameter'] as const) : (['request.invalid.unknown'] as const);
  return code === undefined
    ? answer.status === 400 || answer.status === 422
    : conditions.some((condition) => model.refusals.codesFor(condition, operation).includes(code));
}

function isOf(model: Model, target: string, value: Json | undefined, id: Json): boolean {
  return asText(isMap(value) ? value[model.identifierField(target)] : value) === asText(id);
}
