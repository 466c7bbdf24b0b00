import type { Json } from '../../document/document.ts';
import { isMap, isSame } from '../../document/values.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import { type PageStyle, parametersOf } from '../../kinds/pages/kind.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../parts/fact.ts';
import { isCut, type Pagination } from '../../parts/limits.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { pathParameters } from '../../parts/payload.ts';
import { machineIn } from '../../parts/states.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { TrialRow, WantedRow } from '../exchange/row.ts';
import type { Done, ScriptRun, Step } from '../exchange/step.ts';
import { Captured, resolve, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import { itemsOf, rowsShown, unexpanded } from '../model/row-shown.ts';
import { sending } from '../session/request.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { callersFor } from './callers-for.ts';
import { narrowing } from './narrowing.ts';
import { keyValues } from './path-keys.ts';

/** How a list is cut into pages; nothing where it is not, or that is open. */
export function paginationOf(model: Model, endpoint: Endpoint): Pagination | undefined {
  const pagination = statedValue(endpoint.pagination ?? model.spec.limits.pagination);
  return isCut(pagination) ? pagination : undefined;
}

/** The query that asks for the page after one, with its values taken from that page; nothing after the last. */
export function nextPage(model: Model, done: Done<TrialExchange>): Readonly<Record<string, Symbolic>> | undefined {
  const { endpoint } = done.value;
  const pagination = endpoint && paginationOf(model, endpoint);
  const items = itemsOf(model, done.value);
  if (!pagination || !items || !hasNextPage(model, done.value)) return undefined;
  const { tells, count, isFirst }: PageStyle = pageStyle(pagination.style);
  const name = placeOf(pagination);
  const pattern = `[?&]${name.replaceAll(/\W/g, '\\$&')}=([^&>]+)[^>]*>; *rel="?next`;
  const isLinked = pagination.isToldInLink && new RegExp(pattern).test(done.value.headers.link ?? '');
  const linked = { [name]: new Captured(done.step, { in: 'header', name: 'link', pattern }) };
  if (tells === 'token' || isFirst) {
    const isInBody = pagination.isToldInBody && pagination.next !== undefined;
    return isInBody ? { [name]: new Captured(done.step, { in: 'body', pointer: [pagination.next ?? ''] }) } : linked;
  }
  // Where a link says what the next page is, that is what is asked for.
  if (isLinked) return linked;
  if (count) return { [name]: count.following(numberIn(done.value, name, count.least), items.length) };
  const effect = statedValue(endpoint.does);
  const field = model.identifierField(effect && 'resource' in effect ? effect.resource : '');
  const pointer = [...(pagination.items === undefined ? [] : [pagination.items]), items.length - 1, field];
  return { [name]: new Captured(done.step, { in: 'body', pointer }) };
}

/** The parameter that says which page is meant. */
function placeOf(pagination: Pagination): string {
  const [forward] = parametersOf(pageStyle(pagination.style), pagination);
  return forward?.name ?? pagination.style;
}

/** The query that asks for the largest pages there are. */
export function widest(model: Model, endpoint: Endpoint): Readonly<Record<string, number>> {
  const pagination = paginationOf(model, endpoint);
  return pagination?.size === undefined || pagination.max === undefined ? {} : { [pagination.size]: pagination.max };
}

/** Whether a page says that there is another: by its envelope or its link, else by being full. */
export function hasNextPage(model: Model, exchange: TrialExchange): boolean {
  const pagination = exchange.endpoint && paginationOf(model, exchange.endpoint);
  const count = itemsOf(model, exchange)?.length ?? 0;
  if (!pagination || count === 0) return false;
  return tellsNextPage(model, exchange) ?? count >= numberIn(exchange, pagination.size ?? 'size', pagination.default ?? count);
}

/** Whether a page says that there is another; nothing where its style has no way to say so. */
export function tellsNextPage(model: Model, exchange: TrialExchange): boolean | undefined {
  const { endpoint, body, headers } = exchange;
  const pagination = endpoint && paginationOf(model, endpoint);
  if (!pagination) return undefined;
  const envelope = isMap(body) ? body : {};
  if (pagination.isToldInBody) {
    if (pagination.hasMore !== undefined && typeof envelope[pagination.hasMore] === 'boolean')
      return envelope[pagination.hasMore] === true;
    if (pagination.next !== undefined) return envelope[pagination.next] !== null && envelope[pagination.next] !== undefined;
  }
  if (pagination.isToldInLink) return /rel="?next/.test(headers.link ?? '');
  const total = totalOf(model, exchange);
  if (total === undefined) return undefined;
  const count = itemsOf(model, exchange)?.length ?? 0;
  const size = numberIn(exchange, pagination.size ?? 'size', pagination.default ?? count);
  const place = pageStyle(pagination.style).count;
  const from = place ? place.skip(numberIn(exchange, placeOf(pagination), place.least), size) : 0;
  return from + count < total;
}

/** How many rows a page says that there are on all pages. */
export function totalOf(model: Model, { endpoint, body }: TrialExchange): number | undefined {
  const { total } = (endpoint && paginationOf(model, endpoint)) ?? {};
  const value = total === undefined || !isMap(body) ? undefined : body[total];
  return typeof value === 'number' ? value : undefined;
}

function numberIn({ sent }: TrialExchange, name: string, otherwise: number): number {
  const value = Number(sent.query[name] ?? otherwise);
  return Number.isFinite(value) ? value : otherwise;
}

const pagesMax = 60;

/** The step that goes through all pages of a list, or the first of them, however many there are in that run; after the first one, something else may be sent. */
export function walkingPages(
  model: Model,
  first: RequestPlan,
  between?: RequestPlan,
  most: number = pagesMax,
): Step<readonly TrialExchange[]> {
  const firstStep = sending(first);
  const other = between && sending(between);
  return {
    says: `${firstStep.says}, page after page${other ? `, with ${other.says} after the first` : ''}`,
    takes: [...firstStep.takes, ...(other?.takes ?? [])],
    async act(run) {
      const pages: TrialExchange[] = [];
      let plan: RequestPlan | undefined = first;
      while (plan && pages.length < most) {
        const page: TrialExchange = await sending(plan).act(run);
        pages.push(page);
        if (other && pages.length === 1) await other.act(run);
        const next: Readonly<Record<string, Json>> | undefined = isDone(page) ? nextQuery(model, page, run) : undefined;
        plan = next && { ...first, query: { ...first.query, ...next } };
      }
      return pages;
    },
    tell: (pages) => pages.map((page) => `${page.status}, ${itemsOf(model, page)?.length ?? 0} rows`).join('; '),
    shell: (names) => [
      ...firstStep.shell(names),
      ...(other ? other.shell(names) : []),
      '# and so on, page after page, each asked for as the one before says',
    ],
  };
}

/** Whether as many pages were read as are read at the most, so that there may be more. */
export function mayGoOn(pages: readonly TrialExchange[]): boolean {
  return pages.length >= pagesMax;
}

/** The query of the next page with the values of this one in it. */
function nextQuery(model: Model, page: TrialExchange, run: ScriptRun): Readonly<Record<string, Json>> | undefined {
  const next = nextPage(model, { step: 0, value: page });
  // The cast holds: what is resolved from a map is a map.
  return next && (resolve(next, { ...run, results: [page] }) as Readonly<Record<string, Json>>);
}

/** Rows below others that are below others are not looked for any deeper. */
const depthMax = 3;
/** How many lists are gone through for one row, by whoever may. */
const listsMost = 4;
/** How many pages of each. */
const pagesMost = 40;

/** A row that is there already, from a list that somebody may read: where nothing may be made. @throws {Untestable} where none is shown. */
export async function findRow(session: Session, resource: string, wanted: WantedRow, depth = 0): Promise<TrialRow> {
  const { model } = session;
  let why = `no list of ${resource} may be read`;
  let left = listsMost;
  for (const endpoint of model.endpointsThat('list', resource)) {
    for (const caller of wanted.caller ? [wanted.caller] : callersOrNobody(session, endpoint)) {
      if (left-- <= 0) break;
      const path = await pathOfList(session, endpoint, wanted, depth);
      const query = path && (await queryOfList(session, endpoint, wanted, depth));
      if (!path || !query) continue;
      const narrowed = narrowing(endpoint, wanted);
      const narrow = narrowed && { ...query, ...narrowed };
      const own = narrow && (await pickFrom(session, { endpoint, path, query: narrow, caller }, { resource, wanted })).row;
      if (own) return own;
      const { row, isWhole } = await pickFrom(session, { endpoint, path, query, caller }, { resource, wanted });
      if (row) return row;
      if (isWhole !== undefined) why = `${endpoint.key} shows no such ${resource}`;
      // Whom every row is shown is shown no fewer than anybody else.
      if (isWhole && model.access.allows(model.operationOf(endpoint), caller) === 'yes') break;
    }
  }
  throw new Untestable(session.run.isReadOnly ? `${why}, and none is made with --read-only` : why);
}

interface Listing {
  readonly endpoint: Endpoint;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly query: Readonly<Record<string, Symbolic>>;
  readonly caller: TrialCaller | undefined;
}

/** One of the rows of the first page that has such a row, and whether the list was gone through to its end; nothing of that where it was refused. */
async function pickFrom(
  session: Session,
  { endpoint, path, query: stated, caller }: Listing,
  { resource, wanted }: { readonly resource: string; readonly wanted: WantedRow },
): Promise<{ readonly row?: TrialRow; readonly isWhole?: boolean }> {
  const { model } = session;
  const query = { ...widest(model, endpoint), ...stated };
  let page: Readonly<Record<string, Symbolic>> | undefined = {};
  for (let pages = 0; page && pages < pagesMost; pages++) {
    const done: Done<TrialExchange> = await session.send(model.request(endpoint, { path, query: { ...query, ...page }, caller }));
    if (!isDone(done.value)) return pages === 0 ? {} : { isWhole: false };
    const rows = rowsIn(session, done).filter(({ fields }) => fits(session, resource, fields, wanted));
    const row = session.chance.pick(rows);
    if (row) return { row: { ...row, resource, caller, shown: done } };
    page = nextPage(model, done);
  }
  return { isWhole: page === undefined };
}

function callersOrNobody(session: Session, endpoint: Endpoint) {
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const hidden = (caller: TrialCaller) => session.model.unseenBy(resource, caller).size;
  // Who is shown more of a row knows more of it.
  const callers = callersFor(session, endpoint).sort((one, other) => hidden(one) - hidden(other));
  return callers.length > 0 ? callers : [undefined];
}

/** The path of a list, with the rows that it is below found first; nothing where one of its parameters cannot be known. */
async function pathOfList(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  depth: number,
): Promise<Readonly<Record<string, Symbolic>> | undefined> {
  // What names rows by their keys is known of those that it is wanted below.
  const path: Record<string, Symbolic> = bareMap(keyValues(session.model, endpoint, wanted.parents ?? {}));
  for (const name of pathParameters(endpoint.path)) {
    if (path[name] !== undefined) continue;
    const parent = session.model.parentOf(endpoint, name);
    if (parent === undefined || depth >= depthMax) return undefined;
    path[name] = (wanted.parents?.[name] ?? (await findRow(session, parent, {}, depth + 1))).id;
  }
  return path;
}

/** The parameters without which a list shows nothing, where they are rows that it is below; nothing where one of them cannot be known. */
async function queryOfList(
  session: Session,
  endpoint: Endpoint,
  wanted: WantedRow,
  depth: number,
): Promise<Readonly<Record<string, Symbolic>> | undefined> {
  const query: Record<string, Symbolic> = bareMap({});
  for (const [name, stated] of entriesOf(endpoint.parameters)) {
    if (stated.in !== 'query' || !stated.required || stated.default) continue;
    const parent = session.model.parentOf(endpoint, name);
    const known = wanted.parents?.[name];
    if (!known && (parent === undefined || depth >= depthMax)) return undefined;
    query[name] = (known ?? (await findRow(session, parent ?? '', {}, depth + 1))).id;
  }
  return query;
}

/** The rows of a list, each value of which can be taken for later requests. */
function rowsIn(session: Session, done: Done<TrialExchange>): Pick<TrialRow, 'id' | 'known' | 'fields'>[] {
  const { model } = session;
  const shown = rowsShown(model, done.value);
  const items = itemsOf(model, done.value);
  const { endpoint, body } = done.value;
  if (!shown || !items || !endpoint) return [];
  const name = paginationOf(model, endpoint)?.items ?? statedValue(endpoint.pagination ?? model.spec.limits.pagination)?.items;
  const within = Array.isArray(body) || name === undefined ? [] : [name];
  const identifier = model.identifierField(shown.resource);
  return items.flatMap((item, at) => {
    if (item[identifier] === undefined) return [];
    const fields = unexpanded(model, shown.resource, item);
    const taken = (field: string) => new Captured(done.step, { in: 'body', pointer: [...within, at, field] });
    const plain = Object.keys(item).filter((field) => isSame(item[field], fields[field]));
    return [{ id: taken(identifier), known: Object.fromEntries(plain.map((field) => [field, taken(field)])), fields }];
  });
}

/** Whether a row is as it is wanted. */
function fits(
  session: Session,
  resource: string,
  fields: TrialRow['fields'],
  { state, body, parents, machine: wantedOf }: WantedRow,
): boolean {
  const machine = wantedOf ?? machineIn(session.model.spec.states, resource, state);
  if (state !== undefined && machine && fields?.[machine.field] !== state) return false;
  const wanted = Object.entries({
    ...body,
    ...Object.fromEntries(Object.entries(parents ?? {}).map(([name, { id }]) => [name, id])),
  });
  return wanted.every(([name, value]) => {
    const has = fields?.[name];
    return has !== undefined && isSame(has, resolve(value, session.run));
  });
}
