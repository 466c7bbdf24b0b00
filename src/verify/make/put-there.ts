import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { briefly, isDone } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Session } from '../session/session.ts';
import { rowFrom } from './row-made.ts';

/** A row that an upsert has made, and how others like it are asked for of that row. */
export interface PutThere {
  readonly row: TrialRow;
  /** The same request, put in the place of the row. */
  about(plan: RequestPlan): RequestPlan;
}

/** Has an upsert make its row, so that what is put next is put in its place. @throws {Untestable} */
export async function putThere(session: Session, first: RequestPlan): Promise<PutThere> {
  const { endpoint, caller, path } = first;
  session.need(endpoint !== undefined, 'nothing is put');
  const made = await session.send(first);
  session.need(isDone(made.value), `${endpoint.key} was answered ${made.value.status}${briefly(made.value)}`);
  const row = rowFrom(session, resourceOfEffect(statedValue(endpoint.does)) ?? '', endpoint, made);
  const headers = await session.preconditions(endpoint, row, caller);
  return {
    row,
    about: (plan) => ({ ...plan, ...(caller && { caller }), path, headers: { ...plan.headers, ...headers } }),
  };
}
