import type { TrialRow, WantedRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { answering } from './demands.ts';

/** A row for a new one of a resource to refer to by a field, made as whoever refers to it has to have it. @throws {Untestable} */
export async function rowFor(
  session: Session,
  resource: string,
  field: string,
  target: string,
  wanted: Pick<WantedRow, 'style' | 'body' | 'caller'> = {},
): Promise<TrialRow> {
  const { model } = session;
  const [endpoint] = [...model.endpointsThat('create', resource), ...model.endpointsThat('upsert', resource)];
  const [asking] = endpoint ? callersFor(session, endpoint) : [];
  const asked = endpoint && answering(session, endpoint, field, { for: asking });
  if (!asked) return session.make(target, wanted);
  try {
    return await session.make(target, { ...wanted, ...asked, body: { ...asked.body, ...wanted.body }, for: asking });
  } catch (error) {
    if (!(error instanceof Untestable)) throw error;
    return session.make(target, wanted);
  }
}
