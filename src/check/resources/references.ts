import { below } from '../../document/pointer.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { error, type Rule, type Subject, type Wrong, warning } from '../rule.ts';
import { eachField } from './fields.ts';

/** What refers to a resource, and what becomes of it. */
export const referenceRules: readonly Rule[] = [
  error(
    'resources/on-delete-without-ref',
    '`onDelete` stands on a field that refers to nothing.',
    'Write the field as `{ ref: RESOURCE }`, or take `onDelete` out.',
    (subject) =>
      eachField(subject, ({ name, at, onDelete, ref, shape }) =>
        onDelete && ref === undefined && isStated(shape)
          ? [{ message: `\`${name}\` is no \`ref\`, so no deletion touches it.`, at: below(at, 'onDelete') }]
          : [],
      ),
  ),
  error(
    'resources/show-without-ref',
    '`show` stands on a field that refers to nothing.',
    'Write the field as `{ ref: RESOURCE }`, or take `show` out.',
    (subject) =>
      eachField(subject, ({ name, at, show, ref, shape }) =>
        show !== undefined && ref === undefined && isStated(shape) && !/"ref":/.test(JSON.stringify(shape.value))
          ? [{ message: `\`${name}\` is no \`ref\`, so there is nothing to show in its place.`, at: below(at, 'show') }]
          : [],
      ),
  ),
  error(
    'resources/clear-required',
    'A reference is to be cleared when what it refers to is deleted, and is required.',
    'Write `restrict` or `cascade`, or take the field out of `required`.',
    (subject) =>
      eachField(subject, ({ name, at, onDelete, required }) =>
        onDelete === 'clear' && statedValue(required) === true
          ? [{ message: `\`${name}\` cannot be both required and cleared.`, at: below(at, 'onDelete') }]
          : [],
      ),
  ),
  warning(
    'resources/unused',
    'A resource is used by no endpoint, no field and no event.',
    'Use it, or take it out.',
    unusedResources,
  ),
];

/** Only where the endpoints and the resources are the whole. */
function unusedResources({ spec, resources, endpointsByResource, shapeNodes }: Subject): Wrong[] {
  if (!isStated(spec.endpoints.all) || spec.endpoints.others) return [];
  const named = new Set(
    shapeNodes.flatMap(({ names, root }) => names.filter(({ word }) => word !== root.resource?.name).map(({ word }) => word)),
  );
  const subscribers = statedValue(spec.events.delivery)?.webhook?.subscribers?.resource;
  const handlers = [...(spec.endpoints.all.value ? Object.values(spec.endpoints.all.value) : [])].some(
    ({ does }) => !isStated(does) || does.value.verb === 'handler',
  );
  return [...resources.values()]
    .filter(({ name }) => !named.has(name) && !endpointsByResource.has(name) && name !== subscribers)
    .filter(({ identifier }) => !handlers || identifier.standing === 'none')
    .map(({ name, at }) => ({ message: `Nothing uses \`${name}\`.`, at, onKey: true }));
}
