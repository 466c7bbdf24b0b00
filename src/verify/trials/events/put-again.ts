import type { Endpoint } from '../../../parts/endpoints.ts';
import { statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { briefly, isDone } from '../../exchange/exchange.ts';
import type { SampleStyle } from '../../exchange/row.ts';
import { rowFrom } from '../../make/made.ts';
import { type Readied, ready } from '../../make/readied.ts';
import type { Session } from '../../session/session.ts';

/** An upsert of a row that another one has just made, with other values: what changes a row tells of something else than what makes it. @throws {Untestable} */
export async function putAgain(session: Session, endpoint: Endpoint, style: SampleStyle): Promise<Readied> {
  const first = await ready(session, endpoint, { style });
  const { caller, path } = first.request;
  const made = await session.send(first.request);
  session.need(isDone(made.value), `${endpoint.key} was answered ${made.value.status}${briefly(made.value)}`);
  const row = rowFrom(session, resourceOfEffect(statedValue(endpoint.does)) ?? '', endpoint, made);
  const { request } = await ready(session, endpoint, { style, caller });
  const headers = await session.preconditions(endpoint, row, caller);
  return { row, request: { ...request, path, headers: { ...request.headers, ...headers } } };
}
