import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import { made } from '../made.ts';
import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule } from './context.ts';
import { boundParameters, collectionAt } from './effects.ts';
import { partsOf, wholeParameter } from './paths.ts';
import { fieldsOf } from './rows.ts';

/** `/apps/{app}/endpoints`: each endpoint belongs to an app, also where answers do not say to which. */
export const parentInPath: InferenceRule = {
  name: 'parent-in-path',
  says: 'A parameter of a path that is no field of the resource is its parent: a reference that is kept and not shown.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect)) continue;
      const identity = typeof endpoint.identity === 'string' ? endpoint.identity : undefined;
      for (const name of boundParameters(operation, effect.verb, identity)) addParent(context, operation, effect.resource, name);
    }
  },
};

function addParent(context: Context, operation: Operation, name: string, parameter: string): void {
  const fields = made(fieldsOf(context.resources, name));
  if (Object.hasOwn(fields, parameter)) return;
  const parent = parentOf(context, operation, parameter);
  fields[parameter] =
    parent === undefined || parent === name ? { type: 'string', visible: 'none' } : { ref: parent, visible: 'none' };
  const from = operation.parameters.find((one) => one.name === parameter)?.map.at ?? operation.map.at;
  context.trail.infer(
    below(below(below('/resources', name), 'fields'), parameter),
    parentInPath.name,
    from,
    parent === undefined ? 0.5 : 0.7,
  );
}

/** The resource of the collection that the parameter tells the things of apart. */
function parentOf(context: Context, { path }: Operation, parameter: string): string | undefined {
  const { segments } = partsOf(path);
  const index = segments.findIndex((segment) => wholeParameter(segment) === parameter);
  const collection = index < 1 ? undefined : collectionAt(context, `/${segments.slice(0, index).join('/')}`);
  const resource = collection && context.resources[collection.resource];
  return isMap(resource) && isMap(resource.identifier) ? collection?.resource : undefined;
}
