import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { isCut } from '../../../parts/limits.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { pathParameters } from '../../../parts/payload.ts';
import { machinesOf } from '../../../parts/states.ts';
import { asText } from '../../exchange/as-text.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { contextOfRow, identified, identifierField } from '../../make/callers-for.ts';
import { pathValues } from '../../make/request-about.ts';
import { changedByClock } from '../../model/clock-changes.ts';
import type { Model } from '../../model/model.ts';
import { isRefusal, isRefused, refusalFor, standsForAlone } from '../../model/refused-as.ts';
import { rowIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import type { Case, Trial } from '../../session/trial.ts';
import { pageIn, statedPaginationOf } from '../limits/pages.ts';
import { readableRow, rowsOfMakers } from './letting-in.ts';
import { isCutDown, isSparedOf, staysAllowed } from './row-rules.ts';

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
      if (effect?.verb !== 'list' || resource === undefined) continue;
      for (const caller of model.callers) {
        if (isCutDown(model, endpoint, caller) || isSparedOf(model, endpoint, caller))
          yield caseOf(model, endpoint, resource, caller);
      }
    }
  },
};

function caseOf(model: Model, endpoint: Endpoint, resource: string, caller: TrialCaller): Case {
  const operation = model.operationOf(endpoint);
  const fact = { kind: 'permission rules', subject: operation.name };
  return {
    name: `${endpoint.key} as ${caller.name}, with rows of others and of its own`,
    facts: [fact],
    async run(session: Session) {
      const known = await identified(session, caller);
      const allowed = (row: TrialRow) => model.access.allows(operation, known, contextOfRow(session, row));
      const rows = await rowsOfMakers(session, resource);
      if (!rows.some((row) => allowed(row) === 'yes')) rows.push(...(await readableRow(session, resource, caller)));
      session.need(rows.length > 0, `no ${resource} could be made`);
      const own = rows.filter((row) => allowed(row) === 'yes');
      const foreign = rows.filter((row) => allowed(row) === 'no');
      const listing = { endpoint, resource, known, foreign };
      if (pathParameters(endpoint.path).length > 0) return listBelow(session, listing, own);
      await ask(session, listing, {});
      const done = await ask(session, listing, largestPage(model, endpoint));
      for (const row of own) claimShown(session, listing, row, done);
      // Where there are many, it stands on a page of those that are like it.
      for (const row of own.slice(0, ownMost)) {
        const query = Object.assign({}, largestPage(model, endpoint), ...filtersFor(model, endpoint, [row]));
        claimShown(session, listing, row, await ask(session, listing, query));
      }
      // However it is asked for, by the very values of what is another's: it is not shown.
      for (const query of narrowings(model, endpoint, foreign))
        await ask(session, listing, { ...largestPage(model, endpoint), ...query });
    },
  };
}

/** A list as somebody asks for it, and rows that it must not show them. */
interface Listing {
  readonly endpoint: Endpoint;
  readonly resource: string;
  readonly known: TrialCaller;
  readonly foreign: readonly TrialRow[];
}

async function ask(session: Session, listing: Listing, query: Readonly<Record<string, Symbolic>>, path = {}) {
  const { model } = session;
  const { endpoint, resource, known, foreign } = listing;
  const fact = { kind: 'permission rules', subject: endpoint.operation };
  const caller = model.callers.find(({ name }) => name === known.name);
  const done = await session.send(model.request(endpoint, { caller, path, query }));
  const judge = (seen: TrialExchange) => leakJudgement(model, endpoint, resource, known, seen);
  session.claim({ fact, reason: 'leaks', of: [done], judge });
  for (const { made } of foreign)
    if (made)
      session.claim({
        fact,
        reason: 'leaks',
        of: [done, made],
        judge: (seen: TrialExchange, creation: TrialExchange) => hiddenJudgement(model, listing, seen, creation),
      });
  if (isDone(done.value))
    session.claim({ fact, reason: 'counts', of: [done], judge: (seen: TrialExchange) => countJudgement(model, endpoint, seen) });
  return done;
}

const ownMost = 3;

/** A row that a rule allows is shown. */
function claimShown(
  session: Session,
  { endpoint, resource, known }: Listing,
  { made, shown }: TrialRow,
  done: Awaited<ReturnType<typeof ask>>,
): void {
  const { model } = session;
  if (!made) return;
  session.claim({
    fact: { kind: 'permission rules', subject: endpoint.operation },
    reason: 'shows',
    of: [made, done, shown ?? made] as const,
    judge: (one: TrialExchange, seen: TrialExchange, last: TrialExchange): Judgement => {
      const stay = { resource, made: one, last, seen };
      if (!staysAllowed(model, model.operationOf(endpoint), known, stay)) return moot('it may be otherwise by now');
      return listedJudgement(model, endpoint, resource, one, seen);
    },
  });
}

/** A list below a row of somebody else shows nothing of it, and one below a row that it may be shown of shows that. */
async function listBelow(session: Session, listing: Listing, own: readonly TrialRow[]): Promise<void> {
  const { endpoint, resource, known } = listing;
  for (const row of own.slice(0, ownMost))
    claimShown(session, listing, row, await ask(session, listing, {}, pathValues(session.model, endpoint, row)));
  session.need(own.length + listing.foreign.length > 0, `of no ${resource} it is known whether ${known.name} may see it`);
  for (const row of listing.foreign.slice(0, foreignMost))
    await ask(session, listing, {}, pathValues(session.model, listing.endpoint, row));
}

const foreignMost = 2;

