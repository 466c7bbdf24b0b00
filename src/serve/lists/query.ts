import type { Operator } from '../../parts/parameters.ts';
import type { Condition, Operand, QuerySpec, Scalar } from '../../store/store.ts';
import type { RowFilter } from '../access/listing.ts';
import { toJson } from '../json.ts';

/** One test of a list: a column, how it is compared, and the value. */
export interface Test {
  readonly column: string;
  readonly op: Operator;
  readonly value: Scalar | readonly Scalar[];
}

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
}

/** What a page asks of the store, apart from its values. */
export interface PageForm {
  readonly tests: readonly Test[];
  /** Which rows the caller is shown. */
  readonly filter: RowFilter | undefined;
  readonly order: readonly SortKey[];
  readonly isReversed: boolean;
  readonly isContinued: boolean;
  readonly isOffset: boolean;
  /** Whether the rows' identifiers are asked for too. */
  readonly isWhole: boolean;
}

/** How many forms of one list are kept compiled. */
const knownMost = 256;

/** Questions by their form: the same filters in the same order are one question, whatever their values. */
export class Questions {
  readonly #table: string;
  readonly #known = new Map<string, QuerySpec>();

  constructor(table: string) {
    this.#table = table;
  }

  of(form: PageForm): QuerySpec {
    const { tests, filter, order, isReversed, isContinued, isOffset, isWhole } = form;
    const key = `${tests.map(({ column, op }) => `${op} ${column}`).join('\n')}\n\n${order.map(({ column, descending }) => `${descending ? '-' : ''}${column}`).join('\n')}\n${isReversed}${isContinued}${isOffset}${isWhole}${filter ? `\n${filter.form}` : ''}`;
    const known = this.#known.get(key);
    if (known) return known;
    // A caller that makes up ever new orders must not fill the memory with them.
    if (this.#known.size >= knownMost) this.#known.clear();
    const made = this.#make(form);
    this.#known.set(key, made);
    return made;
  }

  #make({ tests, filter, order, isReversed, isContinued, isOffset, isWhole }: PageForm): QuerySpec {
    const conditions = tests.map((test, index) => conditionOf(test, { param: index }));
    if (filter) conditions.push(filter.where(tests.length));
    const where: Condition | undefined =
      conditions.length === 0 ? undefined : conditions.length === 1 ? conditions[0] : { op: 'and', of: conditions };
    const directed = order.map(({ column, descending }) => ({ column, descending: descending !== isReversed }));
    const limit = tests.length + (filter?.values.length ?? 0);
    const offset = limit + 1;
    return {
      table: this.#table,
      ...(where && { where }),
      order: directed,
      newestFirst: isReversed,
      limit,
      ...(isOffset && { offset }),
      ...(isContinued && { after: isOffset ? offset + 1 : offset }),
      lean: !isWhole,
    };
  }
}

/** The values of a page's form, in the order in which its question takes them. */
export function valuesOf(
  tests: readonly Test[],
  filter: RowFilter | undefined,
  limit: number,
  offset: number | undefined,
  after: readonly Scalar[] | undefined,
): Scalar[] {
  const own = tests.map(({ value, op }): Scalar => (op === 'in' ? toJson(value) : (value as Scalar)));
  return [...own, ...(filter?.values ?? []), limit, ...(offset === undefined ? [] : [offset]), ...(after ?? [])];
}

function conditionOf({ column, op }: Test, right: Operand): Condition {
  const left: Operand = { column };
  return { op, left, right };
}
