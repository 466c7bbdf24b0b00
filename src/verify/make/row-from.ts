import type { Endpoint } from '../../parts/endpoints.ts';
import { statedValue } from '../../parts/fact.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { TrialRow } from '../exchange/row.ts';
import type { Done } from '../exchange/step.ts';
import { Captured, type Symbolic } from '../exchange/symbol.ts';
import { Untestable } from '../exchange/untestable.ts';
import { rowIn, rowPlace } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { bareMap } from '../values/bare-map.ts';

/** The row that an answer to a creation shows. @throws {Untestable} where it shows no identifier. */
export function rowFrom(session: Session, resource: string, endpoint: Endpoint, made: Done<TrialExchange>): TrialRow {
  const field = statedValue(session.model.resource(resource)?.identifier)?.field ?? 'id';
  const fields = rowIn(made.value);
  const place = rowPlace(endpoint, resource, made.value.status) ?? [];
  if (fields?.[field] === undefined)
    throw new Untestable(`the answer to ${endpoint.key} shows no ${field}, so that what it made cannot be named`);
  const known: Record<string, Symbolic> = bareMap(made.value.sent.path);
  for (const name of Object.keys(fields)) known[name] = new Captured(made.step, { in: 'body', pointer: [...place, name] });
  return { resource, id: session.captured(made, ...place, field), known, made, caller: made.value.caller, shown: made, fields };
}
