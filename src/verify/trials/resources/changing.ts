import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { isWritable } from '../../../parts/payload.ts';
import type { TrialCaller } from '../../exchange/callers.ts';
import { moot } from '../../exchange/claim.ts';
import { bodyFields, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import type { TrialRow } from '../../exchange/row.ts';
import type { Done } from '../../exchange/step.ts';
import type { Symbolic } from '../../exchange/symbol.ts';
import { callersFor } from '../../make/callers-for.ts';
import { claimRow, gapMinMs } from '../../make/claim-row.ts';
import { claimTagOfChange, lookAt } from '../../make/look.ts';
import { pathValues } from '../../make/request-about.ts';
import { idIn, rowWith } from '../../model/row-shown.ts';
import type { Session } from '../../session/session.ts';
import { membersOf } from '../../values/at-path.ts';
import { taken } from '../endpoints/bodies.ts';

/** A row that is changed, by somebody who may, and a body with all that can be written. */
export interface RowChanging {
  readonly endpoint: Endpoint;
  readonly row: TrialRow;
  readonly caller: TrialCaller | undefined;
  /** Who looks at the row; else whoever may. */
  readonly reader?: TrialCaller;
  readonly path: Readonly<Record<string, Symbolic>>;
  readonly whole: Readonly<Record<string, Symbolic>>;
}

/** Who changes a row by an endpoint, and what else is needed for it. @throws {Untestable} */
export async function changingOf(session: Session, endpoint: Endpoint, row: TrialRow): Promise<RowChanging> {
  const [caller] = callersFor(session, endpoint, row);
  session.need(
    caller !== undefined || !session.model.callers.some(({ credential }) => credential),
    `nobody may call ${endpoint.key}`,
  );
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const { path, json } = isPatch
    ? { path: {}, json: {} }
    : await session.parts(endpoint, { style: 'whole', caller, changes: row });
  return { endpoint, row, caller, path: { ...path, ...pathValues(session.model, endpoint, row) }, whole: membersOf(json ?? {}) };
}

/** Changes the row and reads it; the reading, where the change was made. */
export async function changeRow(
  session: Session,
  { endpoint, row, caller, reader, path, whole }: RowChanging,
  members: Readonly<Record<string, Symbolic>>,
  before: Done<TrialExchange>,
  field: string | undefined,
): Promise<Done<TrialExchange> | undefined> {
  const { model } = session;
  const isPatch = statedValue(endpoint.does)?.verb === 'update';
  const kept = Object.entries({ ...whole, ...members }).filter(([, value]) => value !== null);
  const json = isPatch ? members : Object.fromEntries(kept);
  const headers = await session.preconditions(endpoint, row, caller);
  const done = await session.send({ ...model.request(endpoint, { path, caller, json, headers }), afterMs: 2 * gapMinMs });
  const own = { kind: 'allowed values', subject: `${row.resource}.${field}` };
  const fact = field === undefined ? { kind: 'request payload shapes', subject: endpoint.key } : own;
  if (field !== undefined || isDone(done.value))
    session.claim({ fact, reason: 'taken', of: [done] as const, judge: (exchange: TrialExchange) => taken(model, exchange) });
  if (!isDone(done.value)) return undefined;
  claimTagOfChange(session, before, done);
  claimRow(session, { resource: row.resource, before, change: done, seen: done, reason: 'answered' });
  const after = (await lookAt(session, row, reader)).done;
  claimRow(session, { resource: row.resource, before, change: done, seen: after, reason: 'stored' });
  claimWhole(session, endpoint, { before, done });
  return after;
}

/** A replacement leaves nothing that was not sent, an update everything: what the verb itself says. */
function claimWhole(
  session: Session,
  endpoint: Endpoint,
  { before, done }: { readonly before: Done<TrialExchange>; readonly done: Done<TrialExchange> },
): void {
  const { model } = session;
  const verb = statedValue(endpoint.does)?.verb;
  const resource = model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  session.claim({
    fact: { kind: 'request payload shapes', subject: endpoint.key },
    reason: verb === 'update' ? 'merges' : 'replaces',
    of: [done, before] as const,
    judge(change: TrialExchange, was: TrialExchange) {
      const sent = bodyFields({ body: change.sent.json });
      const id = idIn(model, change);
      const now = isDone(change) ? rowWith(model, change, id) : undefined;
      const old = rowWith(model, was, id);
      if (!sent || !now || !old || !resource) return moot('the row is not shown');
      for (const [name, field] of entriesOf(resource.fields)) {
        const isPlain =
          isWritable(model.spec, resource, field) && Object.keys(field.set).length === 0 && !field.default && !field.immutable;
        if (
          !isPlain ||
          Object.hasOwn(sent, name) ||
          field.visible ||
          field.writable ||
          old[name] === undefined ||
          old[name] === null
        )
          continue;
        const isThere = now[name] !== undefined && now[name] !== null;
        if (verb === 'update' && !isThere) return { promised: `${name}, which was not sent, stays`, seen: 'it is gone' };
        if (verb !== 'update' && isThere && statedValue(field.required) === false)
          return { promised: `${name}, which was not sent, is gone`, seen: JSON.stringify(now[name]) };
      }
      return undefined;
    },
  });
}
