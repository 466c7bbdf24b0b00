import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { briefly, isDone } from '../exchange/exchange.ts';
import type { RequestPlan } from '../exchange/plan.ts';
import type { SampleStyle, TrialRow } from '../exchange/row.ts';
import type { Session } from '../session/session.ts';
import { type Readied, ready } from './readied.ts';
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

/** An upsert of a row that another one has just made, with other values: what changes a row tells of something else than what makes it. @throws {Untestable} */
export async function putAgain(session: Session, endpoint: Endpoint, style: SampleStyle): Promise<Readied> {
  const first = await ready(session, endpoint, { style });
  const { row, about } = await putThere(session, first.request);
  const { request } = await ready(session, endpoint, { style, caller: first.request.caller });
  return { row, request: about(request) };
}
