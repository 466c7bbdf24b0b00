import type { Operator } from '../../../parts/parameters.ts';
import type { Condition, Operand, QuerySpec, Scalar } from '../../../store/store.ts';
import type { RowFilter } from '../../callers/list-access.ts';
import { toJson } from '../../http/json.ts';
import type { Position } from './cursor.ts';

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

/** How a page asks its question. */
export interface Way {
  readonly isReversed: boolean;
  /** Whether it goes on after a row. */
  readonly isContinued: boolean;
  readonly isOffset: boolean;
}

/** What pages are told by: `id` where that is the identifier of a row, `keys` where it is what rows are sorted by. */
export type CursorBasis = 'id' | 'keys' | undefined;

/** What a list asks with the same filters in the same order, whatever their values, made once for each way to ask it. */
export class Question {
  readonly #made: (QuerySpec | undefined)[] = [];
  readonly #table: string;
  readonly #where: Condition | undefined;
  readonly #order: readonly SortKey[];
  readonly #told: CursorBasis;
  readonly #newestFirst: boolean;
  /** The parameter that is the limit; the values of the tests come before it, and the offset and the row to go on after follow. */
  readonly #limit: number;

  /** `filter` = which rows the caller is shown. */
  constructor(
    table: string,
    tests: readonly Test[],
    filter: RowFilter | undefined,
    order: readonly SortKey[],
    told: CursorBasis,
    newestFirst: boolean,
  ) {
    const conditions = tests.map((test, index) => conditionOf(test, { param: index }));
    if (filter) conditions.push(filter.where(tests.length));
    this.#table = table;
    this.#where = conditions.length < 2 ? conditions[0] : { op: 'and', of: conditions };
    this.#order = order;
    this.#told = told;
    this.#newestFirst = newestFirst;
    this.#limit = tests.length + (filter?.values.length ?? 0);
  }

  ask(way: Way): QuerySpec {
    const index = (way.isReversed ? 1 : 0) + (way.isContinued ? 2 : 0) + (way.isOffset ? 4 : 0);
    const made = this.#made[index] ?? this.#make(way);
    this.#made[index] = made;
    return made;
  }

  #make({ isReversed, isContinued, isOffset }: Way): QuerySpec {
    const limit = this.#limit;
    const offset = limit + 1;
    return {
      table: this.#table,
      ...(this.#where && { where: this.#where }),
      order: this.#order.map(({ column, descending }) => ({ column, descending: descending !== isReversed })),
      newestFirst: isReversed !== this.#newestFirst,
      limit,
      ...(isOffset && { offset }),
      ...(isContinued && { after: isOffset ? offset + 1 : offset }),
      lean: this.#told !== 'id',
      keys: this.#told === 'keys',
    };
  }
}

/** How many questions of one list are kept. */
const knownMost = 256;

/** The questions of one list: the usual one, of all rows in the stated order, and those with filters or another order. */
export class Questions {
  readonly #table: string;
  readonly #told: CursorBasis;
  readonly #order: readonly SortKey[];
  readonly #newestFirst: boolean;
  readonly #usual: Question;
  readonly #known = new Map<string, Question>();
  readonly #byForm = new Map<string, Question>();

  /** `newestFirst` = of rows that the order does not tell apart, that which was made last comes first. */
  constructor(table: string, order: readonly SortKey[], told: CursorBasis, newestFirst = false) {
    this.#table = table;
    this.#told = told;
    this.#order = order;
    this.#newestFirst = newestFirst;
    this.#usual = new Question(table, [], undefined, order, told, newestFirst);
  }

  of(tests: readonly Test[], filter: RowFilter | undefined, order: readonly SortKey[]): Question {
    if (tests.length === 0 && order === this.#order) return filter ? this.#filtered(filter) : this.#usual;
    const key = `${tests.map(({ column, op }) => `${op} ${column}`).join('\n')}\n\n${order.map(({ column, descending }) => `${descending ? '-' : ''}${column}`).join('\n')}${filter ? `\n${filter.form}` : ''}`;
    const known = this.#known.get(key);
    if (known) return known;
    // A caller that makes up ever new orders must not fill the memory with them.
    if (this.#known.size >= knownMost) this.#known.clear();
    const made = new Question(this.#table, tests, filter, order, this.#told, this.#newestFirst);
    this.#known.set(key, made);
    return made;
  }

  /** In the usual order, where nothing is asked for but what the caller may see, and what parameters choose by. */
  #filtered(filter: RowFilter): Question {
    const known = this.#byForm.get(filter.form);
    if (known) return known;
    if (this.#byForm.size >= knownMost) this.#byForm.clear();
    const made = new Question(this.#table, [], filter, this.#order, this.#told, this.#newestFirst);
    this.#byForm.set(filter.form, made);
    return made;
  }
}

/** The values of a page's form, in the order in which its question takes them. */
export function valuesOf(
  tests: readonly Test[],
  filter: RowFilter | undefined,
  limit: number,
  offset: number | undefined,
  after: Position | undefined,
): Scalar[] {
  const values: Scalar[] = [];
  for (const { value, op } of tests) values.push(op === 'in' ? toJson(value) : (value as Scalar));
  if (filter) values.push(...filter.values);
  values.push(limit);
  if (offset !== undefined) values.push(offset);
  if (after) values.push(...after.keys, after.seq);
  return values;
}

function conditionOf({ column, op }: Test, right: Operand): Condition {
  const left: Operand = { column };
  return { op, left, right };
}
