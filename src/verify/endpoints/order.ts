import type { Endpoint } from '../../parts/endpoints.ts';
import { type Fields, rowsShown, unexpanded } from '../model/row-shown.ts';
import { type Judgement, moot } from '../script/claim.ts';
import { type Exchange, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import { compareValues } from './compare.ts';

/** The rows of a page, references as identifiers. */
export function rowsOf(session: Session, exchange: Exchange): readonly Fields[] | undefined {
  const shown = rowsShown(session.model, exchange);
  return shown?.rows.map((row) => unexpanded(session.model, shown.resource, row));
}

/** Whether the rows of a page come in an order. */
export function judgeOrder(session: Session, pages: readonly Exchange[], order: Endpoint['order']): Judgement {
  const rows = pages.every(isDone) ? pages.flatMap((page) => rowsOf(session, page) ?? []) : undefined;
  if (!rows || rows.length < 2) return moot('there are no two rows');
  for (const [at, row] of rows.slice(1).entries()) {
    const before = rows[at] ?? {};
    const verdict = inOrder(before, row, order);
    if (verdict === 'unknown') return moot('how two values are ordered is not for everybody the same');
    if (verdict === 'wrong') {
      const told = order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(', ');
      const values = (one: Fields) => JSON.stringify(order.map(({ field }) => one[field] ?? null));
      return { promised: `in the order of ${told}`, seen: `${values(before)} before ${values(row)}` };
    }
  }
  return undefined;
}

function inOrder(one: Fields, other: Fields, order: Endpoint['order']): 'right' | 'wrong' | 'unknown' {
  for (const { field, descending } of order) {
    const compared = compareValues(one[field], other[field]);
    if (compared === undefined) return 'unknown';
    if (compared !== 0) return compared < 0 !== descending ? 'right' : 'wrong';
  }
  return 'right';
}
