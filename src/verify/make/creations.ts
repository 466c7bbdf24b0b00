import { entriesOf } from '../../parts/fact.ts';
import { isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import { hasMade } from '../model/row-known.ts';
import type { ShownFields } from '../model/row-shown.ts';
import { rowIn } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';

/** References from row to row are followed so far. */
const depthMax = 3;

/** The exchanges of a session that made what a row refers to and, by its identifier, the row itself. */
export function creationsOf(session: Session, resource: string, row: ShownFields): Done<TrialExchange>[] {
  const { model, run } = session;
  const found = new Map<number, Done<TrialExchange>>();
  let front = [{ resource, row }];
  for (let depth = 0; depth <= depthMax && front.length > 0; depth++) {
    front = front.flatMap(({ resource: name, row: fields }) => {
      const stated = model.resource(name);
      const references = (stated ? entriesOf(stated.fields) : []).flatMap(([field, { ref }]) =>
        ref === undefined ? [] : [{ ref, id: fields[field] }],
      );
      const meant = [...references, { ref: name, id: fields[model.identifierField(name)] }];
      return meant.flatMap(({ ref, id }) => {
        if (typeof id !== 'string' && typeof id !== 'number') return [];
        const step = run.results.findIndex((result) => isExchange(result) && hasMade(model, result, ref, id));
        const value = run.results[step];
        if (found.has(step) || !isExchange(value)) return [];
        found.set(step, { step, value });
        return [{ resource: ref, row: rowIn(value) ?? {} }];
      });
    });
  }
  return [...found.values()].sort((one, other) => one.step - other.step);
}
