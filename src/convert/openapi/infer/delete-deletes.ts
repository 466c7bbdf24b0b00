import type { InferenceRule } from './context.ts';
import { collectionOfItem, infer } from './effects.ts';

export const deleteDeletes: InferenceRule = {
  name: 'delete-deletes',
  says: 'DELETE on one thing of a collection deletes it.',
  infer(context) {
    for (const operation of context.operations) {
      const collection = operation.method === 'DELETE' ? collectionOfItem(context, operation) : undefined;
      if (collection) infer(context, operation, 'delete', collection.resource, deleteDeletes.name, 0.95);
    }
  },
};
