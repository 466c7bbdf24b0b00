import { isMap } from '../../../document/values.ts';
import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { collectionAt, infer } from './effects.ts';
import { partsOf } from './paths.ts';
import { fieldsOf, listIn } from './rows.ts';

/** A list of a collection; also one below it that is narrowed by fields, such as `/pets/findByStatus?status=sold`. */
export const getManyLists: InferenceRule = {
  name: 'get-many-lists',
  says: 'GET that answers with a list, on the path of a collection or on one whose list shows a known resource, lists it.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'GET') continue;
      const { segments, parent } = partsOf(operation.path);
      const endpoint = endpointOf(context, operation);
      const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), segments.at(-1));
      if (list === undefined) continue;
      const own = collectionAt(context, operation.path);
      const shown = context.written.resourceOf(list.items);
      const above = collectionAt(context, parent);
      if (own) infer(context, operation, 'list', own.resource, getManyLists.name, 0.95);
      else if (shown === undefined || !isKept(context, shown)) continue;
      else if (above === undefined) infer(context, operation, 'list', shown, getManyLists.name, 0.7);
      else if (above.resource === shown && isNarrowedByFields(context, operation, shown)) {
        infer(context, operation, 'list', shown, getManyLists.name, 0.6);
      }
    }
  },
};

function isKept({ resources }: Context, name: string): boolean {
  const resource = resources[name];
  return isMap(resource) && isMap(resource.identifier);
}

/** A search by words of its own is no list that fields narrow. */
function isNarrowedByFields(context: Context, { parameters }: Operation, resource: string): boolean {
  const fields = fieldsOf(context.resources, resource);
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  return queries.length > 0 && queries.every(({ name }) => Object.hasOwn(fields, name));
}
