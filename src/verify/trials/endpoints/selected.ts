import type { Json } from '../../../document/document.ts';
import { isMap, isSame } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isAlwaysShown } from '../../../parts/payload.ts';
import type { Resource } from '../../../parts/resources.ts';
import { levelOf } from '../../../parts/shape-level.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { Done } from '../../exchange/step.ts';
import { claimRefused } from '../../make/claim-refused.ts';
import { beginList } from '../../make/own-list.ts';
import { ready } from '../../make/readied.ts';
import { isNeverShown } from '../../model/fields.ts';
import type { Model } from '../../model/model.ts';
import { rowsAnswered, type ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Trial } from '../../session/trial.ts';
import { oneLine } from '../../values/difference.ts';

/** The reason of a claim that an answer shows what was chosen. */
export const chosenShown = 'chosen';
/** What the reasons of claims begin with that a name which there is not, or which is not shown, is refused. */
export const choiceRefused = 'choice refused';

/** What a parameter chooses of a row is shown and nothing else, as it is shown without; what its caller is never shown cannot be chosen. */
export const selected: Trial = {
  name: 'endpoints/selected',
  part: 'endpoints',
  about:
    'An answer shows the fields that were chosen, and a name that its caller is not shown is refused as one that there is not.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = model.resource(resourceOfEffect(effect) ?? '');
      if (!endpoint.select || !effect || !resource || !isStated(resource.fields) || endpoint.produces !== undefined) continue;
      const facts = ['response payload shapes', 'parameters'].map((kind) => ({ kind, subject: endpoint.key }));
      const isReading = effect.verb === 'read' || effect.verb === 'list';
      yield {
        name: endpoint.key,
        facts: isReading ? facts : facts.slice(0, 1),
        run: (session) => (isReading ? chooseOf(session, endpoint, resource) : chooseOfChange(session, endpoint, resource)),
      };
    }
  },
};

/** Most rows have few fields; of others some are chosen. */
const namesMost = 8;

async function chooseOf(session: Session, endpoint: Endpoint, resource: Resource): Promise<void> {
  const { model } = session;
  const plan = await planOf(session, endpoint);
  const before = await session.send(plan({}));
  const [row] = rowsAnswered(model, before.value)?.rows ?? [];
  session.need(row !== undefined, `no ${resource.name} is shown`);
  const parameter = endpoint.select?.parameter ?? '';
  const asked: Done<TrialExchange>[] = [];
  for (const path of pathsOf(model, resource, row)) asked.push(await session.send(plan({ [parameter]: path })));
  const after = await session.send(plan({}));
  for (const done of asked) {
    session.claim({
      fact: { kind: 'response payload shapes', subject: endpoint.key },
      reason: chosenShown,
      at: `${endpoint.at}/select`,
      of: [done, before, after] as const,
      judge: (chosen: TrialExchange, first: TrialExchange, last: TrialExchange) =>
        judgeChosen(model, endpoint, chosen, first, last),
    });
  }
  await refuseOthers(session, endpoint, resource, plan);
}

/** A request that is ready but for what it chooses. */
async function planOf(session: Session, endpoint: Endpoint): Promise<(query: RequestPlan['query']) => RequestPlan> {
  if (statedValue(endpoint.does)?.verb === 'list')
    return (await beginList(session, endpoint, { bodies: [{}], style: 'full' })).plan;
  const { request } = await ready(session, endpoint, { style: 'full' });
  return (query) => ({ ...request, isWhole: true, query: { ...request.query, ...query } });
}

/** Names of what a row shows, two of them together, and what lies within a value. */
function pathsOf(model: Model, resource: Resource, row: ShownFields): string[] {
  const own = model.identifierField(resource.name);
  const names = Object.keys(row).filter((name) => name !== own && entryOf(resource.fields, name) !== undefined);
  const inner = names.flatMap((name) => {
    const value = row[name];
    const field = entryOf(resource.fields, name);
    if (!isMap(value) || !field || field.ref !== undefined || field.children) return [];
    const stated = levelOf(model.spec, statedValue(field.shape) ?? {}).members.map((member) => member.name);
    const member = Object.keys(value).find((one) => stated.includes(one) && !one.includes('.'));
    return member === undefined ? [] : [`${name}.${member}`];
  });
  const [first, second] = names;
  const both = first !== undefined && second !== undefined ? [`${first},${second}`] : [];
  return [own, ...names.slice(0, namesMost), ...both, ...inner.slice(0, namesMost)];
}

