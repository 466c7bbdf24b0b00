import { inOnePiece, pageStyle } from '../../../kinds/pages/all.ts';
import type { PageStyle } from '../../../kinds/pages/kind.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf } from '../../../parts/fact.ts';
import { isCut } from '../../../parts/limits.ts';
import { directorOf, type Parameter } from '../../../parts/parameters.ts';
import { ReadTooLong } from '../../../store/failures.ts';
import type { FoundRow, Reader, Scalar } from '../../../store/store.ts';
import type { ListAccess } from '../../callers/list-access.ts';
import { canonical } from '../../exchange/column.ts';
import type { Exchange, Refusal, Value } from '../../exchange/exchange.ts';
import type { Models, Work } from '../act.ts';
import { sortableFields, sortsByAny } from '../indexes.ts';
import { compileLocator, type Locator, operationAt } from '../locate.ts';
import type { RowModel } from '../model.ts';
import { boundValue } from '../path-rows.ts';
import type { ViewCompilation } from '../view-compilation.ts';
import { compileChosen, findNarrowed, hiddenFields, orderOf, type Sorting, unseenFilter } from './choosing.ts';
import { findRows, findTexts, type LongPage, type Page, type PageQuery, tellsPrevious } from './envelope.ts';
import {
  atOnceMost,
  compilePaging,
  countedPage,
  type PageAsked,
  type Paging,
  pagingOf,
  refusePage,
  unpagedMost,
  wholeMost,
} from './paging.ts';
import { type Cursors, type Position, Questions, type SortKey, type Test, valuesOf } from './query.ts';

/**
 * What becomes of the rows of a list: their texts are passed on as they are, they are shown one by one, or something is made of all
 * of them together.
 */
export type RowsUse = 'joined' | 'shown' | 'whole';

export interface CompiledList {
  readonly paging: Paging;
  /** @throws {ReadTooLong} where a list that has to be there as a whole has too many rows. */
  readonly run: (
    work: Work<Reader>,
    exchange: Exchange,
    use: RowsUse,
  ) => Page | LongPage | { readonly refusal: Refusal } | { readonly tooMany: true };
}

/** Compiles `list RESOURCE`: filters, order, page, parents; a bad page is refused before a missing parent. */
export function compileList(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  cursors: Cursors,
  acceptsOpen: boolean,
  compilation: ViewCompilation,
): CompiledList {
  const locator = compileLocator(endpoint, model, models, compilation);
  const isLenient = compilation.standIn?.isLenient === true;
  const { stated, paging, named } = compilePages(endpoint, cursors, acceptsOpen, compilation);
  const { filters, sorting, sortable, fixedOrder } = statedList(endpoint, model);
  const style: PageStyle = paging.pagination ? pageStyle(paging.pagination.style) : inOnePiece;
  const questions = new Questions(model.name, fixedOrder, toldBy[style.tells], endpoint.ties === 'newest');
  const spoken = (order: readonly SortKey[]) => `${endpoint.key} ${compilation.version?.index ?? ''}\n${canonical(order)}`;
  const usual = spoken(fixedOrder);
  const hidden = hiddenFields(compilation.spec, model, compilation.user);
  const unseenFilters = filters.filter(({ filters: field = '' }) => hidden.has(field));
  const listing = compilation.access.listing(operationAt(endpoint), compilation.user);
  const chosen = compileChosen(operationAt(endpoint).name, models, compilation);
  const { wantsTotal, isBounded, isPreviousTold } = wantedOf(paging, compilation.standIn !== undefined);
  const narrow = compilation.standIn?.compileNarrowing(endpoint, model, named);

  function run(work: Work<Reader>, exchange: Exchange, use: RowsUse): ReturnType<CompiledList['run']> {
    const unseen = unseenFilter(exchange, unseenFilters) ?? unseenFilter(exchange, chosen.unseen);
    if (unseen) return { refusal: unseen };
    locator.place?.(work, exchange);
    const tests = testsOf(exchange, locator, filters, model);
    const order = orderOf(exchange, sorting, fixedOrder, model, sortable, hidden);
    if ('refusal' in order) return order;
    const filter = chosen.filter(exchange, work.scope, listing.filter(work.scope));
    const name = queryName(order === fixedOrder ? usual : spoken(order), tests);
    const narrowed = narrow?.(exchange);
    const query = name + (filter ? `\n\n${filter.bound}` : '') + (narrowed ? `\n\n${narrowed.key}` : '');
    const read = paging.read(exchange, query);
    if ('refusal' in read) return read;
    const asked = isLenient ? countedPage(read, exchange, paging) : read;
    const start = startOf(work, asked, order, model, listing, style.isFirst ? (endpoint.ties === 'newest' ? 1 : -1) : 0);
    if (start && 'refusal' in start) return start;
    const parents = locator.parents(work, exchange);
    if (parents) return { refusal: parents };
    const size = isBounded ? asked.size : Math.min(asked.size, use === 'whole' ? wholeMost : atOnceMost);
    const wanted: PageQuery = { question: questions.of(tests, filter, order), tests, filter, size, offset: asked.offset, start };
    const isReversed = start?.back ?? false;
    const goesBack = isPreviousTold && (start !== undefined || (asked.offset ?? 0) > 0);
    const isJoined = use === 'joined' && isBounded && !isReversed && !style.isFirst;
    const some = narrowed && findNarrowed(work.rows, { ...wanted, size: asked.size }, narrowed, model);
    const found = some ?? (isJoined ? findTexts(work.rows, wanted, goesBack) : findRows(work.rows, wanted));
    if (!some && found.isMore && size < asked.size) {
      if (use === 'whole') throw new ReadTooLong(tooManyToBeWhole);
      return longPage(wanted, work.rows, wantsTotal, paging.isOpen);
    }
    if (paging.isOpen && found.isMore && asked.size === read.size) return { tooMany: true };
    const step = stepper(asked, style, (row, back) => cursors.write({ keys: row.keys ?? [], seq: row.seq, back }, query));
    const total = wantsTotal ? (some?.total ?? countOf(work.rows, wanted)) : undefined;
    const page = pageOf(found, isReversed, goesBack, step, { total, size, isOpen: paging.isOpen });
    return { ...page, ...placeOf(asked, start, style, isBounded || asked.size < read.size) };
  }
  return { paging: stated, run };
}

