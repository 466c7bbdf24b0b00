import type { Json } from '../../document/document.ts';
import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { type Judgement, moot } from '../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import { resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { idIn, rowIn, rowWith, showsResource, tellsDeleted, unexpanded } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { nextPage, widest } from './pages.ts';
import { pathValues, requestAbout } from './request-about.ts';

/** A row as it was looked at again. */
export interface Look {
  readonly done: Done<TrialExchange>;
  /** What was shown; nothing where there was no such row. */
  readonly fields: Readonly<Record<string, Json>> | undefined;
}

/** Sees a row again: by an operation that reads it whole, else in a list. @throws {Untestable} where neither may be called. */
export async function lookAt(session: Session, row: TrialRow, caller?: TrialCaller): Promise<Look> {
  return (await readAgain(session, row, caller)) ?? (await findInLists(session, row, caller)) ?? cannot(row);
}

function cannot(row: TrialRow): never {
  throw new Untestable(`no operation that may be called shows a ${row.resource} again`);
}

async function readAgain(session: Session, row: TrialRow, wanted: TrialCaller | undefined): Promise<Look | undefined> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('read', row.resource)) {
    const reader = readerFor(session, endpoint, row, wanted);
    if (!showsWhole(endpoint) || reader === undefined) continue;
    const done = await session.send(await requestAbout(session, row, endpoint, { caller: reader.caller }));
    const body = isDone(done.value) && !tellsDeleted(model, done.value) ? rowIn(done.value) : undefined;
    const fields = body && unexpanded(model, row.resource, body);
    claimTagApart(session, done);
    remember(row, done, fields);
    return { done, fields };
  }
  return undefined;
}

const pagesMax = 40;

async function findInLists(session: Session, row: TrialRow, wanted: TrialCaller | undefined): Promise<Look | undefined> {
  for (const endpoint of session.model.endpointsThat('list', row.resource)) {
    const reader = readerFor(session, endpoint, row, wanted);
    const look = reader && (await lookInList(session, row, endpoint, reader.caller));
    if (look) return look;
  }
  return undefined;
}

/** Goes through the pages of a list until the row is there; the page that it is on is what was seen. Nothing where that cannot be. */
export async function lookInList(
  session: Session,
  row: TrialRow,
  endpoint: Endpoint,
  caller: TrialCaller | undefined,
): Promise<Look | undefined> {
  const { model } = session;
  const path = pathValues(model, endpoint, row);
  const isWhole = endpoint.response.standing === 'open' && endpoint.produces === undefined;
  if (!isWhole || pathParameters(endpoint.path).some((name) => !Object.hasOwn(path, name))) return undefined;
  const narrowing = { ...widest(model, endpoint), ...filtersFor(session, endpoint, row) };
  let query: Readonly<Record<string, Symbolic>> | undefined = narrowing;
  let last: Done<TrialExchange> | undefined;
  for (let page = 0; query && page < pagesMax; page++) {
    const request = model.request(endpoint, { path, query, caller });
    last = await session.send(request);
    if (!isDone(last.value)) break;
    const fields = rowWith(model, last.value, resolve(row.id, session.run));
    if (fields) {
      remember(row, last, fields);
      return { done: last, fields };
    }
    const next = nextPage(model, last);
    query = next && { ...narrowing, ...next };
  }
  // Only where the list was gone through to its end is a row that was not found not there.
  return last && isDone(last.value) && query === undefined ? { done: last, fields: undefined } : undefined;
}

/** Filters of a list that name the row itself, or what it refers to, so that fewer pages have to be gone through. */
function filtersFor(session: Session, endpoint: Endpoint, row: TrialRow): Record<string, Symbolic> {
  const { model } = session;
  const identifier = model.identifierField(row.resource);
  const resource = model.resource(row.resource);
  const query: Record<string, Symbolic> = {};
  for (const [name, parameter] of entriesOf(endpoint.parameters)) {
    const { filters: field } = parameter;
    if (parameter.in !== 'query' || parameter.op !== '=' || field === undefined) continue;
    const isReference = resource && entriesOf(resource.fields).some(([one, { ref }]) => one === field && ref !== undefined);
    const value = field === identifier ? row.id : isReference ? row.known[field] : undefined;
    if (value !== undefined) query[name] = value;
  }
  return query;
}

function readerFor(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  wanted: TrialCaller | undefined,
): { readonly caller: TrialCaller | undefined } | undefined {
  const { model } = session;
  if (model.access.isPublic(model.operationOf(endpoint)) && model.callers[0]?.credential) return { caller: undefined };
  const callers = callersFor(session, endpoint, row);
  const caller = wanted
    ? callers.find((one) => one === wanted)
    : ((row.made ? undefined : fullest(session, endpoint, row, callers)) ?? callers[0]);
  return caller && { caller };
}

/** Of those who surely may see a row that was found somewhere, who is shown most of it. */
function fullest(
  { model }: Session,
  endpoint: Endpoint,
  row: TrialRow,
  callers: readonly TrialCaller[],
): TrialCaller | undefined {
  const { fields, shown, resource } = row;
  if (!fields || !shown) return undefined;
  const operation = model.operationOf(endpoint);
  const hidden = (one: TrialCaller | undefined) => model.unseenBy(resource, one);
  const known = { context: { resource: fields }, unseen: { resource: hidden(model.readerOf(shown.value)) } };
  const sure = callers.filter((one) => model.access.allows(operation, one, known) === 'yes');
  return sure.sort((one, other) => hidden(one).size - hidden(other).size)[0];
}

