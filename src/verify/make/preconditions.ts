import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, isExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Model } from '../model/model.ts';
import type { Session } from '../session/session.ts';
import { showsWhole } from './look.ts';
import { requestAbout } from './request-about.ts';

/** The header that an endpoint asks for before it changes a row: the ETag that the same caller reads. @throws {Untestable} */
export async function preconditions(
  session: Session,
  endpoint: Endpoint,
  row: TrialRow,
  caller: TrialCaller | undefined,
): Promise<Record<string, Symbolic>> {
  if (endpoint.ifMatch !== 'required') return {};
  // A weak tag never matches (RFC 9110 section 13.1.1).
  const isStrong = session.model
    .endpointsThat('read', row.resource)
    .some((read) => read.etag === 'strong' && isReadAsCaller(session.model, read, row.resource, caller));
  return { 'If-Match': isStrong ? await etagFor(session, row, caller) : '*' };
}

/** The ETag of a row as a caller reads it. @throws {Untestable} */
export async function etagFor(session: Session, row: TrialRow, caller: TrialCaller | undefined): Promise<Symbolic> {
  const { model } = session;
  const read = model
    .endpointsThat('read', row.resource)
    .find(
      (one) =>
        one.etag !== undefined && showsWhole(one) && statedValue(one.does) && isReadAsCaller(model, one, row.resource, caller),
    );
  const known = shownTag(session, row, read, caller);
  if (known) return known;
  if (!read || model.access.allows(model.operationOf(read), caller) === 'no')
    throw new Untestable(`nothing shows the ETag of a ${row.resource}`);
  const done = await session.send(await requestAbout(session, row, read, { caller }));
  if (!isDone(done.value) || done.value.headers.etag === undefined)
    throw new Untestable(`the ETag of a ${row.resource} is not shown`);
  return session.capturedHeader(done, 'etag');
}

/** The ETag with which the same caller read the row last, where nothing was changed since. */
function shownTag(session: Session, { shown }: TrialRow, read: Endpoint | undefined, caller: TrialCaller | undefined) {
  if (!shown || shown.value.endpoint !== read || shown.value.caller !== caller || !shown.value.headers.etag) return undefined;
  const since = session.run.results.slice(shown.step + 1);
  return since.every((result) => isExchange(result) && result.sent.method === 'GET')
    ? session.capturedHeader(shown, 'etag')
    : undefined;
}

/** Whether a read shows the representation that a change by the caller is compared with: a public one may show less than the caller would be shown. */
function isReadAsCaller(model: Model, read: Endpoint, resource: string, caller: TrialCaller | undefined): boolean {
  const reader = model.readerOf({ endpoint: read, ...(caller && { caller }) });
  if (reader === caller) return true;
  const hidden = [...model.unseenBy(resource, reader)];
  const own = model.unseenBy(resource, caller);
  return hidden.length === own.size && hidden.every((name) => own.has(name));
}
