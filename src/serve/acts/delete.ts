import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { Compilation } from '../compilation.ts';
import type { Value } from '../exchange.ts';
import type { RowModel } from '../rows/model.ts';
import { removeRow } from '../rows/remove.ts';
import { type Act, type Models, refuse, seen } from './act.ts';
import { compileStatedBody } from './body.ts';
import { compileLocator } from './locate.ts';
import { compileOwnErrors } from './own-errors.ts';
import { compilePrecondition } from './precondition.ts';

/** Compiles `delete RESOURCE`. */
export function compileDelete(
  operation: Operation,
  endpoint: Endpoint,
  model: RowModel,
  models: Models,
  compilation: Compilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const precondition = compilePrecondition(endpoint, model, compilation);
  const badBody = compileStatedBody(endpoint, compilation);
  const ownErrors = compileOwnErrors(operation, compilation);
  const allowed = endpoint.in && new Set<Value>(endpoint.in);
  return (work, exchange, hook) => {
    const found = locator.find(work, exchange);
    if ('refusal' in found) return found;
    const { row, fields, pass } = found;
    const failed = precondition(exchange, row, fields) ?? badBody(work, exchange);
    if (failed) return { refusal: pass.conceal(failed) };
    const forbidden = pass.settle();
    if (forbidden) return { refusal: forbidden };
    if (allowed && model.machine && !allowed.has(fields[model.machine.field])) return refuse('transition.illegal');
    if (hook && !hook.next) return { paused: { resource: fields, next: { ...fields }, seen: seen(model, row) } };
    const own = ownErrors?.({ ...work.scope, resource: fields });
    if (own) return { refusal: own };
    removeRow(work, model, row, fields, operation.name);
    return { did: 'deleted', row, fields };
  };
}
