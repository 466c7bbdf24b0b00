import type { Json } from '../../document/document.ts';
import type { EvaluationContext } from '../../parts/expressions/frame.ts';
import type { TrialExchange } from '../script/exchange.ts';
import { NotSeen } from './expressions.ts';
import type { Model } from './model.ts';
import { rowsShown, rowWith, type ShownFields } from './row-shown.ts';

/** How an expression reads the row that a reference leads to. */
export type Follow = NonNullable<EvaluationContext['follow']>;

/**
 * Reads rows through references: those that exchanges have shown, each as it was shown last. It throws NotSeen for a row that none
 * showed, and for a field that its reader was not shown.
 */
export function followedIn(model: Model, exchanges: readonly TrialExchange[]): Follow {
  const resources = exchanges.map((exchange) => rowsShown(model, exchange)?.resource);
  return (resource, id) => {
    const shown = exchanges.findLast((exchange, at) => resources[at] === resource && rowWith(model, exchange, id));
    const row = shown && rowWith(model, shown, id);
    if (!row) throw new NotSeen(`no ${resource} ${id} was shown`);
    return watched(row, model.unseenBy(resource, model.readerOf(shown)));
  };
}

/** The row; whoever reads what was hidden from its reader is told so. */
function watched(row: ShownFields, hidden: ReadonlySet<string>): ShownFields {
  if (hidden.size === 0) return row;
  const out: Record<string, Json> = { ...row };
  for (const name of hidden) {
    Object.defineProperty(out, name, {
      get: () => {
        throw new NotSeen(`${name} is not shown`);
      },
    });
  }
  return out;
}
