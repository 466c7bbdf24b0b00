import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { TrialCaller } from '../model/callers.ts';
import { isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Symbolic } from '../script/symbol.ts';
import { Untestable } from '../untestable.ts';
import { showsWhole } from './look.ts';
import { requestAbout } from './request-about.ts';
import type { TrialRow } from './row.ts';

/** The header that an endpoint asks for before it changes a row: the ETag that the same caller reads. @throws {Untestable} */
export async function preconditions(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  caller: TrialCaller | undefined,
): Promise<Record<string, Symbolic>> {
  if (endpoint.ifMatch !== 'required') return {};
  // A weak tag never matches (RFC 9110 section 13.1.1).
  const isStrong = session.model.endpointsThat('read', row.resource).some(({ etag }) => etag === 'strong');
  return { 'If-Match': isStrong ? await etagFor(session, row, caller) : '*' };
}

/** The ETag of a row as a caller reads it. @throws {Untestable} */
export async function etagFor(session: Session, row: TrialRow, caller: TrialCaller | undefined): Promise<Symbolic> {
  const { model } = session;
  const read = model
    .endpointsThat('read', row.resource)
    .find((one) => one.etag !== undefined && showsWhole(one) && statedValue(one.does));
  if (!read || model.access.allows(model.operationOf(read), caller) === 'no')
    throw new Untestable(`nothing shows the ETag of a ${row.resource}`);
  const done = await session.send(await requestAbout(session, row, read, { caller }));
  if (!isDone(done.value) || done.value.headers.etag === undefined)
    throw new Untestable(`the ETag of a ${row.resource} is not shown`);
  return session.capturedHeader(done, 'etag');
}