/** The pages that are stated; those that are asked for, of a stand-in by its body too; and the names of what asks for them. */
function compilePages(endpoint: Endpoint, cursors: Cursors, acceptsOpen: boolean, { spec, standIn }: ViewCompilation) {
  const isLenient = standIn?.isLenient === true;
  const stated = compilePaging(endpoint, spec.limits.pagination, cursors, acceptsOpen, isLenient);
  const inBody = standIn?.compileBodyPages(endpoint);
  if (!inBody) return { stated, paging: stated, named: stated.names };
  // A query that asks for pages by the same names says what the body does not.
  const sent: typeof inBody.sent = (exchange) => ({ ...exchange.params, ...inBody.sent(exchange) });
  const paging = isCut(stated.pagination)
    ? pagingOf(stated.pagination, cursors, isLenient, sent)
    : pagingOf(inBody.pagination, cursors, isLenient, inBody.sent);
  return { stated, paging, named: [...paging.names, ...inBody.holders] };
}

/** What is looked at beside the rows of a page; a stand-in says around them whatever its answer has members for. */
function wantedOf({ pagination }: Paging, isStandIn: boolean) {
  return {
    wantsTotal: pagination?.total !== undefined || isStandIn,
    isBounded: isCut(pagination),
    isPreviousTold: tellsPrevious(pagination) || isStandIn,
  };
}

/** Where a page stands in its list. */
function placeOf({ offset = 0 }: PageAsked, start: Position | undefined, { count }: PageStyle, isPage: boolean) {
  // Pages are counted where the one after any is the next number.
  const firstPage = count?.following(0, 2) === 1 ? count.least : 1;
  return { isCut: isPage, skipped: start === undefined ? offset : undefined, firstPage };
}

/** What a list's endpoint states of filters and order; `sortable` = the fields that callers may sort by, where they may by any. */
function statedList(
  endpoint: Endpoint,
  model: RowModel,
): {
  readonly filters: readonly Parameter[];
  readonly sorting: Sorting;
  readonly sortable: ReadonlySet<string> | undefined;
  readonly fixedOrder: readonly SortKey[];
} {
  const parameters = entriesOf(endpoint.parameters).map(([, parameter]) => parameter);
  return {
    filters: parameters.filter((parameter) => parameter.filters !== undefined && model.code(parameter.filters)),
    sorting: { sorter: parameters.find((parameter) => parameter.sorts), director: directorOf(endpoint) },
    sortable: sortsByAny(endpoint) ? new Set(sortableFields(model.resource)) : undefined,
    fixedOrder: endpoint.order.flatMap(({ field, descending }) => (model.code(field) ? [{ column: field, descending }] : [])),
  };
}

