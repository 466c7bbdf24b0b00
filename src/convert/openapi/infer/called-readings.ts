import { isMap } from '../../../document/values.ts';
import {
  collectionAt,
  collectionOfItem,
  endpointOf,
  hasSibling,
  type InferenceContext,
  type InferenceRule,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { isCalledReading } from './creations.ts';
import { infer } from './effects.ts';
import { isAlike } from './memberships.ts';
import { pathParts } from './paths.ts';
import { listIn, shownRowOf } from './rows.ts';

/** `POST /lists/{id}`, called `readList`: what is sent says how much of the thing is shown. */
export const calledReading: InferenceRule = {
  name: 'called-reading',
  says: 'POST on one thing that is called a reading (get, read, fetch, find, search, query, retrieve, look up), where GET is not, and answers with the thing, reads it; one on the path of a collection that answers with a list of its things, which something else makes, lists them.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'POST' || !isCalledReading(operation) || hasSibling(context, operation, 'GET')) continue;
      const endpoint = endpointOf(context, operation);
      const shape = shapeOfAnswer(endpoint, successOf(endpoint));
      if (shape === undefined) continue;
      const one = collectionOfItem(context, operation);
      const shown = one && (shownRowOf(context.written, shape, one.parameter)?.shape ?? shape);
      if (one && shown !== undefined && isAlike(context, shown, one.resource))
        infer(context, operation, 'read', one.resource, calledReading.name, 0.7);
      const many = collectionAt(context, operation.path);
      const list = many && listIn(context.written, shape, pathParts(operation.path).segments.at(-1));
      if (many && list && isAlike(context, list.items, many.resource) && isMade(context, many.resource))
        infer(context, operation, 'list', many.resource, calledReading.name, 0.7);
    }
  },
};

/** Whether an operation is known to make things of a resource. */
function isMade({ endpoints }: InferenceContext, resource: string): boolean {
  return Object.values(endpoints).some(
    (one) => isMap(one) && (one.does === `create ${resource}` || one.does === `upsert ${resource}`),
  );
}
