import type { Json } from '../../document/document.ts';
import { entriesOf } from '../../parts/fact.ts';
import { isDone, isExchange, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import type { Model } from '../model/model.ts';
import { rowsShown, rowWith, type ShownFields } from '../model/row-shown.ts';
import type { Session } from '../session/session.ts';
import { followsReferences } from './own-rules.ts';

/** References that one path of an expression may follow. */
const followsMax = 3;

/** The exchanges that showed last what rows refer to, where some expression about their resource follows a reference. */
export function referredTo(
  session: Session,
  resource: string,
  rows: readonly (ShownFields | undefined)[],
): Done<TrialExchange>[] {
  const { model } = session;
  if (!followsReferences(model, resource)) return [];
  const found = new Map<number, Done<TrialExchange>>();
  let front = rows.flatMap((row) => (row ? [{ resource, row }] : []));
  for (let depth = 0; depth < followsMax && front.length > 0; depth++) {
    front = front.flatMap((one) =>
      referencesIn(model, one.resource, one.row).flatMap(({ target, id }) => {
        const shown = lastShowing(session, target, id);
        if (!shown || found.has(shown.done.step)) return [];
        found.set(shown.done.step, shown.done);
        return [{ resource: target, row: shown.row }];
      }),
    );
  }
  return [...found.values()].sort((one, other) => one.step - other.step);
}

function referencesIn(model: Model, name: string, row: ShownFields): { readonly target: string; readonly id: Json }[] {
  const resource = model.resource(name);
  return (resource ? entriesOf(resource.fields) : []).flatMap(([field, { ref }]) => {
    const id = row[field];
    return ref === undefined || (typeof id !== 'string' && typeof id !== 'number') ? [] : [{ target: ref, id }];
  });
}

function lastShowing(session: Session, resource: string, id: Json) {
  const { model } = session;
  const { results } = session.run;
  for (let step = results.length - 1; step >= 0; step--) {
    const value = results[step];
    if (!isExchange(value) || !isDone(value) || rowsShown(model, value)?.resource !== resource) continue;
    const row = rowWith(model, value, id);
    if (row) return { done: { step, value }, row };
  }
  return undefined;
}
