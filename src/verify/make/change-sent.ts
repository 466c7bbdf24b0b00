import type { Json } from '../../document/document.ts';
import { sentAs } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entryOf } from '../../parts/fact.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Symbolic } from '../exchange/symbol.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/at-path.ts';
import { answering } from './demands.ts';
import { lookAt } from './look.ts';
import { requestAbout } from './request-about.ts';

/** A reference to a row that is made once it is known to be needed. */
export const toNewRow = 'a new row';

/** A change of a row by somebody who may make it. */
interface Change {
  readonly endpoint: Endpoint;
  readonly caller: TrialCaller | undefined;
  readonly chosen: Readonly<Record<string, Json>>;
}

/** Whether the change was made; the row is as it is shown after it. @throws {Untestable} */
export async function sendChange(session: Session, row: TrialRow, { endpoint, caller, chosen }: Change): Promise<boolean> {
  const { model } = session;
  const values: Record<string, Symbolic> = bareMap({});
  for (const [name, value] of Object.entries(chosen)) {
    const target = entryOf(model.resource(row.resource)?.fields, name)?.ref;
    if (value !== toNewRow || target === undefined) values[name] = value;
    else values[name] = (await session.make(target, { ...answering(session, endpoint, name, { caller }), for: caller })).id;
  }
  const path = endpoint.takes?.path ?? [];
  const sent: Symbolic = bareMap({ ...sentAs<Symbolic>(endpoint, values) });
  const json = path.reduceRight<Symbolic>((inner, name) => bareMap({ [name]: inner }), sent);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send(await requestAbout(session, row, endpoint, { caller, headers, json }));
  if (!isDone(done.value)) return false;
  await lookAt(session, row);
  return true;
}
