import type { InferenceRule } from './context.ts';
import { collectionOfItem, infer } from './effects.ts';

export const getOneReads: InferenceRule = {
  name: 'get-one-reads',
  says: 'GET or HEAD on one thing of a collection reads it.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'GET' && operation.method !== 'HEAD') continue;
      const collection = collectionOfItem(context, operation);
      if (collection) infer(context, operation, 'read', collection.resource, getOneReads.name, 0.95);
    }
  },
};
