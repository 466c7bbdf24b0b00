import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { isCut } from '../../parts/limits.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { pageIn, statedPaginationOf } from '../limits/page.ts';
import type { TrialRow } from '../make/row.ts';
import type { TrialCaller } from '../model/callers.ts';
import type { Model } from '../model/model.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Case, Trial } from '../trial.ts';
import { Untestable } from '../untestable.ts';
import { identified, identifierField } from './identities.ts';

/** Lists show a caller the rows that a rule allows, all of them, and neither show nor count another. */
export const permittedLists: Trial = {
  name: 'authentication/lists',
  part: 'authentication',
  about: 'Every row in a list is one that a rule allows its reader, every such row is there, and no other is counted.',
  noise: 'quiet',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const effect = statedValue(endpoint.does);
      const resource = resourceOfEffect(effect);
      if (effect?.verb !== 'list' || resource === undefined || pathParameters(endpoint.path).length > 0) continue;
      for (const caller of model.callers) {
        if (isCutDown(model, endpoint, caller)) yield caseOf(model, endpoint, resource, caller);
      }
    }
  },
};

/** Whether each of the rules that let a caller list has a condition over the row. */
function isCutDown(model: Model, endpoint: Endpoint, caller: TrialCaller): boolean {
  const operation = model.operationOf(endpoint);
  if (!caller.credential || model.access.isPublic(operation)) return false;
  const rules = model.access.rules(operation, caller) ?? [];
  return rules.length > 0 && rules.every((rule) => rule.if && model.expressions.reads(rule.if, operation.name, 'resource'));
}

function caseOf(model: Model, endpoint: Endpoint, resource: string, caller: TrialCaller): Case {
  const operation = model.operationOf(endpoint);
  const fact = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${endpoint.key} as ${caller.name}, with rows of others and of its own`,
    facts: [fact],
    async run(session: Session) {
      const known = await identified(session, caller);
      const rows = await rowsOfAll(session, resource);
      session.need(rows.length > 0, `no ${resource} could be made`);
      const own = rows.filter((row) => allows(model, endpoint, known, row) === 'yes');
      const page = model.request(endpoint, { caller, query: sizeOf(model, endpoint) });
      const done = await session.send(page);
      const judge = (seen: TrialExchange) => leakJudgement(model, endpoint, resource, known, seen);
      session.claim({ fact, reason: 'leaks', of: [done], judge });
      session.claim({
        fact,
        reason: 'counts',
        of: [done],
        judge: (seen: TrialExchange) => countJudgement(model, endpoint, seen),
      });
      for (const { made } of own) {
        if (!made) continue;
        session.claim({
          fact,
          reason: 'shows',
          of: [made, done],
          judge: (one: TrialExchange, seen: TrialExchange) => ownJudgement(model, endpoint, resource, one, seen),
        });
      }
    },
  };
}

/** One row of everybody who can make one. */
async function rowsOfAll(session: Session, resource: string): Promise<TrialRow[]> {
  const rows: TrialRow[] = [];
  for (const caller of session.model.callers) {
    try {
      rows.push(await session.make(resource, { caller }));
    } catch (error) {
      if (!(error instanceof Untestable)) throw error;
    }
  }
  return rows;
}

function allows(model: Model, endpoint: Endpoint, caller: TrialCaller, { fields, resource, caller: maker }: TrialRow) {
  if (!fields) return 'unknown';
  return model.access.allows(model.operationOf(endpoint), caller, {
    context: { resource: fields },
    unseen: { resource: model.unseenBy(resource, maker) },
  });
}

/** The largest page, so that most of what there is stands on it. */
function sizeOf(model: Model, endpoint: Endpoint): Record<string, Json> {
  const pagination = statedPaginationOf(model.spec, endpoint);
  return pagination?.size !== undefined && pagination.max !== undefined ? { [pagination.size]: pagination.max } : {};
}

function pageOf(model: Model, endpoint: Endpoint, seen: TrialExchange) {
  const pagination = statedPaginationOf(model.spec, endpoint);
  return pagination && isDone(seen) ? pageIn(pagination, endpoint, seen.body) : undefined;
}

function leakJudgement(model: Model, endpoint: Endpoint, resource: string, caller: TrialCaller, seen: TrialExchange): Judgement {
  const page = pageOf(model, endpoint, seen);
  if (!page) return moot('it is no page');
  const unseen = { resource: model.unseenBy(resource, caller) };
  let isKnown = false;
  for (const item of page.items) {
    if (!isMap(item)) continue;
    const row = asStored(model, resource, item as Readonly<Record<string, Json>>);
    const answer = row && model.access.allows(model.operationOf(endpoint), caller, { context: { resource: row }, unseen });
    if (answer === 'no')
      return {
        promised: `a list shows ${caller.name} what a rule allows`,
        seen: `it shows ${JSON.stringify(item).slice(0, 300)}`,
      };
    if (answer === 'yes') isKnown = true;
  }
  return isKnown ? undefined : moot('of no row of it is it known who may see it');
}

/** A row as conditions read it; nothing where references are shown as something else than identifiers. */
function asStored(model: Model, resource: string, item: Readonly<Record<string, Json>>) {
  const stated = model.resource(resource);
  const shown = stated && entriesOf(stated.fields).some(([, { show }]) => show !== undefined && show !== 'id');
  return shown ? undefined : item;
}

/** Where all rows stand on one page, their number is the total. */
function countJudgement(model: Model, endpoint: Endpoint, seen: TrialExchange): Judgement {
  const page = pageOf(model, endpoint, seen);
  if (page?.total === undefined || page.hasMore !== false) return moot('it does not tell how many there are, or there are more');
  if (page.total === page.items.length) return undefined;
  return { promised: `a total counts what is shown: ${page.items.length}`, seen: `it is ${page.total}` };
}

function ownJudgement(model: Model, endpoint: Endpoint, resource: string, made: TrialExchange, seen: TrialExchange): Judgement {
  const page = pageOf(model, endpoint, seen);
  const field = identifierField(model, resource);
  const id = bodyFields(made)?.[field];
  if (!isDone(made) || id === undefined || !page) return moot('it is no page, or the row was not made');
  if (page.items.some((item) => isMap(item) && item[field] === id)) return undefined;
  const pagination = statedPaginationOf(model.spec, endpoint);
  // Others may stand before it on a page that is full.
  const isWhole =
    page.hasMore === false || (pagination?.default !== undefined && isCut(pagination) && page.items.length < pagination.default);
  if (!isWhole) return moot('there are more pages');
  return {
    promised: `a list shows its reader every row that a rule allows, ${String(id)} among them`,
    seen: `it shows ${page.items.length} others`,
  };
}
