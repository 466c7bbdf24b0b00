import { isMap } from '../../../document/values.ts';
import type { InferenceRule } from './context.ts';
import { endpointOf, successOf } from './context.ts';
import { collectionOfItem, infer } from './effects.ts';

export const putReplaces: InferenceRule = {
  name: 'put-replaces',
  says: 'PUT on one thing that is no change in part replaces it, or makes it where it may answer 201 as well.',
  infer(context) {
    for (const operation of context.operations) {
      const collection = operation.method === 'PUT' ? collectionOfItem(context, operation) : undefined;
      if (!collection) continue;
      const endpoint = endpointOf(context, operation);
      const makes = isMap(endpoint.response) && Object.hasOwn(endpoint.response, '201') && successOf(endpoint) !== '201';
      infer(context, operation, makes ? 'upsert' : 'replace', collection.resource, putReplaces.name, 0.8);
    }
  },
};
