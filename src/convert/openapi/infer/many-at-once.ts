import type { Json, JsonMap } from '../../../document/document.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';

/** Whether a body is about one thing of a resource: one that is a list, or holds a list of such things as its answer does, is about many at once, which is another effect. */
export function makesOne(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const endpoint = endpointOf(context, operation);
  return context.written.itemsOf(endpoint.request) === undefined && !listsBoth(context, endpoint, resource);
}

/** `{ contacts: [contact] }`, sent and answered where contacts are made: there may be several. */
function listsBoth({ written }: InferenceContext, endpoint: JsonMap, resource: string): boolean {
  const lists = (shape: Json | undefined): boolean =>
    Object.values(written.propertiesOf(shape)?.all ?? {}).some((one) => written.resourceOf(written.itemsOf(one)) === resource);
  // A thing may list others of its kind.
  const isThing = written.resourceOf(endpoint.request) === resource;
  return !isThing && lists(endpoint.request) && lists(shapeOfAnswer(endpoint, successOf(endpoint)));
}
