import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf } from '../../parts/fact.ts';
import type { Parameter } from '../../parts/parameters.ts';
import type { FoundRow, Reader, Scalar } from '../../store/store.ts';
import type { Listing } from '../access/listing.ts';
import type { Models, Work } from '../acts/act.ts';
import { boundValue, compileLocator, type Locator, operationAt } from '../acts/locate.ts';
import type { Compilation } from '../compilation.ts';
import type { Exchange, Refusal, Value } from '../exchange.ts';
import { canonical } from '../rows/column.ts';
import { sortableFields, sortsByAny } from '../rows/indexed.ts';
import type { RowModel } from '../rows/model.ts';
import type { Cursors, Position } from './cursor.ts';
import { orderOf } from './order.ts';
import { compilePaging, type PageAsked, type Paging, refusePage, unpagedMost } from './paging.ts';
import { type PageForm, Questions, type SortKey, type Test, valuesOf } from './query.ts';
import { hiddenFields, isSealed, unseenFilter } from './unseen.ts';

/** A page of rows, and where the pages around it start. */
export interface Page {
  readonly rows: readonly FoundRow[];
  readonly hasMore: boolean;
  /** What the parameter of the next page takes. */
  readonly next: string | number | null;
  readonly previous: string | number | null;
  readonly total: number | undefined;
  readonly size: number;
  /** Whether pagination is open and this list is longer than goes without it. */
  readonly isInDoubt: boolean;
}

export interface CompiledList {
  readonly paging: Paging;
  readonly run: (work: Work<Reader>, exchange: Exchange) => Page | { readonly refusal: Refusal } | { readonly tooMany: true };
}

/** Compiles `list RESOURCE`: filters, order, page, parents; a bad page is refused before a missing parent. */
export function compileList(
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  cursors: Cursors,
  acceptsOpen: boolean,
  compilation: Compilation,
): CompiledList {
  const locator = compileLocator(endpoint, model, models, compilation);
  const paging = compilePaging(endpoint.pagination ?? compilation.spec.limits.pagination, cursors, acceptsOpen);
  const parameters = entriesOf(endpoint.parameters).map(([, parameter]) => parameter);
  const filters = parameters.filter((parameter) => parameter.filters !== undefined && model.code(parameter.filters));
  const sorter = parameters.find((parameter) => parameter.sorts);
  const fixedOrder: SortKey[] = endpoint.order.flatMap(({ field, descending }) =>
    model.code(field) ? [{ column: field, descending }] : [],
  );
  const sortable = sortsByAny(endpoint) ? new Set(sortableFields(model.resource)) : undefined;
  const questions = new Questions(model.name);
  const spoken = `${endpoint.key} ${compilation.version?.index ?? ''}`;
  const usualQuery = queryName(spoken, [], fixedOrder);
  const hidden = hiddenFields(model, compilation.user);
  const unseenFilters = filters.filter(({ filters: field = '' }) => hidden.has(field));
  const listing = compilation.access.listing(operationAt(endpoint), compilation.user);
  const wantsTotal = paging.pagination?.total !== undefined;

  function run(work: Work<Reader>, exchange: Exchange): ReturnType<CompiledList['run']> {
    const unseen = unseenFilter(exchange, unseenFilters);
    if (unseen) return { refusal: unseen };
    const tests = testsOf(exchange, locator, filters, model);
    const order = orderOf(exchange, sorter, fixedOrder, model, sortable, hidden);
    if ('refusal' in order) return order;
    const filter = listing.filter(work.scope);
    const isUsual = tests.length === 0 && order === fixedOrder;
    const usual = isUsual ? usualQuery : queryName(spoken, tests, order);
    const query = filter ? `${usual}\n${filter.bound}` : usual;
    const asked = paging.read(exchange, query);
    if ('refusal' in asked) return asked;
    const start = startOf(work, asked, order, model, paging, listing);
    if (start && 'refusal' in start) return start;
    const parents = locator.parents(work, exchange);
    if (parents) return { refusal: parents };
    const isReversed = start?.back ?? false;
    const isWhole = paging.pagination?.style === 'after';
    const form: PageForm = {
      tests,
      filter,
      order,
      isReversed,
      isContinued: start !== undefined,
      isOffset: asked.offset !== undefined,
      isWhole,
    };
    const after = start && [...start.keys, start.seq];
    const found = work.rows.all(questions.of(form), valuesOf(tests, filter, asked.size + 1, asked.offset, after));
    const isMore = found.length > asked.size;
    if (paging.isOpen && isMore) return { tooMany: true };
    if (isMore) found.pop();
    if (isReversed) found.reverse();
    const total = wantsTotal
      ? work.rows.count(
          questions.of({ ...form, isContinued: false, isOffset: false, isReversed: false, isWhole: false }),
          valuesOf(tests, filter, 1, undefined, undefined),
        )
      : undefined;
    const hasMore = isReversed ? true : isMore;
    const isInDoubt = paging.isOpen && found.length > unpagedMost;
    const write: Cursors['write'] = (position, name) => cursors.write(position, name, isSealed(order, hidden));
    const hasPrevious = isReversed ? isMore : start !== undefined || (asked.offset ?? 0) > 0;
    return {
      rows: found,
      hasMore,
      ...around(found, hasMore, hasPrevious, asked, paging, { ...cursors, write }, query, (row) => keysOf(row, order, model)),
      total,
      size: asked.size,
      isInDoubt,
    };
  }
  return { paging, run };
}

