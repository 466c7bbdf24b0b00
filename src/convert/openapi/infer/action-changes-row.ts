import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { collectionAt, infer } from './effects.ts';
import { partsOf, wholeParameter } from './paths.ts';
import { rowOf } from './rows.ts';

/** `POST /invoices/{invoice}/pay`: whatever else it does, it answers with the thing as it is afterwards. */
export const actionChangesRow: InferenceRule = {
  name: 'action-changes-row',
  says: 'POST or PUT below one thing that answers with that same resource changes the thing; what sets off, nothing says.',
  infer(context) {
    for (const operation of context.operations) {
      const resource = operation.method === 'POST' || operation.method === 'PUT' ? actedOn(context, operation) : undefined;
      if (resource !== undefined) infer(context, operation, 'update', resource, actionChangesRow.name, 0.4);
    }
  },
};

function actedOn(context: Context, operation: Operation): string | undefined {
  const { segments } = partsOf(operation.path);
  const last = segments.findLastIndex((segment) => wholeParameter(segment) !== undefined);
  if (last < 1 || last !== segments.length - 2) return undefined;
  const collection = collectionAt(context, `/${segments.slice(0, last).join('/')}`);
  if (!collection) return undefined;
  const endpoint = endpointOf(context, operation);
  const row = rowOf(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), collection.parameter);
  return row?.resource === collection.resource ? collection.resource : undefined;
}
