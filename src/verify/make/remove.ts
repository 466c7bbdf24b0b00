import { machinesOf, statesNamed } from '../../parts/states.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import type { Session } from '../session/session.ts';
import { callersFor } from './callers-for.ts';
import { requestAbout } from './request-about.ts';
import { walkTo } from './walk.ts';

/** Deletes a row, in a state in which it may be. @throws {Untestable} where nobody can. */
export async function remove(session: Session, row: TrialRow): Promise<Done<TrialExchange>> {
  const { model } = session;
  const [endpoint] = model.endpointsThat('delete', row.resource);
  session.need(endpoint !== undefined, `nothing deletes a ${row.resource}`);
  for (const machine of machinesOf(model.spec.states, row.resource)) {
    const allowed = statesNamed(model.spec.states, machine, endpoint.in ?? []);
    const [state] = allowed;
    if (state !== undefined && !allowed.includes(String(row.fields?.[machine.field])))
      await walkTo(session, row, state, { machine });
  }
  const [caller] = callersFor(session, endpoint, row);
  const headers = await session.preconditions(endpoint, row, caller);
  return session.send(await requestAbout(session, row, endpoint, { caller, headers }));
}
