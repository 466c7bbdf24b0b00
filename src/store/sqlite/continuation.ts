import type { Slot } from './condition.ts';
import type { RowColumn } from './rows.ts';

export interface OrderColumn extends RowColumn {
  readonly descending: boolean;
}

/** A condition with what its `?` stand for. */
export interface Part {
  readonly sql: string;
  readonly slots: readonly Slot[];
}

/**
 * The rows strictly after a given one, as a list of conditions: first those that equal it in every column and were
 * created after it, then those that equal it in all columns but the last, and so on. All rows of one part come before
 * all rows of the next, and each part is one range of an index, however far into the list it begins.
 */
export function continuations(
  order: readonly OrderColumn[],
  seq: string,
  newestFirst: boolean,
  absent: readonly boolean[],
  from: number,
): Part[] {
  const parts: Part[] = [];
  const same = order.map(({ sql }, index) => (absent[index] ? `${sql} IS NULL` : `${sql} = ?`));
  const slots = (count: number) => order.slice(0, count).flatMap((_, index) => (absent[index] ? [] : [from + index]));
  parts.push({
    sql: [...same, `${seq} ${newestFirst ? '<' : '>'} ?`].join(' AND '),
    slots: [...slots(order.length), from + order.length],
  });
  for (let depth = order.length - 1; depth >= 0; depth--) {
    for (const next of beyond(order[depth]!, absent[depth]!, from + depth)) {
      parts.push({ sql: [...same.slice(0, depth), next.sql].join(' AND '), slots: [...slots(depth), ...next.slots] });
    }
  }
  return parts;
}

/** What comes after a value in one column: SQLite, as asked, sorts absent values before all others. */
function beyond({ sql, descending }: OrderColumn, absent: boolean, param: number): Part[] {
  const present = { sql: `${sql} ${descending ? '<' : '>'} ?`, slots: [param] };
  if (descending) return absent ? [] : [present, { sql: `${sql} IS NULL`, slots: [] }];
  return [absent ? { sql: `${sql} IS NOT NULL`, slots: [] } : present];
}