/** What a cursor is bound to. */
function queryName(key: string, tests: readonly Test[], order: readonly SortKey[]): string {
  return `${key}\n${canonical(tests.map(({ column, op, value }) => [column, op, value]))}\n${canonical(order)}`;
}

/** The values that a row is sorted by. */
function keysOf(row: FoundRow, order: readonly SortKey[], model: RowModel): Scalar[] {
  if (order.length === 0) return [];
  const fields = model.parse(row);
  return order.map(({ column }) => encode(model, column, fields[column]));
}

/** The path's fields and the filters that the request uses. */
function testsOf(exchange: Exchange, locator: Locator, filters: readonly Parameter[], model: RowModel): Test[] {
  const tests: Test[] = [];
  for (const { parameter, field } of locator.bound) {
    tests.push({
      column: field,
      op: '=',
      value: encode(model, field, boundValue(model, field, exchange.pathParams[parameter] as string)),
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
  paging: Paging,
  listing: Listing,
): Position | { readonly refusal: Refusal } | undefined {
  if (asked.position) return asked.position;
  const id = asked.afterId ?? asked.beforeId;
  if (id === undefined) return undefined;
  const row = work.rows.get(model.name, id);
  const { after, before } = paging.pagination ?? {};
  const name = (asked.afterId !== undefined ? after : before) ?? 'after';
  const fields = row && model.parse(row);
  if (!fields || !listing.shows(work.scope, fields)) return refusePage(name, id, `the identifier of a ${model.name}`);
  return {
    keys: order.map(({ column }) => encode(model, column, fields[column])),
    seq: row.seq,
    back: asked.beforeId !== undefined,
  };
}

function around(
  rows: readonly FoundRow[],
  hasMore: boolean,
  hasPrevious: boolean,
  asked: PageAsked,
  paging: Paging,
  cursors: Cursors,
  query: string,
  keys: (row: FoundRow) => Scalar[],
): Pick<Page, 'next' | 'previous'> {
  const style = paging.pagination?.style;
  const step = (row: FoundRow | undefined, back: boolean): string | number | null => {
    if (!row) return null;
    if (style === 'cursor') return cursors.write({ keys: keys(row), seq: row.seq, back }, query);
    if (style === 'after') return row.id;
    if (style === 'offset') return back ? Math.max(0, (asked.offset ?? 0) - asked.size) : (asked.offset ?? 0) + asked.size;
    return style === 'page' ? (asked.page ?? 1) + (back ? -1 : 1) : null;
  };
  return { next: hasMore ? step(rows.at(-1), false) : null, previous: hasPrevious ? step(rows[0], true) : null };
}
