import { isSame } from '../../document/values.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Fields } from '../exchange/exchange.ts';
import type { TakenRow, Work } from './act.ts';
import type { RowModel } from './model.ts';

/** What an update is besides, where it sends another state than the row is in: the transition that leads there, or why there is none. */
type Move = (work: Work, before: Fields, next: Fields) => Pick<TakenRow, 'transition' | 'illegal' | 'answer'> | undefined;

/** Compiles it; nothing where updates of the resource send no state. */
export function compileMove(operation: Operation, { machine }: RowModel): Move | undefined {
  const moves = machine?.moves(operation.name);
  if (!machine || !moves) return undefined;
  const { field } = machine;
  return (work, before, next) => {
    const state = before[field];
    if (isSame(state, next[field])) return undefined;
    const leading = moves.filter((one) => one.leadsTo(next[field]));
    const transition = leading.find((one) => one.leaves(state)) ?? leading[0];
    const applied = transition?.apply(state, { ...work.scope, resource: before, next });
    if (!transition || !applied) return { illegal: { when: 'transition.illegal.state' } };
    if ('refusal' in applied) return { illegal: applied.refusal };
    return applied.to === next[field]
      ? { transition: transition.name, answer: applied.answer }
      : { illegal: { when: 'transition.illegal.condition' } };
  };
}
