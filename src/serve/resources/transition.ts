/** Transitions of a row: one that a caller fires, and those that an update is. */

import { isSame } from '../../document/values.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import { isStateSent } from '../../parts/payload.ts';
import { stateOfDeleted } from '../../parts/states.ts';
import type { Row } from '../../store/store.ts';
import { type Fields, type Refusal, Refused, type Value } from '../exchange/exchange.ts';
import { withoutPrototype } from '../http/json.ts';
import type { Act, Changing, Found, Models, Outcome, TakenRow, Work } from './act.ts';
import { compileMissingReference, compileStatedBody } from './body.ts';
import { insertRow, updateRow } from './create.ts';
import { forgetDeleted } from './kept-row.ts';
import { compileLocator } from './locate.ts';
import type { RowModel } from './model.ts';
import { compileOwnErrors, compilePrecondition } from './precondition.ts';
import { applySetters, asStored } from './setters.ts';
import type { CompiledTransition } from './states.ts';
import type { ViewCompilation } from './view-compilation.ts';

/** Compiles a transition that a caller fires. */
export function compileTransitionAct(
  name: string,
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: ViewCompilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const badBody = compileStatedBody(endpoint, compilation);
  const firing = compileFiring(name, operation, model, compilation);
  return {
    model,
    find: (work, exchange) => locator.find(work, exchange),
    precondition: compilePrecondition(endpoint, model, compilation),
    take(work, exchange, found) {
      const bad = badBody(work, exchange);
      return bad ? { refusal: bad } : firing.take(work, found);
    },
    illegal: (work, found) => firing.take(work, found).illegal,
    change: firing.change,
  };
}

/** A transition of a row that is there, whoever fires it. */
export interface FireTransition {
  take(work: Work, found: Found): TakenRow;
  readonly change: Changing;
}

/** `given` are the fields that are given from elsewhere, and so not set. */
export function compileFiring(
  name: string,
  operation: Operation,
  model: RowModel,
  compilation: ViewCompilation,
  given?: readonly string[],
): FireTransition {
  const machine = model.machines.find((one) => one.has(name));
  const transition: CompiledTransition | undefined = machine?.transition(name, operation.name);
  const words = [operation.name, name, 'write'];
  const illegal: Refusal = { when: 'transition.illegal.state' };
  const deletedState = stateOfDeleted(compilation.spec, model.resource);
  const missingReference = compileMissingReference(compilation);

  /** A deleted row is there again, as if it had never gone: what it refers to has to be there still. @throws {Refused} */
  function bringBack(work: Work, { id }: Row, before: Fields, next: Fields): Outcome {
    const missing = missingReference(work, model, next, undefined);
    if (missing) throw new Refused(missing);
    const [misfit] = model.validateStored(next);
    if (misfit)
      throw new Refused({ when: 'internal', message: `What was deleted does not fit any more: ${misfit.path || '/'}.` });
    forgetDeleted(work.rows, model, id);
    return { did: 'changed', ...insertRow(work, model, id, next, operation.name, { before, transition: name }) };
  }

  return {
    take(work, { fields, isDeleted = false }) {
      // A transition is of a row that was found.
      const before = fields!;
      if (!machine || !transition) return { next: before, illegal };
      const state = isDeleted ? deletedState : before[machine.field];
      const applied = transition.apply(state, { ...work.scope, resource: before, next: before });
      if ('refusal' in applied) return { next: before, illegal: applied.refusal };
      const next = Object.assign(withoutPrototype(before), { [machine.field]: applied.to });
      return applied.answer === undefined ? { next } : { next, answer: applied.answer };
    },
    change: {
      model,
      asStored: (names, next) => asStored(model.setters(words, given), names, next),
      illegalIn: undefined,
      set: (_work, _found, _taken, names, next) => applySetters(model.setters(words, given), names, next),
      ownErrors: compileOwnErrors(operation, compilation),
      store(work, { row, fields, isDeleted }, _taken, next) {
        if (isDeleted) return bringBack(work, row!, fields!, next);
        return { did: 'changed', ...updateRow(work, model, row!, fields!, next, operation.name, [name]) };
      },
    },
  };
}

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

/** The fields of states that an update may send. */
export function sentStates({ machines, fields, resource }: RowModel, { spec }: ViewCompilation): readonly string[] {
  return machines.flatMap((machine) => {
    const field = fields.get(machine.field);
    return field && isStateSent(spec, resource, field) ? [field.name] : [];
  });
}
