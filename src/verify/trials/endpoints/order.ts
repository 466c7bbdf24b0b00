import { isSame } from '../../../document/values.ts';
import { pageStyle } from '../../../kinds/pages/all.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isFlaw, type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, isExchange, type TrialExchange } from '../../exchange/exchange.ts';
import { idIn, rowsShown, type ShownFields, unexpanded } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { compareValues } from './compare.ts';

/** The rows of a page, references as identifiers. */
export function rowsOf(session: Session, exchange: TrialExchange): readonly ShownFields[] | undefined {
  const shown = rowsShown(session.model, exchange);
  return shown?.rows.map((row) => unexpanded(session.model, shown.resource, row));
}

/** The pages of a list that may have been shown as one. */
export function pagesOf(answer: TrialExchange | readonly TrialExchange[]): readonly TrialExchange[] {
  return isExchange(answer) ? [answer] : answer;
}

/** Whether the rows of a page come in an order. */
export function judgeOrder(session: Session, pages: readonly TrialExchange[], order: Endpoint['order']): Judgement {
  if (!pages.every(isDone)) return moot('there are no two rows');
  const { model } = session;
  const stated = pages[0]?.endpoint && (statedValue(pages[0].endpoint.pagination ?? model.spec.limits.pagination) ?? undefined);
  const shown = pages.map((page) => rowsOf(session, page) ?? []);
  // Where rows that others make move the pages on, only what stands on one page is in order.
  const runs = stated && !pageStyle(stated.style).isSteady ? shown : [shown.flat()];
  const judged = runs.filter((rows) => rows.length > 1).map((rows) => judgeRun(rows, order));
  return judged.find(isFlaw) ?? (judged.length === 0 ? moot('there are no two rows') : judged.find((one) => one !== undefined));
}

function judgeRun(rows: readonly ShownFields[], order: Endpoint['order']): Judgement {
  for (const [at, row] of rows.slice(1).entries()) {
    const before = rows[at] ?? {};
    const verdict = inOrder(before, row, order);
    if (verdict === 'unknown') return moot('how two values are ordered is not for everybody the same');
    if (verdict === 'wrong') {
      const told = order.map(({ field, descending }) => `${descending ? '-' : ''}${field}`).join(', ');
      const values = (one: ShownFields) => JSON.stringify(order.map(({ field }) => one[field] ?? null));
      return { promised: `in the order of ${told}`, seen: `${values(before)} before ${values(row)}` };
    }
  }
  return undefined;
}

/** Whether rows that an order does not tell apart come in the order in which they were made, or in the other where that is stated. */
export function judgeTies(
  session: Session,
  pages: readonly TrialExchange[],
  order: Endpoint['order'],
  creations: readonly TrialExchange[],
): Judgement {
  const { model } = session;
  const made = creations.flatMap((one) => (isDone(one) ? [String(idIn(model, one))] : []));
  const rows = pages.every(isDone) ? pages.flatMap((page) => rowsOf(session, page) ?? []) : [];
  const endpoint = pages[0]?.endpoint;
  const effect = statedValue(endpoint?.does);
  const isNewestFirst = endpoint?.ties === 'newest';
  const field = model.identifierField(resourceOfEffect(effect) ?? '');
  const own = rows.filter((row) => made.includes(String(row[field])));
  let isSeen = false;
  for (const [at, row] of own.slice(1).entries()) {
    const before = own[at] ?? {};
    if (!order.every((one) => isSame(before[one.field], row[one.field]))) continue;
    isSeen = true;
    const isLater = made.indexOf(String(before[field])) > made.indexOf(String(row[field]));
    if (isLater !== isNewestFirst)
      return {
        promised: `of rows with one ${order.map((one) => one.field).join(', ')}, that which was made ${isNewestFirst ? 'last' : 'first'}`,
        seen: `${String(before[field])}, made ${isLater ? 'later' : 'earlier'}, before ${String(row[field])}`,
      };
  }
  return isSeen ? undefined : moot('no two rows are alike');
}

function inOrder(one: ShownFields, other: ShownFields, order: Endpoint['order']): 'right' | 'wrong' | 'unknown' {
  for (const { field, descending } of order) {
    const compared = compareValues(one[field], other[field]);
    if (compared === undefined) return 'unknown';
    if (compared !== 0) return compared < 0 !== descending ? 'right' : 'wrong';
  }
  return 'right';
}
