import type { Endpoint } from '../../parts/endpoints.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import type { TrialRow } from '../exchange/row.ts';
import { Untestable } from '../exchange/untestable.ts';
import type { Session } from '../session/session.ts';
import { contextOfRow } from './row-context.ts';

/** Those who may do something, about a row where one is given: the row's maker first, then those of whom it is certain. */
export function callersFor(session: Session, endpoint: Endpoint, row?: TrialRow): TrialCaller[] {
  const { model } = session;
  const operation = model.operationOf(endpoint);
  const known = row && contextOfRow(session, row);
  const ranked = model.callers.flatMap((caller) => {
    const allowed = model.access.allows(operation, caller, known);
    if (allowed === 'no') return [];
    return [{ caller, rank: (allowed === 'yes' ? 2 : 0) + (row !== undefined && row.caller === caller ? 1 : 0) }];
  });
  return ranked.sort((one, other) => other.rank - one.rank).map(({ caller }) => caller);
}

/** Somebody who may do something; nobody where none is needed. @throws {Untestable} where one is needed and none is given. */
export function callerFor(session: Session, endpoint: Endpoint, row?: TrialRow): TrialCaller | undefined {
  const [able] = callersFor(session, endpoint, row);
  if (able) return able;
  const { model } = session;
  if (model.access.allows(model.operationOf(endpoint), undefined) === 'no')
    throw new Untestable(`no credential is given of anybody who may ${endpoint.key}`);
  return undefined;
}
