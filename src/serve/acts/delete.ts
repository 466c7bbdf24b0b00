import type { Endpoint } from '../../parts/endpoints.ts';
import type { Operation } from '../../parts/operations.ts';
import type { RowModel } from '../rows/model.ts';
import { removeRow } from '../rows/remove.ts';
import type { ViewCompilation } from '../view-compilation.ts';
import type { Act, Models } from './act.ts';
import { compileAllowed } from './allowed.ts';
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
  compilation: ViewCompilation,
): Act {
  const locator = compileLocator(endpoint, model, models, compilation);
  const badBody = compileStatedBody(endpoint, compilation);
  return {
    model,
    find: (work, exchange) => locator.find(work, exchange),
    precondition: compilePrecondition(endpoint, model, compilation),
    take(work, exchange, { fields }) {
      const bad = badBody(work, exchange);
      return bad ? { refusal: bad } : { next: { ...fields } };
    },
    change: {
      model,
      asStored: undefined,
      illegalIn: compileAllowed(endpoint, model),
      set: (_work, _found, _taken, _names, next) => next,
      ownErrors: compileOwnErrors(operation, compilation),
      store(work, { row, fields }) {
        // A deletion is of a row that was found.
        removeRow(work, model, row!, fields!, operation.name);
        return { did: 'deleted', row: row!, fields: fields! };
      },
    },
  };
}
