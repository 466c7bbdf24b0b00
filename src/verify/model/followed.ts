import type { FieldValues } from '../../parts/expressions/cel-value.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import { derivedElsewhere } from './derived.ts';
import type { Follow } from './expectation.ts';
import { NotSeen } from './expressions.ts';
import type { Model } from './model.ts';
import { hasMade, rowKnown } from './row-known.ts';
import { rowsShown, rowWith, type ShownFields, unexpanded } from './row-shown.ts';
import { watched } from './watched.ts';

/**
 * Reads rows through references: those that exchanges have shown, each as it was shown last. It throws NotSeen for a row that none
 * showed, and for a field that its reader was not shown, unless one of them made the row and set it for good. What is derived of other rows is read only
 * where nothing was changed since.
 */
export function followedIn(model: Model, exchanges: readonly TrialExchange[], isLatest = false): Follow {
  let resources: readonly (string | undefined)[] = [];
  const follow: Follow = (resource, key) => {
    if (resources.length === 0) resources = exchanges.map((exchange) => rowsShown(model, exchange)?.resource);
    const id = typeof key === 'string' ? key : identifierBy(model, exchanges, resource, key);
    const shown = exchanges.findLast((exchange, at) => resources[at] === resource && rowWith(model, exchange, id));
    const row = shown && rowWith(model, shown, id);
    if (!row) throw new NotSeen(`no ${resource} ${id} was shown`);
    const creation = exchanges.find((exchange) => hasMade(model, exchange, resource, id));
    const unseen = model.unseenBy(resource, model.readerOf(shown));
    const known = rowKnown(model, resource, { fields: row, unseen, creation, follow });
    // What is derived of other rows may have changed since it was shown.
    const moving = isLatest ? [] : derivedElsewhere(model.spec, resource);
    return watched(known.fields, new Set([...known.unseen, ...moving]));
  };
  return follow;
}

/** The identifier of the row that was shown last with these fields. @throws {NotSeen} where none was: it may be there all the same. */
function identifierBy(model: Model, exchanges: readonly TrialExchange[], resource: string, by: FieldValues): string {
  const field = model.identifierField(resource);
  const isMeant = (row: ShownFields) => Object.entries(by).every(([name, value]) => String(row[name]) === String(value));
  for (const exchange of exchanges.toReversed()) {
    const shown = rowsShown(model, exchange);
    const row = shown?.resource === resource ? shown.rows.find((one) => isMeant(unexpanded(model, resource, one))) : undefined;
    if (row?.[field] !== undefined) return String(row[field]);
  }
  throw new NotSeen(`no such ${resource} was shown`);
}
