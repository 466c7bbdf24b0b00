import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Model } from '../model/model.ts';
import { type Exchange, fieldsOf, isDone } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import type { Done } from '../script/step.ts';
import { Untestable } from '../untestable.ts';
import { callersFor } from './callers-for.ts';
import { requestAbout } from './request-about.ts';
import type { Row } from './row.ts';

/** A row as it was looked at again. */
export interface Look {
  readonly done: Done<Exchange>;
  /** What was shown; nothing where there was no such row. */
  readonly fields: Readonly<Record<string, Json>> | undefined;
}

/** Reads a row again by an operation that shows it whole. @throws {Untestable} where there is none that may be called. */
export async function lookAt(session: Session, row: Row): Promise<Look> {
  const { model } = session;
  for (const endpoint of model.endpointsThat('read', row.resource)) {
    if (!showsWhole(endpoint)) continue;
    const [caller] = model.access.isPublic(model.operationOf(endpoint)) ? [undefined] : callersFor(session, endpoint, row);
    if (caller === undefined && !model.access.isPublic(model.operationOf(endpoint))) continue;
    const request = await requestAbout(session, row, endpoint, { caller });
    const done = await session.send(request);
    const fields = isDone(done.value) ? fieldsOf(done.value) : undefined;
    if (fields) {
      row.fields = fields;
      row.shown = done;
    }
    return { done, fields };
  }
  throw new Untestable(`no operation that may be called reads a ${row.resource}`);
}

/** Whether an endpoint answers with the resource as it is, and says by its path which. */
export function showsWhole(endpoint: Endpoint): boolean {
  return endpoint.identity === undefined && endpoint.response.standing === 'open' && endpoint.produces === undefined;
}

/** What a look shows of the row that an exchange made: the answer itself. */
export function viewIn(
  model: Model,
  resource: string,
  made: Exchange,
  seen: Exchange,
): Readonly<Record<string, Json>> | undefined {
  const field = statedValue(model.resource(resource)?.identifier ?? { standing: 'open', at: '' })?.field ?? 'id';
  const view = isDone(seen) ? fieldsOf(seen) : undefined;
  return view && isMap(view as Json) && view[field] === fieldsOf(made)?.[field] ? view : undefined;
}