function judgeChosen(
  model: Model,
  endpoint: Endpoint,
  chosen: TrialExchange,
  first: TrialExchange,
  last: TrialExchange,
): Judgement {
  const sent = chosen.sent.query[endpoint.select?.parameter ?? ''];
  const shown = rowsAnswered(model, chosen);
  if (!shown || typeof sent !== 'string') return moot('no row is shown');
  const own = model.identifierField(shown.resource);
  const wholes = [first, last].map((exchange) => rowsAnswered(model, exchange)?.rows ?? []);
  // A row that does not say which it is stands where it stood, in a list of as many.
  const isAligned = wholes.every((rows) => rows.length === shown.rows.length);
  let isCompared = false;
  for (const [at, row] of shown.rows.entries()) {
    const isUnnamed = isAligned && (row[own] === undefined || shown.rows.length === 1);
    const [whole, again] = wholes.map((rows) => (isUnnamed ? rows[at] : rows.find((one) => isSame(one[own], row[own]))));
    // What is changed meanwhile by others says nothing.
    if (!whole || !again || !isSame(whole, again)) continue;
    isCompared = true;
    const promised = chosenIn(whole, own, sent.split(','));
    if (!isSame(row, promised)) return { promised: `with ${sent} chosen: ${oneLine(promised)}`, seen: oneLine(row) };
  }
  return isCompared ? undefined : moot('no row was shown whole before and after');
}

/** What is left of a row where some of it is chosen. */
function chosenIn(row: ShownFields, own: string, paths: readonly string[]): ShownFields {
  const out: Record<string, Json> = {};
  for (const path of [own, ...paths]) {
    const [name = '', member] = path.split('.');
    const value = row[name];
    if (value === undefined) continue;
    if (member === undefined || !isMap(value)) out[name] = value;
    else out[name] = value[member] === undefined ? {} : { [member]: value[member] };
  }
  return out;
}

async function refuseOthers(
  session: Session,
  endpoint: Endpoint,
  resource: Resource,
  plan: (query: RequestPlan['query']) => RequestPlan,
): Promise<void> {
  if (resource.additionalProperties) return;
  const { spec } = session.model;
  const control = plan({});
  const parameter = endpoint.select?.parameter ?? '';
  const isPublic = session.model.access.isPublic(session.model.operationOf(endpoint));
  const hidden = entriesOf(resource.fields)
    // Where no credential is asked for, whoever asks may count as nobody or as who they are.
    .filter(([, field]) => isNeverShown(spec, field, control.caller) && (!isPublic || isNeverShown(spec, field, undefined)))
    .map(([name]) => name);
  for (const name of ['nf_not_there', ...hidden.slice(0, namesMost)]) {
    const done = await session.send(plan({ [parameter]: name }));
    claimRefused(session, done, {
      by: { when: 'request.parameter' },
      fact: { kind: 'parameters', subject: endpoint.key },
      reason: `${choiceRefused}: ${name}`,
      what: `a choice of ${name}, which is not shown`,
      at: `${endpoint.at}/select`,
      isSo: ({ sent }) => sent.query[parameter] === name,
      control,
    });
  }
}

/** What makes or changes a row answers with what was chosen of it. */
async function chooseOfChange(session: Session, endpoint: Endpoint, resource: Resource): Promise<void> {
  const { model } = session;
  const own = model.identifierField(resource.name);
  const [name] = entriesOf(resource.fields).flatMap(([one, field]) =>
    one !== own && statedValue(field.required) === true && !field.children && isAlwaysShown(model.spec, field) ? [one] : [],
  );
  session.need(name !== undefined, `no field of ${resource.name} is always shown`);
  const { request } = await ready(session, endpoint);
  const parameter = endpoint.select?.parameter ?? '';
  const done = await session.send({ ...request, query: { ...request.query, [parameter]: name } });
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: chosenShown,
    at: `${endpoint.at}/select`,
    of: [done] as const,
    judge(exchange: TrialExchange): Judgement {
      const chosen = exchange.sent.query[parameter];
      const [row] = rowsAnswered(model, exchange)?.rows ?? [];
      if (!row || typeof chosen !== 'string') return moot('no row is shown');
      const more = Object.keys(row).filter((one) => one !== own && one !== chosen);
      if (more.length === 0 && row[chosen] !== undefined) return undefined;
      return { promised: `with ${chosen} chosen: that and ${own}`, seen: oneLine(row) };
    },
  });
}