function remember(row: TrialRow, done: Done<TrialExchange>, fields: Look['fields']): void {
  if (!fields) return;
  row.fields = fields;
  row.shown = done;
}

/** Whether an endpoint answers with the resource as it is, and says by its path which. */
export function showsWhole(endpoint: Endpoint): boolean {
  const resource = resourceOfEffect(statedValue(endpoint.does));
  if (endpoint.identity !== undefined || endpoint.produces !== undefined || resource === undefined) return false;
  return showsResource(endpoint, resource, 200);
}

/** The reason of such a claim. */
export const tagApart = 'ETag, apart';

/** Claims that a row that reads otherwise than it did to the same reader has another tag: a strong one tells every two representations apart (RFC 9110 section 8.8.1). */
function claimTagApart(session: Session, done: Done<TrialExchange>): void {
  const { model, run } = session;
  const { endpoint, caller, sent } = done.value;
  if (endpoint?.etag !== 'strong') return;
  const step = run.results.findLastIndex(
    (one, at) =>
      at < done.step &&
      isExchange(one) &&
      one.endpoint === endpoint &&
      one.caller === caller &&
      one.sent.target === sent.target &&
      isDone(one),
  );
  const earlier = run.results[step];
  if (!isExchange(earlier)) return;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: tagApart,
    at: `${endpoint.at}/etag`,
    of: [{ step, value: earlier }, done] as const,
    judge(before: TrialExchange, after: TrialExchange): Judgement {
      const [old, row] = [before, after].map((one) => (isDone(one) ? rowWith(model, one, idIn(model, one)) : undefined));
      if (!old || !row || isSame(old, row)) return moot('nothing has changed');
      const { etag } = before.headers;
      if (etag === undefined || etag.startsWith('W/')) return moot('it shows no strong ETag');
      if (after.headers.etag !== etag) return undefined;
      return { promised: 'another ETag for another representation', seen: `${etag} for both` };
    },
  });
}

/** The reason of a claim that a change answers with another tag than the row had. */
export const tagOfChange = 'ETag, of what has changed';

/** Claims that what answers a change shows the tag of the row as it is then, and not as it was. */
export function claimTagOfChange(session: Session, before: Done<TrialExchange>, done: Done<TrialExchange>): void {
  const { endpoint } = done.value;
  if (endpoint?.etag !== 'strong') return;
  const { model } = session;
  session.claim({
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: tagOfChange,
    at: `${endpoint.at}/etag`,
    of: [done, before] as const,
    judge(change: TrialExchange, was: TrialExchange): Judgement {
      const id = idIn(model, change);
      const [old, row] = [was, change].map((one) => (isDone(one) ? rowWith(model, one, id) : undefined));
      const isChanged = old && row && Object.keys(row).some((name) => old[name] !== undefined && !isSame(old[name], row[name]));
      const { etag } = change.headers;
      if (!isChanged || etag === undefined || was.headers.etag === undefined) return moot('nothing that is shown has changed');
      return etag === was.headers.etag ? { promised: 'the ETag of the row as it is now', seen: `${etag}, as before` } : undefined;
    },
  });
}

/** The header that an endpoint asks for before it changes a row: the ETag that the same caller reads. @throws {Untestable} */
export async function preconditions(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  caller: TrialCaller | undefined,
): Promise<Record<string, Symbolic>> {
  if (endpoint.ifMatch !== 'required') return {};
  // A weak tag never matches (RFC 9110 section 13.1.1).
  const isStrong = session.model
    .endpointsThat('read', row.resource)
    .some((read) => read.etag === 'strong' && isReadAsCaller(session.model, read, row.resource, caller));
  return { 'If-Match': isStrong ? await etagFor(session, row, caller) : '*' };
}

/** The ETag of a row as a caller reads it. @throws {Untestable} */
export async function etagFor(session: Session, row: TrialRow, caller: TrialCaller | undefined): Promise<Symbolic> {
  const { model } = session;
  const read = model
    .endpointsThat('read', row.resource)
    .find(
      (one) =>
        one.etag !== undefined && showsWhole(one) && statedValue(one.does) && isReadAsCaller(model, one, row.resource, caller),
    );
  const known = shownTag(session, row, read, caller);
  if (known) return known;
  if (!read || model.access.allows(model.operationOf(read), caller) === 'no')
    throw new Untestable(`nothing shows the ETag of a ${row.resource}`);
  const done = await session.send(await requestAbout(session, row, read, { caller }));
  if (!isDone(done.value) || done.value.headers.etag === undefined)
    throw new Untestable(`the ETag of a ${row.resource} is not shown`);
  return session.capturedHeader(done, 'etag');
}

/** The ETag with which the same caller read the row last, where nothing was changed since. */
function shownTag(session: Session, { shown }: TrialRow, read: Endpoint | undefined, caller: TrialCaller | undefined) {
  if (!shown || shown.value.endpoint !== read || shown.value.caller !== caller || !shown.value.headers.etag) return undefined;
  const since = session.run.results.slice(shown.step + 1);
  return since.every((result) => isExchange(result) && result.sent.method === 'GET')
    ? session.capturedHeader(shown, 'etag')
    : undefined;
}

/** Whether a read shows the representation that a change by the caller is compared with: a public one may show less than the caller would be shown. */
function isReadAsCaller(model: Model, read: Endpoint, resource: string, caller: TrialCaller | undefined): boolean {
  const reader = model.readerOf({ endpoint: read, ...(caller && { caller }) });
  if (reader === caller) return true;
  const hidden = [...model.unseenBy(resource, reader)];
  const own = model.unseenBy(resource, caller);
  return hidden.length === own.size && hidden.every((name) => own.has(name));
}
