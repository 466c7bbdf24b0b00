import type { Fields } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Names } from './act.ts';
import type { RowModel } from './model.ts';

/** A new row in the states that it starts in, one machine after the other; nothing where no target of one holds. */
type Begin = (scope: Names, sent: Fields) => Fields | undefined;

/** Compiles it for one operation. Where it is open what a row starts in, `isLeftOpen` leaves it as it was sent. */
export function compileBegin({ machines }: RowModel, operation: string, isLeftOpen = false): Begin {
  const beginning = machines
    .filter(({ hasInitial }) => hasInitial || !isLeftOpen)
    .map((machine) => ({ field: machine.field, initial: machine.initial(operation) }));
  if (beginning.length === 0) return (_scope, sent) => sent;
  return (scope, sent) => {
    const next = withoutPrototype(sent);
    for (const { field, initial } of beginning) {
      const state = initial({ ...scope, next });
      if (state === undefined) return undefined;
      next[field] = state;
    }
    return next;
  };
}
