import type { Json } from '../../document/document.ts';
import { statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { fieldsOf, isDone, isExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';
import { identifierField } from './identities.ts';

/** The rows that a session's answers have shown, each as it was shown last, by resource and identifier: what conditions follow references to. */
export function shownRows(session: Session): Map<string, Readonly<Record<string, Json>>> {
  const rows = new Map<string, Readonly<Record<string, Json>>>();
  for (const result of session.run.results) {
    if (!isExchange(result) || !isDone(result) || !result.endpoint) continue;
    const effect = statedValue(result.endpoint.does);
    const resource = resourceOfEffect(effect);
    const fields = fieldsOf(result);
    if (resource === undefined || effect?.verb === 'list' || !fields || result.endpoint.response.standing !== 'open') continue;
    const id = fields[identifierField(session.model, resource)];
    if (typeof id === 'string' || typeof id === 'number') rows.set(`${resource}\n${id}`, fields);
  }
  return rows;
}
