import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { collectionAt, infer } from './effects.ts';
import { partsOf } from './paths.ts';
import { listIn, rowOf } from './rows.ts';

export const postCreates: InferenceRule = {
  name: 'post-creates',
  says: 'POST on the path of a collection makes one of its things; so does one elsewhere that answers 201 with a known resource.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'POST') continue;
      const own = collectionAt(context, operation.path);
      if (own) {
        if (makesOne(context, operation)) infer(context, operation, 'create', own.resource, postCreates.name, 0.9);
        continue;
      }
      const { last } = partsOf(operation.path);
      const made = last === undefined ? madeBy(context, operation) : undefined;
      if (made !== undefined) infer(context, operation, 'create', made, postCreates.name, 0.6);
    }
  },
};

/** A body that is a list makes many at once, which is another effect. */
function makesOne(context: Context, operation: Operation): boolean {
  return context.written.itemsOf(endpointOf(context, operation).request) === undefined;
}

/** The resource that an operation says was created. */
function madeBy(context: Context, operation: Operation): string | undefined {
  const endpoint = endpointOf(context, operation);
  if (successOf(endpoint) !== '201') return undefined;
  const shape = shapeOfAnswer(endpoint, '201');
  const kept = new Set([...context.collections.values()].map(({ resource }) => resource));
  const shown =
    rowOf(context.written, shape, 'id')?.resource ?? context.written.resourceOf(listIn(context.written, shape, undefined)?.items);
  return shown !== undefined && kept.has(shown) ? shown : undefined;
}
