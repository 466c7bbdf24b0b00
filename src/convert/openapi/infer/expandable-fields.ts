import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import { unionsOf } from '../../../parts/shapes/branches.ts';
import { made } from '../made.ts';
import type { Operation } from '../operation.ts';
import { type Context, endpointOf, type InferenceRule, placeOfEndpoint } from './context.ts';
import { fieldsOf, isReceipt } from './rows.ts';

/** A field that holds an identifier or the thing itself refers to that thing; a parameter `expand` asks for it whole. */
export const expandableFields: InferenceRule = {
  name: 'expandable-fields',
  says: 'A field that is a text or one resource with an identifier refers to it; where a parameter `expand` is, it is shown whole on request.',
  infer(context) {
    const expanding = context.operations.filter(
      (operation) => operation.parameters.some(({ name }) => name === 'expand') || isInBody(context, operation),
    );
    for (const name of Object.keys(context.resources)) {
      for (const [field, shape] of Object.entries(fieldsOf(context.resources, name))) {
        const target = referred(context, shape);
        if (target !== undefined) refer(context, name, field, shape, target);
      }
    }
    for (const operation of expanding) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !hasReference(context, effect.resource)) continue;
      endpoint.expand = { parameter: 'expand', depth: 4 };
      context.trail.infer(below(placeOfEndpoint(operation), 'expand'), expandableFields.name, operation.map.at, 0.8);
    }
  },
};

/** Whether the body of an operation may hold the parameter. */
function isInBody(context: Context, operation: Operation): boolean {
  const { request } = endpointOf(context, operation);
  return request !== undefined && Object.hasOwn(context.written.propertiesOf(request)?.all ?? {}, 'expand');
}

/** The one resource with an identifier among the alternatives of a field, where a text is another; what says it is gone does not count. */
function referred({ written, resources }: Context, shape: Json): string | undefined {
  const union = written.alternativesOf(shape);
  if (union === undefined || written.resourceOf(shape) !== undefined) return undefined;
  const isText = (one: Json) => written.resourceOf(one) === undefined && written.typeOf(one) === 'string';
  const things = union.filter((one) => !isText(one) && !isReceipt(written, one));
  const name = things.length === 1 ? written.resourceOf(things[0]) : undefined;
  const resource = name === undefined ? undefined : resources[name];
  const hasText = union.some(isText);
  return hasText && isMap(resource) && isMap(resource.identifier) ? name : undefined;
}

/** The types are said beside the alternatives, so that a reference is not taken for a text alone. */
function refer(context: Context, name: string, field: string, shape: Json, target: string): void {
  if (!isMap(shape) || shape.type !== undefined) return;
  const isNullable = unionsOf(shape).some(({ branches }) => branches.includes('null'));
  made(fieldsOf(context.resources, name))[field] = {
    ref: target,
    type: isNullable ? ['string', 'object', 'null'] : ['string', 'object'],
    ...shape,
  };
  const at = below(below(below('/resources', name), 'fields'), field);
  const from = context.trail.origin(at) ?? '';
  for (const word of ['ref', 'type']) context.trail.infer(below(at, word), expandableFields.name, from, 0.9);
}

function hasReference({ resources }: Context, name: string): boolean {
  return Object.values(fieldsOf(resources, name)).some((shape) => isMap(shape) && shape.ref !== undefined);
}
