/** Which operations change a thing in part, or among the others. */

import type { SourceOperation } from '../read/operation.ts';
import { collectionOfItem, endpointOf, hasSibling, type InferenceContext } from './context.ts';
import { pathParts, shapeOfPath } from './paths.ts';

/** Below another thing, what POST makes there, and no path of its own changes, is changed among the others. */
export function isChangedHere(context: InferenceContext, operation: SourceOperation): boolean {
  if (pathParts(operation.path).parameters.length === 0) return true;
  const ofOne = context.byPath.get(`${shapeOfPath(operation.path)}/{}`) ?? [];
  return hasSibling(context, operation, 'POST') && !ofOne.some(({ method }) => ['PUT', 'PATCH', 'POST'].includes(method));
}

/** A whole replacement asks for what making one asks for; a change asks for nothing, or for what changes. */
export function isPartial(context: InferenceContext, operation: SourceOperation): boolean {
  if (hasSibling(context, operation, 'PATCH')) return false;
  const sent = context.written.propertiesOf(endpointOf(context, operation).request);
  if (sent === undefined) return false;
  const creation = creationOf(context, operation);
  if (creation === undefined) return false;
  const asked = context.written.propertiesOf(endpointOf(context, creation).request);
  return sent.required.length === 0 || (asked?.required.some((word) => !sent.required.includes(word)) ?? false);
}

/** What makes the things of whose one an operation speaks: POST on the path before it, or elsewhere. */
function creationOf(context: InferenceContext, operation: SourceOperation): SourceOperation | undefined {
  const above = context.byPath.get(shapeOfPath(pathParts(operation.path).parent)) ?? [];
  const resource = collectionOfItem(context, operation)?.resource;
  return (
    above.find(({ method }) => method === 'POST') ??
    context.operations.find((other) => endpointOf(context, other).does === `create ${resource}`)
  );
}
