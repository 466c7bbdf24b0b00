import { collectionOfItem, type InferenceRule } from './context.ts';
import { confidenceOf } from './doubts.ts';
import { infer } from './effects.ts';
import { isMembership } from './memberships.ts';

/** `DELETE /customers/{customer}`: afterwards it is gone. */
export const deleteDeletes: InferenceRule = {
  name: 'delete-deletes',
  says: 'DELETE on one thing of a collection deletes it.',
  infer(context) {
    for (const operation of context.operations) {
      const collection = operation.method === 'DELETE' ? collectionOfItem(context, operation) : undefined;
      if (!collection || isMembership(context, collection)) continue;
      const confidence = confidenceOf(context, operation, collection, 0.95);
      infer(context, operation, 'delete', collection.resource, deleteDeletes.name, confidence);
    }
  },
};
