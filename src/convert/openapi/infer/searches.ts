import { endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { collectionAt, infer } from './effects.ts';
import { isAlike } from './nested-collections.ts';
import { pathParts } from './paths.ts';
import { listIn } from './rows.ts';

/** `POST /customers/search`, which answers with a list of customers: what the body says narrows it. */
export const searchLists: InferenceRule = {
  name: 'search-lists',
  says: 'POST on a path that ends in a word for searching below that of a collection, and that answers with a list of its things, lists them; so does GET where nothing is read at the path of the collection.',
  infer(context) {
    for (const operation of context.operations) {
      const { segments, parent } = pathParts(operation.path);
      const isSearch = (operation.method === 'POST' || operation.method === 'GET') && searching.test(segments.at(-1) ?? '');
      const collection = isSearch ? collectionAt(context, parent) : undefined;
      // What is searched for by words of its own is no list of fields, unless that is the only way to the things.
      if (!collection || (operation.method === 'GET' && isListed(context, parent))) continue;
      const endpoint = endpointOf(context, operation);
      const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), pathParts(parent).segments.at(-1));
      if (list && isAlike(context, list.items, collection.resource))
        infer(context, operation, 'list', collection.resource, searchLists.name, 0.6);
    }
  },
};

function isListed({ operations }: InferenceContext, path: string): boolean {
  return operations.some((one) => one.method === 'GET' && one.path === path);
}

const searching = /^(?:search|query|find|filter)$/i;
