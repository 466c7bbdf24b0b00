import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import { parametersOf } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { isCut, type Pagination } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import type { Spec } from '../../../parts/spec.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type FactName, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { RequestPlan } from '../../exchange/plan.ts';
import type { TrialRow } from '../../exchange/row.ts';
import { Untestable } from '../../exchange/untestable.ts';
import { claimRefusedAs } from '../../make/claim-refused.ts';
import { ready } from '../../make/readied.ts';
import { pathFits } from '../../model/field-rules.ts';
import type { Model } from '../../model/model.ts';
import { isRefused, refusalFor } from '../../model/refused-as.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';

/** So many rows are made for one list at the most. */
const rowsMost = 60;

/** Pages are as large as stated: by default, at the most, and above it. */
export const pageSizes: Trial = {
  name: 'limits/pages',
  part: 'limits',
  about: 'A page has its default size, never more than the most, and what is asked above it is cut down or refused as stated.',
  noise: 'alone',
  isReading: true,
  *cases(model) {
    for (const endpoint of model.endpoints) {
      const pagination = statedPaginationOf(model.spec, endpoint);
      const effect = statedValue(endpoint.does);
      const resource = resourceOfEffect(effect);
      if (effect?.verb !== 'list' || resource === undefined || !isCut(pagination)) continue;
      yield caseOf(model, endpoint, resource, pagination);
    }
  },
};

function caseOf(model: Model, endpoint: Endpoint, resource: string, pagination: Pagination): Case {
  const fact: FactName = { kind: 'pagination bounds', subject: endpoint.key };
  return {
    name: `${endpoint.key}: sizes of pages`,
    facts: [fact],
    async run(session: Session) {
      const { request } = await ready(session, endpoint, {});
      await refusals(session, { fact, endpoint, request, pagination });
      const { default: usual, max } = pagination;
      // To see a page that is cut off, there has to be one row more than it may hold.
      const wanted = Math.max(
        usual !== undefined && usual < rowsMost ? usual + 1 : 0,
        max !== undefined && max < rowsMost ? max + 1 : 0,
      );
      if (wanted > 0) await fill(session, resource, request, wanted);
      const plain = await session.send(request);
      const readerOf = (seen: TrialExchange) => (isDone(seen) ? pageIn(pagination, endpoint, seen) : undefined);
      if (usual !== undefined) {
        session.claim({
          fact,
          reason: 'default',
          at: `${pagination.at}/default`,
          of: [plain],
          judge: (seen: TrialExchange): Judgement => {
            const page = readerOf(seen);
            if (!page) return moot('it is no page');
            const count = page.items.length;
            if (count > usual) return { promised: `${usual} on a page where no size is asked for`, seen: `${count}` };
            if (count < usual && page.hasMore === true)
              return { promised: `${usual} on a page where no size is asked for`, seen: `${count}, and there are more` };
            if (count < usual && (page.total ?? 0) >= usual)
              return { promised: `${usual} on a page where no size is asked for`, seen: `${count} of ${page.total}` };
            return count === usual ? undefined : moot('there are fewer rows');
          },
        });
      }
      const { size } = pagination;
      if (size === undefined || max === undefined) return;
      for (const asked of [max, max + 1]) {
        const done = await session.send({ ...request, query: { ...request.query, [size]: asked } });
        session.claim({
          fact,
          reason: asked > max ? 'above the most' : 'at the most',
          at: `${pagination.at}/max`,
          of: [done, plain],
          judge: (seen: TrialExchange, usually: TrialExchange) =>
            isDone(usually) ? sizeJudgement(model, endpoint, pagination, seen) : moot('the list cannot be read at all'),
        });
      }
    },
  };
}

/** What comes of a size that is asked for: as many at the most, cut down or refused above the bound. */
function sizeJudgement(model: Model, endpoint: Endpoint, pagination: Pagination, seen: TrialExchange): Judgement {
  const { size = '', max = 0, overMax } = pagination;
  const asked = Number(seen.sent.query[size]);
  if (Number.isNaN(asked) || !pathFits(model, seen)) return moot('no size is asked for of what may be asked');
  // What this run has used up itself is nobody's fault.
  if (seen.status === 429) return moot('a rate or a quota refused it');
  const refusal = refusalFor(model, 'limit.page', model.operationOf(endpoint));
  const told = `it was answered ${seen.status}`;
  if (asked > max && overMax === undefined) {
    const { length = 0 } = isDone(seen) ? (pageIn(pagination, endpoint, seen)?.items ?? []) : [];
    // Whether it is cut down or refused is open; more than the most are on no page.
    return length > max
      ? { promised: `${max} on a page at the most`, seen: `${length}` }
      : moot('it is not stated what comes of more');
  }
  if (asked > max && overMax === 'refuse') {
    if (!isRefused(model, seen)) return { promised: `a page of ${asked} is refused: ${max} is the most`, seen: told };
    return refusal?.status === undefined || refusal.status === seen.status
      ? undefined
      : { promised: `a page of ${asked} is ${refusal.status} (${refusal.code})`, seen: told };
  }
  if (!isDone(seen))
    return { promised: asked > max ? `a page of ${asked} is cut down to ${max}` : `a page of ${asked} is allowed`, seen: told };
  const page = pageIn(pagination, endpoint, seen);
  if (!page) return moot('it is no page');
  if (page.items.length > max) return { promised: `${max} on a page at the most`, seen: `${page.items.length}` };
  const isShort = page.items.length < Math.min(asked, max) && page.hasMore === true;
  return isShort
    ? {
        promised: `${Math.min(asked, max)} on a page where so many are asked for`,
        seen: `${page.items.length}, and there are more`,
      }
    : undefined;
}

