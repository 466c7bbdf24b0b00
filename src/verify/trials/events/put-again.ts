import type { Endpoint } from '../../../parts/endpoints.ts';
import type { SampleStyle } from '../../exchange/row.ts';
import { putThere } from '../../make/put-there.ts';
import { type Readied, ready } from '../../make/readied.ts';
import type { Session } from '../../session/session.ts';

/** An upsert of a row that another one has just made, with other values: what changes a row tells of something else than what makes it. @throws {Untestable} */
export async function putAgain(session: Session, endpoint: Endpoint, style: SampleStyle): Promise<Readied> {
  const first = await ready(session, endpoint, { style });
  const { row, about } = await putThere(session, first.request);
  const { request } = await ready(session, endpoint, { style, caller: first.request.caller });
  return { row, request: about(request) };
}
