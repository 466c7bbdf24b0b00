/** Which rows of a list were asked for, and in which order. */

import { isSame } from '../../../document/values.ts';
import { leftOutOf } from '../../../parts/left-out.ts';
import { isTurning, type Parameter, sortKeyOf } from '../../../parts/parameters.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { FoundRow, Reader } from '../../../store/store.ts';
import { allFilters, type RowFilter } from '../../callers/list-access.ts';
import type { Bindings } from '../../callers/rules.ts';
import type { Exchange, Refusal } from '../../exchange/exchange.ts';
import { isHidden } from '../../exchange/visibility.ts';
import { describeValue, type Violation } from '../../http/violation.ts';
import type { Models } from '../act.ts';
import type { RowModel } from '../model.ts';
import type { Narrowed } from '../stand-in.ts';
import type { ViewCompilation } from '../view-compilation.ts';
import { findRows, type PageQuery } from './envelope.ts';
import type { SortKey } from './query.ts';

/** What the parameters of one list choose by, for one user. */
interface Chosen {
  /** The parameters that go by what this user does not see. */
  readonly unseen: readonly Parameter[];
  /** The rows that are shown anyhow, as far as the request chooses them; nothing = all rows. */
  filter(exchange: Exchange, scope: Bindings, shown: RowFilter | undefined): RowFilter | undefined;
}

/** Compiles it. Through other rows the caller is shown what it may read of them, and no more. */
export function compileChosen(operation: string, models: Models, { access, user, spec }: ViewCompilation): Chosen {
  const choices = access.choices(operation);
  if (choices.length === 0) return { unseen: [], filter: (_exchange, _scope, shown) => shown };
  const reader = { user, reveals: false, leftOut: leftOutOf(spec, { user }) };
  const hides = ([resource, name]: readonly [string, string]) => {
    const field = models.get(resource)?.fields.get(name);
    return field !== undefined && isHidden(field, reader);
  };
  return {
    unseen: choices.flatMap(({ parameter, reads }) => (reads.some(hides) ? [parameter] : [])),
    filter({ params }, scope, shown) {
      const filters = choices.flatMap(({ parameter, filter }) => {
        const value = params[parameter.name];
        return value === undefined ? [] : [filter(value, scope, (resource) => access.seen(resource, user).filter(scope))];
      });
      return filters.length === 0 ? shown : allFilters(shown ? [shown, ...filters] : filters);
    },
  };
}

/** How many rows are looked at, at the most. */
const lookedAtMost = 10_000;

/** Finds the rows of a page of those that a stand-in keeps, in its order; they are looked at one by one. */
export function findNarrowed(
  rows: Reader,
  query: PageQuery,
  { keeps, order }: Narrowed,
  model: RowModel,
): ReturnType<typeof findRows> & { readonly total: number } {
  const { size, offset = 0, start } = query;
  const all = findRows(rows, { ...query, size: lookedAtMost, offset: undefined, start: undefined }).items;
  const kept = all.map((row) => ({ row, fields: model.parse(row) })).filter(({ fields }) => keeps(fields));
  if (order) kept.sort((one, other) => order(one.fields, other.fields));
  const found = kept.map(({ row }) => row);
  const at = start ? placeAfter(found, start.seq) : offset;
  const [from, to] = start?.back ? [Math.max(0, at - 1 - size), Math.max(0, at - 1)] : [at, at + size];
  const items = found.slice(from, to);
  const isMore = start?.back ? from > 0 : to < found.length;
  return { items, first: items[0], last: items.at(-1), following: isMore ? found[to] : undefined, isMore, total: found.length };
}

/** Where the list goes on after a row, or after the place just before one. */
function placeAfter(found: readonly FoundRow[], seq: number): number {
  const at = found.findIndex((row) => row.seq === seq);
  return at >= 0
    ? at + 1
    : Math.max(
        0,
        found.findIndex((row) => row.seq === seq + 1),
      );
}

/** The parameters that say how a list is sorted, and in which direction. */
export interface Sorting {
  readonly sorter: Parameter | undefined;
  readonly director: Parameter | undefined;
}

/** The stated order, or the one that the request asks for: `-created_at`, or several of them. */
export function orderOf(
  exchange: Exchange,
  { sorter, director }: Sorting,
  fixed: readonly SortKey[],
  model: RowModel,
  sortable: ReadonlySet<string> | undefined,
  hidden: ReadonlySet<string>,
): readonly SortKey[] | { readonly refusal: Refusal } {
  const asked = sorter && exchange.params[sorter.name];
  const isTurned = director !== undefined && isTurning(exchange.params[director.name]);
  if (!sorter || asked === undefined) return isTurned ? fixed.map(turned) : fixed;
  const words = (Array.isArray(asked) ? asked.map(String) : String(asked).split(',')).map((word) => word.trim());
  const fields = words.map((word) => sortKeyOf(sorter, word).field);
  const unknown = words.find((_, index) => sortable && !sortable.has(fields[index] as string));
  if (sortable && unknown !== undefined) {
    const expected = `one of ${[...sortable].join(', ')}`;
    return { refusal: refuseParameter({ in: sorter.in, path: sorter.name, found: describeValue(unknown), expected }) };
  }
  const unseen = words.find((_, index) => hidden.has(fields[index] as string));
  if (unseen !== undefined) {
    const expected = 'no order by a field that you do not see';
    return { refusal: refuseParameter({ in: sorter.in, path: sorter.name, found: describeValue(unseen), expected }) };
  }
  const keys = new Map<string, SortKey>();
  for (const word of words) {
    const { field: column, descending } = sortKeyOf(sorter, word);
    if (model.code(column) && !keys.has(column)) keys.set(column, { column, descending: descending !== isTurned });
  }
  return [...keys.values()];
}

function turned({ column, descending }: SortKey): SortKey {
  return { column, descending: !descending };
}

/** The fields that a user does not see, or not of every row that it sees. */
export function hiddenFields(spec: Spec, model: RowModel, user: string | undefined): ReadonlySet<string> {
  const reader = { user, reveals: false, leftOut: leftOutOf(spec, { user }) };
  const fields = [...model.fields.values()].filter((field) => isHidden(field, reader));
  return new Set(fields.map(({ name }) => name));
}

/** Nobody filters by a field that it does not see: what comes back would tell of it. */
export function unseenFilter({ params }: Exchange, filters: readonly Parameter[]): Refusal | undefined {
  const asked = filters.find(({ name, default: usual }) => {
    const value = params[name];
    return value !== undefined && !(usual && isSame(value, usual.value));
  });
  if (!asked) return undefined;
  const found = describeValue(params[asked.name]);
  return refuseParameter({ in: asked.in, path: asked.name, found, expected: 'no filter by a field that you do not see' });
}

function refuseParameter(violation: Violation): Refusal {
  return { when: 'request.parameter', violations: [violation] };
}
