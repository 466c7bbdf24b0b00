import { isSame } from '../../document/values.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Fields, Value } from '../exchange/exchange.ts';
import type { TakenRow, Work } from './act.ts';
import type { RowModel } from './model.ts';
import type { CompiledTransition } from './states.ts';

/** What an update is besides, where it sends other states than the row is in: the transitions that lead there, or why there is none. */
type Move = (work: Work, before: Fields, next: Fields) => Pick<TakenRow, 'transitions' | 'illegal' | 'answer'> | undefined;

/** Compiles it; nothing where updates of the resource send no state. */
export function compileMove(operation: Operation, { machines }: RowModel): Move | undefined {
  const moving = machines.flatMap((machine) => {
    const moves = machine.moves(operation.name);
    return moves ? [{ field: machine.field, moves }] : [];
  });
  if (moving.length === 0) return undefined;
  return (work, before, next) => {
    const scope = { ...work.scope, resource: before, next };
    const transitions: string[] = [];
    let answer: string | undefined;
    // Each machine is asked with all that is sent, the states of the others included.
    for (const { field, moves } of moving) {
      if (isSame(before[field], next[field])) continue;
      const moved = moveOf(moves, before[field], next[field], scope);
      if ('illegal' in moved) return moved;
      transitions.push(moved.name);
      answer ??= moved.answer;
    }
    return transitions.length === 0 ? undefined : { transitions, answer };
  };
}

function moveOf(
  moves: readonly CompiledTransition[],
  from: Value,
  to: Value,
  scope: Readonly<Record<string, Value>>,
): { readonly name: string; readonly answer?: string | undefined } | Required<Pick<TakenRow, 'illegal'>> {
  const leading = moves.filter((one) => one.leadsTo(to));
  const transition = leading.find((one) => one.leaves(from)) ?? leading[0];
  const applied = transition?.apply(from, scope);
  if (!transition || !applied) return { illegal: { when: 'transition.illegal.state' } };
  if ('refusal' in applied) return { illegal: applied.refusal };
  if (applied.to !== to) return { illegal: { when: 'transition.illegal.condition' } };
  return { name: transition.name, answer: applied.answer };
}
