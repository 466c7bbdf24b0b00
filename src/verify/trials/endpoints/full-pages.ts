import type { Json } from '../../../document/document.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf } from '../../../parts/fact.ts';
import type { TrialExchange } from '../../exchange/exchange.ts';
import type { Done } from '../../exchange/step.ts';
import { ifTestable } from '../../exchange/untestable.ts';
import type { OwnList } from '../../make/own-list.ts';
import { mayGoOn, paginationOf, walkingPages, widest } from '../../make/pages.ts';
import type { Model } from '../../model/model.ts';
import type { ShownFields } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { rowsOf } from './order.ts';
import { judgeLast } from './totals.ts';

/** So many rows are made where no smaller page can be asked for. */
export const rowsMost = 20;

/** The reason of a claim that the last page says that it is, where it is full. */
export const lastPage = 'last page';

/** So many pages are gone through for a last one that is full. */
const evenPagesMost = 24;

/**
 * The same list in pages of which the last is full whatever others have made: of a size by which its rows can be divided, or those that a filter
 * leaves, or on one page that they fill; else with one row more.
 */
export async function goThroughEvenly(
  session: Session,
  endpoint: Endpoint,
  list: OwnList,
  walk: Done<readonly TrialExchange[]>,
): Promise<void> {
  const { model } = session;
  const { size, max = rowsMost } = paginationOf(model, endpoint) ?? {};
  if (size === undefined) return;
  const all = mayGoOn(walk.value) ? await session.do(walkingPages(model, list.plan(widest(model, endpoint)))) : walk;
  if (mayGoOn(all.value)) return;
  const shown = all.value.flatMap((page) => rowsOf(session, page) ?? []);
  const narrowed = [{ query: {}, count: shown.length }, ...narrowings(model, endpoint, list, shown)];
  const found =
    evenly(narrowed, max, 2) ?? evenly(narrowed, max, 1) ?? (await withOneMore(session, list, { count: shown.length, max }));
  if (!found) return;
  const again = await session.do(
    walkingPages(model, list.plan({ ...found.query, [size]: found.size }), undefined, evenPagesMost + 1),
  );
  const judge = (seen: readonly TrialExchange[]) => judgeLast(session, seen);
  session.claim({ fact: { kind: 'pagination bounds', subject: endpoint.key }, reason: lastPage, of: [again] as const, judge });
}

interface Narrowed {
  readonly query: Readonly<Record<string, Json>>;
  readonly count: number;
}

type Even = Pick<Narrowed, 'query'> & { readonly size: number };

/** The first of these that can be asked for in so many full pages, or more. */
function evenly(narrowed: readonly Narrowed[], max: number, least: number): Even | undefined {
  for (const { query, count } of narrowed) {
    const size = evenSize(count, max, least);
    if (size !== undefined) return { query, size };
  }
  return undefined;
}

async function withOneMore(
  session: Session,
  list: OwnList,
  { count, max }: { readonly count: number; readonly max: number },
): Promise<Even | undefined> {
  const size = evenSize(count + 1, max, 2);
  const more = size === undefined ? undefined : await ifTestable(session.make(list.resource, list.wanted(list.rows.length)));
  return more && size !== undefined ? { query: {}, size } : undefined;
}

/** A size of pages of which so many rows fill each; nothing where there is none. */
function evenSize(rows: number, max: number, least: number): number | undefined {
  const sizes = Array.from({ length: Math.min(max, rows) }, (_, at) => at + 1);
  return sizes.find((one) => rows % one === 0 && rows / one >= least && rows / one <= evenPagesMost);
}

/** What each filter by a field leaves of the rows that were shown, and how many there are of each. */
function narrowings(model: Model, endpoint: Endpoint, { resource }: OwnList, shown: readonly ShownFields[]): Narrowed[] {
  const fields = model.resource(resource)?.fields;
  return entriesOf(endpoint.parameters).flatMap(([name, stated]): Narrowed[] => {
    const { in: place, filters: field = name, op, sorts, chooses, directs } = stated;
    if (place !== 'query' || op !== '=' || sorts || chooses || directs || !entryOf(fields, field)) return [];
    const counts = new Map<Json, number>();
    for (const { [field]: value } of shown)
      if (typeof value === 'string' || typeof value === 'number') counts.set(value, (counts.get(value) ?? 0) + 1);
    return [...counts].map(([value, count]) => ({ query: { [name]: value }, count }));
  });
}