/** A size that is no number, or none at all, is `limit.page`, and so is a place that is none. */
async function refusals(
  session: Session,
  {
    fact,
    endpoint,
    request,
    pagination,
  }: { readonly fact: FactName; readonly endpoint: Endpoint; readonly request: RequestPlan; readonly pagination: Pagination },
): Promise<void> {
  const { model } = session;
  const { size } = pagination;
  // What a service gives for the next page is refused beside the page that it is given on.
  const places = parametersOf(pageStyle(pagination.style), pagination).filter(({ parameter: { schema } }) => 'minimum' in schema);
  const bad: readonly (readonly [name: string, value: Json, reason: string])[] = [
    ...(size === undefined ? [] : ['many', -1, 0, 1.5].map((value) => [size, value, 'a size that is none'] as const)),
    ...places.flatMap(({ name, parameter }) =>
      parameter.nearMisses.map((value) => [name, value, 'a page that is none'] as const),
    ),
  ];
  for (const [name, asked, reason] of bad) {
    const done = await session.send({ ...request, query: { ...request.query, [name]: asked } });
    session.claim({
      fact,
      reason,
      of: [done],
      judge: (seen: TrialExchange): Judgement => {
        const sent = `${name}=${asText(asked)}`;
        if (!isRefused(model, seen))
          return { promised: `${sent} is refused: \`limit.page\``, seen: `it was answered ${seen.status}` };
        const refusal = refusalFor(model, 'limit.page', model.operationOf(endpoint));
        if (refusal?.status === undefined || seen.status === refusal.status || seen.status === 429) return undefined;
        return { promised: `${sent} is ${refusal.status} (${refusal.code})`, seen: `it was answered ${seen.status}` };
      },
    });
    claimRefusedAs(session, done, {
      by: { when: 'limit.page' },
      what: `${name}=${asText(asked)}`,
      isSo: ({ sent }) => sent.query[name] === asked,
      control: request,
    });
  }
}

/** Makes rows until the list that the request asks for has enough of them, as somebody whose rows it shows. */
async function fill(session: Session, resource: string, request: RequestPlan, wanted: number): Promise<void> {
  const { model } = session;
  const parents = parentsOf(request);
  const able = request.caller ? [request.caller] : [];
  const makers: (TrialCaller | undefined)[] = [...able.filter((caller) => mayCreate(model, resource, caller)), undefined];
  for (let count = 0; count < wanted; count++) {
    try {
      await session.make(resource, { ...(makers[0] && { caller: makers[0] }), ...(parents && { parents }) });
    } catch (error) {
      // Fewer will do for what else is asked.
      if (error instanceof Untestable) return;
      throw error;
    }
  }
}

function mayCreate(model: Model, resource: string, caller: TrialCaller): boolean {
  return model
    .endpointsThat('create', resource)
    .some((endpoint) => model.access.allows(model.operationOf(endpoint), caller) !== 'no');
}

/** The rows that a list's path names: what is made has to stand below them. */
function parentsOf({ path, endpoint }: RequestPlan): Record<string, TrialRow> | undefined {
  const names = endpoint ? pathParameters(endpoint.path).filter((name) => name !== identifierParameter(endpoint)) : [];
  const entries = names.flatMap((name) => {
    const id = path[name];
    return id === undefined
      ? []
      : [[name, { resource: name, id, known: {}, caller: undefined, shown: undefined, fields: undefined }] as const];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

/** What one page of a list shows. */
export interface ShownPage {
  readonly items: readonly Json[];
  /** Whether there are more, as far as the page says. */
  readonly hasMore: boolean | undefined;
  readonly total: number | undefined;
}

/** How a list is paged; nothing where that is not stated. */
export function statedPaginationOf(spec: Spec, endpoint: Endpoint): Pagination | undefined {
  return statedValue(endpoint.pagination ?? spec.limits.pagination);
}

/** Reads a page by its stated envelope and its links; nothing where the answer has another shape, or one that its endpoint states by itself. */
export function pageIn(
  pagination: Pagination,
  endpoint: Endpoint,
  { body, headers }: Pick<TrialExchange, 'body' | 'headers'>,
): ShownPage | undefined {
  if (endpoint.response.standing !== 'open') return undefined;
  const linked = pagination.isToldInLink ? /rel="?next/.test(headers.link ?? '') : undefined;
  const { items: name } = pagination;
  if (name === undefined) return Array.isArray(body) ? { items: body, hasMore: linked, total: undefined } : undefined;
  if (body === undefined || !isMap(body)) return undefined;
  const items = body[name];
  if (!Array.isArray(items)) return undefined;
  const { next, hasMore, total } = pagination;
  const more = hasMore === undefined ? undefined : body[hasMore];
  const following = next === undefined ? undefined : body[next];
  const count = total === undefined ? undefined : body[total];
  return {
    items,
    hasMore: typeof more === 'boolean' ? more : next === undefined ? linked : following !== null && following !== undefined,
    total: typeof count === 'number' ? count : undefined,
  };
}
