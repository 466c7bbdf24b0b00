import type { Fields } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Names } from './act.ts';
import type { RowModel } from './model.ts';

/** A new row in the states that it starts in, one machine after the other, with the error that it is answered with; nothing where no target of one holds. */
type Begin = (scope: Names, sent: Fields) => { readonly next: Fields; readonly answer?: string | undefined } | undefined;

/** Compiles it for one operation. Where it is open what a row starts in, `isLeftOpen` leaves it as it was sent. */
export function compileBegin({ machines }: RowModel, operation: string, isLeftOpen = false): Begin {
  const beginning = machines
    .filter(({ hasInitial }) => hasInitial || !isLeftOpen)
    .map((machine) => ({ field: machine.field, initial: machine.initial(operation) }));
  if (beginning.length === 0) return (_scope, sent) => ({ next: sent });
  return (scope, sent) => {
    const next = withoutPrototype(sent);
    let answer: string | undefined;
    for (const { field, initial } of beginning) {
      const target = initial({ ...scope, next });
      if (target === undefined) return undefined;
      next[field] = target.state;
      answer ??= target.answer;
    }
    return { next, answer };
  };
}
