import type { Context } from '../../parts/expressions/frame.ts';
import type { Exchange } from '../script/exchange.ts';
import { NotSeen } from './expressions.ts';
import type { Model } from './model.ts';
import { rowsShown, rowWith } from './row-shown.ts';

/** What expressions can read through references: the rows that exchanges have shown, each as it was shown last. */
export interface Followed {
  readonly follow: NonNullable<Context['follow']>;
  /** The fields of those rows that were not to be seen. */
  readonly unseen: ReadonlySet<string>;
}

export function followedIn(model: Model, exchanges: readonly Exchange[]): Followed {
  const resources = exchanges.map((exchange) => rowsShown(model, exchange)?.resource);
  const unseen = resources.flatMap((name, at) => {
    const exchange = exchanges[at];
    return name === undefined || !exchange ? [] : [...model.unseenBy(name, model.readerOf(exchange))];
  });
  return {
    unseen: new Set(unseen),
    follow(resource, id) {
      const shown = exchanges.findLast((exchange, at) => resources[at] === resource && rowWith(model, exchange, id));
      const row = shown && rowWith(model, shown, id);
      if (!row) throw new NotSeen(`no ${resource} ${id} was shown`);
      return row;
    },
  };
}