/** Each filter by what a row of somebody else has, and each order. */
function* narrowings(
  model: Model,
  endpoint: Endpoint,
  foreign: readonly TrialRow[],
): Iterable<Readonly<Record<string, Symbolic>>> {
  for (const [name, { in: place, sorts, shape }] of entriesOf(endpoint.parameters)) {
    const values = statedValue(shape)?.enum;
    if (place === 'query' && sorts && Array.isArray(values))
      for (const value of values.slice(0, 2) as readonly Json[]) yield { [name]: value };
  }
  yield* filtersFor(model, endpoint, foreign);
}

/** Each filter by what one of these rows has. */
function* filtersFor(
  { spec }: Model,
  { parameters }: Endpoint,
  rows: readonly TrialRow[],
): Iterable<Readonly<Record<string, Symbolic>>> {
  for (const [name, { in: place, filters, chooses, op }] of entriesOf(parameters)) {
    // What takes several values at once takes one (`split: ","`).
    const field = filters ?? (chooses?.by === 'path' ? chooses.path : undefined);
    if (place !== 'query' || field === undefined || ['!=', '<', '>'].includes(op)) continue;
    const row = rows.find(({ fields }) => ['string', 'number', 'boolean'].includes(typeof fields?.[field]));
    // The state that a row begins in is the same each time, though no request has said it.
    const isState = row !== undefined && machinesOf(spec.states, row.resource).some((machine) => machine.field === field);
    // What was sent may have been set otherwise since.
    const value = isState ? row.fields?.[field] : row?.known[field];
    if (value !== undefined) yield { [name]: op === 'in' && filters !== undefined ? [value] : value };
  }
}

/** A row of somebody else that no rule allows is not shown, whatever was asked. */
export function hiddenJudgement(
  model: Model,
  { endpoint, resource, known }: Omit<Listing, 'foreign'>,
  seen: TrialExchange,
  creation: TrialExchange,
): Judgement {
  const id = rowIn(creation)?.[identifierField(model, resource)];
  if (!isDone(creation) || id === undefined) return moot('the row was not made');
  const row = isDone(seen) ? rowWith(model, seen, id) : undefined;
  return row && { promised: `no rule allows ${endpoint.operation} of ${asText(id)} to ${known.name}`, seen: 'the list shows it' };
}

/** The largest page, so that most of what there is stands on it. */
export function largestPage(model: Model, endpoint: Endpoint): Record<string, Json> {
  const pagination = statedPaginationOf(model.spec, endpoint);
  return pagination?.size !== undefined && pagination.max !== undefined ? { [pagination.size]: pagination.max } : {};
}

function pageOf(model: Model, endpoint: Endpoint, seen: TrialExchange) {
  const pagination = statedPaginationOf(model.spec, endpoint);
  return pagination && isDone(seen) ? pageIn(pagination, endpoint, seen) : undefined;
}

function leakJudgement(model: Model, endpoint: Endpoint, resource: string, caller: TrialCaller, seen: TrialExchange): Judgement {
  const page = pageOf(model, endpoint, seen);
  if (!page) return moot('it is no page');
  let isKnown = false;
  for (const item of page.items) {
    if (!isMap(item)) continue;
    const row = asStored(model, resource, item as Readonly<Record<string, Json>>);
    const unseen = { resource: model.unseenIn(resource, caller, row) };
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

/** A row that a rule allows stands on the page, where the page has all rows. */
export function listedJudgement(
  model: Model,
  endpoint: Endpoint,
  resource: string,
  made: TrialExchange,
  seen: TrialExchange,
): Judgement {
  const page = pageOf(model, endpoint, seen);
  const field = identifierField(model, resource);
  const id = rowIn(made)?.[field];
  if (!isDone(made) || id === undefined) return moot('the row was not made');
  if (isForbidden(model, endpoint, seen))
    return { promised: `a list shows its reader every row that a rule allows, ${asText(id)} among them`, seen: `${seen.status}` };
  if (!page) return moot('it is no page');
  if (page.items.some((item) => isMap(item) && item[field] === id)) return undefined;
  const pagination = statedPaginationOf(model.spec, endpoint);
  // Others may stand before it on a page that is full.
  const isWhole =
    page.hasMore === false || (pagination?.default !== undefined && isCut(pagination) && page.items.length < pagination.default);
  if (!isWhole) return moot('there are more pages');
  if (mayHaveMoved(model, endpoint, resource, made, seen))
    return moot('the clock may have changed what it is found by meanwhile');
  return {
    promised: `a list shows its reader every row that a rule allows, ${asText(id)} among them`,
    seen: `it shows ${page.items.length} others`,
  };
}

/** Whether a list was refused to somebody as forbidden, by a code that stands for nothing else. */
function isForbidden(model: Model, endpoint: Endpoint, seen: TrialExchange): boolean {
  const refusal = refusalFor(model, 'caller.forbidden', model.operationOf(endpoint));
  return (
    refusal !== undefined &&
    isRefused(model, seen) &&
    isRefusal(model, seen, refusal) &&
    standsForAlone(model, refusal, 'caller.forbidden')
  );
}

/** Whether the clock may have changed what decides whether a row is shown: what is asked for, or what a rule reads of it. */
function mayHaveMoved(model: Model, endpoint: Endpoint, resource: string, made: TrialExchange, seen: TrialExchange): boolean {
  const byClock = changedByClock(model, resource, [made, seen], (one) => (one === made ? rowIn(one) : undefined));
  const asked = entriesOf(endpoint.parameters).flatMap(([name, { filters }]) =>
    filters !== undefined && Object.hasOwn(seen.sent.query, name) ? [filters] : [],
  );
  const rules = model.access.rules(model.operationOf(endpoint), seen.caller) ?? [];
  const read = rules.flatMap((rule) => (rule.if ? model.expressions.readsOf(rule.if, endpoint.operation) : []));
  return [...asked, ...read.flatMap(({ root, path: [name] }) => (root === 'resource' && name !== undefined ? [name] : []))].some(
    byClock,
  );
}
