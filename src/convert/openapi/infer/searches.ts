import { endpointOf, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { collectionAt, infer } from './effects.ts';
import { isAlike } from './nested-collections.ts';
import { pathParts } from './paths.ts';
import { listIn } from './rows.ts';

/** `POST /customers/search`, which answers with a list of customers: what the body or the query says narrows it. */
export const searchLists: InferenceRule = {
  name: 'search-lists',
  says: 'POST or GET on a path that ends in a word for searching below that of a collection, and that answers with a list of its things, lists them.',
  infer(context) {
    for (const operation of context.operations) {
      const { segments, parent } = pathParts(operation.path);
      const isSearch = (operation.method === 'POST' || operation.method === 'GET') && searching.test(segments.at(-1) ?? '');
      const collection = isSearch ? collectionAt(context, parent) : undefined;
      if (!collection) continue;
      const endpoint = endpointOf(context, operation);
      const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), pathParts(parent).segments.at(-1));
      if (list && isAlike(context, list.items, collection.resource))
        infer(context, operation, 'list', collection.resource, searchLists.name, 0.6);
    }
  },
};

const searching = /^(?:search|query|find|filter)$/i;
