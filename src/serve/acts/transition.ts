import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Row } from '../../store/store.ts';
import type { Pass } from '../access/passing.ts';
import type { Compilation } from '../compilation.ts';
import type { Fields } from '../exchange.ts';
import { bare } from '../json.ts';
import type { RowModel } from '../rows/model.ts';
import { applySetters, asStored, updateRow } from '../rows/write.ts';
import type { CompiledTransition } from '../states.ts';
import { type Act, type Hook, type Models, type Outcome, type Pause, refuse, seen, type Work } from './act.ts';
import { compileStatedBody } from './body.ts';
import { compileLocator } from './locate.ts';
import { compileOwnErrors, type OwnErrors } from './own-errors.ts';
import { compilePrecondition } from './precondition.ts';

/** Compiles a transition that a caller fires. */
export function compileTransitionAct(
  name: string,
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: Compilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const precondition = compilePrecondition(endpoint, model, compilation);
  const badBody = compileStatedBody(endpoint, compilation);
  const firing = compileFiring(name, operation, model, compilation);
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    if ('refusal' in found) return found;
    const failed = precondition(exchange, found.row, found.fields) ?? badBody(work, exchange);
    if (failed) return { refusal: found.pass.conceal(failed) };
    return firing(work, found.row, found.fields, hook, found.pass);
  };
}

/** Fires a transition on a row that was found, whoever fires it; a caller has to pass the rules over what becomes of it. */
export type Firing = (work: Work, row: Row, before: Fields, hook?: Hook, pass?: Pass) => Outcome | Pause;

export function compileFiring(name: string, operation: Operation, model: RowModel, compilation: Compilation): Firing {
  const { machine } = model;
  const transition: CompiledTransition | undefined = machine?.transition(name, operation.name);
  const ownErrors: OwnErrors | undefined = compileOwnErrors(operation, compilation);
  const words = [operation.name, name, 'write'];
  return (work, row, before, hook, pass) => {
    if (!machine || !transition) return refuse('transition.illegal');
    const scope = { ...work.scope, resource: before, next: before };
    const applied = transition.apply(before[machine.field], scope);
    const moved: Fields = 'refusal' in applied ? before : Object.assign(bare(before), { [machine.field]: applied.to });
    const hooked = hook?.next ?? moved;
    const forbidden = pass?.settle(() => asStored(model.setters(words), { ...scope, next: hooked }, hooked));
    if (forbidden) return { refusal: forbidden };
    if ('refusal' in applied) return applied;
    if (hook && !hook.next) return { paused: { resource: before, next: moved, seen: seen(model, row) } };
    const next = applySetters(model.setters(words), { ...scope, next: hooked }, hooked);
    const own = ownErrors?.({ ...scope, next });
    if (own) return { refusal: own };
    const written = updateRow(work, model, row, before, next, work.nowMs, operation.name);
    return { did: 'changed', row: written, fields: next };
  };
}
