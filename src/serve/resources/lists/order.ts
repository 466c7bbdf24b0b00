import { isSame } from '../../../document/values.ts';
import { leftOutOf } from '../../../parts/left-out.ts';
import type { Parameter } from '../../../parts/parameters.ts';
import { isTurning, sortKeyOf } from '../../../parts/sorting.ts';
import type { Spec } from '../../../parts/spec.ts';
import type { Exchange, Refusal } from '../../exchange/exchange.ts';
import { isHidden } from '../../exchange/visibility.ts';
import { describeValue, type Violation } from '../../http/violation.ts';
import type { RowModel } from '../model.ts';
import type { SortKey } from './query.ts';

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
