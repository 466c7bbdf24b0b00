import { isMap } from '../../../document/values.ts';
import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule } from './context.ts';
import { collectionAt, collectionOfItem, infer } from './effects.ts';
import { partsOf, shapeOfPath } from './paths.ts';

export const patchUpdates: InferenceRule = {
  name: 'patch-updates',
  says: 'PATCH on one thing changes it; so does POST, or a PUT that requires less than all, where nothing else does.',
  infer(context) {
    for (const operation of context.operations) {
      const { method } = operation;
      const collection = collectionOfItem(context, operation);
      if (!collection) {
        updateByBody(context, operation);
        continue;
      }
      if (method === 'PATCH') infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.95);
      else if (
        method === 'POST' &&
        operation.body &&
        !hasSibling(context, operation, 'PATCH') &&
        !hasSibling(context, operation, 'PUT')
      ) {
        infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.85);
      } else if (method === 'PUT' && isPartial(context, operation)) {
        infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.8);
      }
    }
  },
};

/** A change on the path of a collection is of the thing that its body names. */
function updateByBody(context: Context, operation: Operation): void {
  if (operation.method !== 'PUT' && operation.method !== 'PATCH') return;
  const collection = collectionAt(context, operation.path);
  const resource = collection && context.resources[collection.resource];
  if (!collection || !isMap(resource) || !isMap(resource.identifier)) return;
  const field = String(resource.identifier.field);
  const sent = context.written.propertiesOf(endpointOf(context, operation).request);
  if (sent?.all[field] === undefined || partsOf(operation.path).parameters.length > 0) return;
  const nothing = context.written.typeOf(sent.all[field]) === 'string' ? "''" : '0';
  const said = `request.${field}`;
  const identity = sent.required.includes(field) ? said : `has(${said}) ? ${said} : ${nothing}`;
  infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.6, identity);
}

export function hasSibling({ byPath }: Context, operation: Operation, method: string): boolean {
  const together = byPath.get(shapeOfPath(operation.path)) ?? [];
  return together.some((other) => other.method === method && other !== operation);
}

/** A whole replacement asks for what making one asks for; a change asks for nothing, or for what changes. */
function isPartial(context: Context, operation: Operation): boolean {
  if (hasSibling(context, operation, 'PATCH')) return false;
  const sent = context.written.propertiesOf(endpointOf(context, operation).request);
  if (sent === undefined) return false;
  const above = context.byPath.get(shapeOfPath(partsOf(operation.path).parent)) ?? [];
  const creation = above.find((other) => other.method === 'POST');
  const asked = creation && context.written.propertiesOf(endpointOf(context, creation).request);
  return sent.required.length === 0 || (asked?.required.some((word) => !sent.required.includes(word)) ?? false);
}