/** The page of what was found; `step` leads to the one after it and the one before it. */
function pageOf(
  found: ReturnType<typeof findRows> | ReturnType<typeof findTexts>,
  isReversed: boolean,
  goesBack: boolean,
  step: Step,
  { total, size, isOpen }: Pick<Page, 'total' | 'size'> & { readonly isOpen: boolean },
): Page {
  const hasMore = isReversed || found.isMore;
  const hasPrevious = isReversed ? found.isMore : goesBack;
  return {
    items: found.items,
    hasMore,
    next: hasMore ? step(found.last, false, found.following) : null,
    previous: hasPrevious ? step(found.first, true) : null,
    total,
    size,
    isInDoubt: isOpen && found.items.length > unpagedMost,
  };
}

/** What a page is told by, of the rows at its ends. */
const toldBy = { token: 'keys', identifier: 'id', count: undefined, nothing: undefined } as const;

const tooManyToBeWhole = `a list without pages was given up: something is made of all its rows together, and there are more than ${wholeMost.toLocaleString('en')}; state pagination`;

/** A list in one piece that has more rows than are written at once. */
function longPage({ question, tests, filter }: PageQuery, rows: Reader, wantsTotal: boolean, isInDoubt: boolean): LongPage {
  const query = question.ask({ isReversed: false, isContinued: false, isOffset: false });
  const values = valuesOf(tests, filter, 1, undefined, undefined);
  const numbers = rows.numbers(query, values);
  return {
    items: [],
    hasMore: false,
    next: null,
    previous: null,
    size: numbers.length,
    total: wantsTotal ? numbers.length : undefined,
    isInDoubt,
    long: { numbers, rowsOf: (now, some) => now.among(query, values, some) },
  };
}

/** How many rows all pages hold together. */
function countOf(rows: Reader, { question, tests, filter }: PageQuery): number {
  const way = { isReversed: false, isContinued: false, isOffset: false };
  return rows.count(question.ask(way), valuesOf(tests, filter, 1, undefined, undefined));
}

/** What a cursor is bound to; `spoken` names the list and its order. */
function queryName(spoken: string, tests: readonly Test[]): string {
  let name = spoken;
  for (const { column, op, value } of tests) name += `\n${JSON.stringify(column)} ${op} ${canonical(value)}`;
  return name;
}

/** The path's fields and the filters that the request uses. */
function testsOf(exchange: Exchange, locator: Locator, filters: readonly Parameter[], model: RowModel): Test[] {
  const tests: Test[] = [];
  for (const { parameter, field } of locator.bound) {
    tests.push({
      column: field,
      op: '=',
      value: encode(model, field, boundValue(model, field, exchange.pathParams[parameter] ?? '')),
    });
  }
  for (const { name, filters: field, op } of filters) {
    const value = exchange.params[name];
    if (value === undefined || field === undefined) continue;
    if (op === 'in' || Array.isArray(value)) {
      const list = Array.isArray(value) ? value : String(value).split(',');
      tests.push({ column: field, op: op === '=' ? 'in' : op, value: list.map((item) => encode(model, field, item)) });
    } else tests.push({ column: field, op, value: encode(model, field, value) });
  }
  return tests;
}

function encode(model: RowModel, field: string, value: Value): Scalar {
  const code = model.code(field);
  return code ? code.encode(value) : null;
}

/** Where the page starts: the position of a cursor, or of the row that an identifier names. */
function startOf(
  work: Work<Reader>,
  asked: PageAsked,
  order: readonly SortKey[],
  model: RowModel,
  listing: ListAccess,
  step: -1 | 0 | 1,
): Position | { readonly refusal: Refusal } | undefined {
  if (asked.position) return asked.position;
  if (!asked.row) return undefined;
  const { id, name, isBack } = asked.row;
  const row = work.rows.get(model.name, id);
  const fields = row && model.parse(row);
  if (!fields || !listing.shows(work.scope, fields)) return refusePage(name, id, `the identifier of a ${model.name}`);
  return {
    keys: order.map(({ column }) => encode(model, column, fields[column])),
    // What comes after the row, or after the place just before it.
    seq: row.seq + step,
    back: isBack,
  };
}

/** What leads to the page after a row, or to the one before it. */
type Step = (row: FoundRow | undefined, back: boolean, following?: FoundRow) => string | number | null;

function stepper(
  { size, offset = 0 }: PageAsked,
  { tells, count, isFirst }: PageStyle,
  token: (row: FoundRow, back: boolean) => string,
): Step {
  return (row, back, following) => {
    if (!row) return null;
    if (tells === 'token') return token(row, back);
    if (tells === 'identifier') return isFirst ? (following?.id ?? null) : row.id;
    return count ? count.valueAt(back ? Math.max(0, offset - size) : offset + size, size) : null;
  };
}
