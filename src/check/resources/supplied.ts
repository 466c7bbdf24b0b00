import { statedValue } from '../../parts/fact.ts';
import { boundByPath, isSuppliedByService, isWritable } from '../../parts/payload.ts';
import type { Field, Resource } from '../../parts/resources.ts';
import { machineOf } from '../../parts/states.ts';
import { knownTransitions } from '../misspelt.ts';
import { fieldOf } from '../names.ts';
import { error, type Rule, type Subject } from '../rule.ts';
import { eachField } from './fields.ts';

/** Required fields that a request cannot state and nothing else does. */
export const suppliedRules: readonly Rule[] = [
  error(
    'resources/required-unset',
    'A required field cannot be sent, and nothing sets it when the resource is made.',
    'Say what sets it, such as `set: { create: now }` or a default; or take it out of `required`.',
    (subject) =>
      eachField(subject, (field, resource) =>
        isUnset(subject, field, resource)
          ? [
              {
                message: `Nothing sets \`${resource.name}.${field.name}\` when one is made, and answers must carry it.`,
                at: field.at,
                onKey: true,
              },
            ]
          : [],
      ),
  ),
];

/**
 * Rows of a resource that nothing creates come from elsewhere, and so does what is in them. Where its machine is open, the
 * field may be the one that holds the state.
 */
function isUnset({ spec, endpointsByResource }: Subject, field: Field, resource: Resource): boolean {
  if (statedValue(field.required) !== true || isWritable(spec, resource, field)) return false;
  const machine = machineOf(spec.states, resource.name);
  if (!machine && knownTransitions(spec, resource.name) === undefined) return false;
  if (machine && fieldOf(resource, machine.field) === undefined) return false;
  const isMade = statedValue(resource.identifier)?.field === field.name;
  if (machine?.field === field.name || isMade || isSuppliedByService(field, 'create')) return false;
  const makers = (endpointsByResource.get(resource.name) ?? []).filter((endpoint) => {
    const verb = statedValue(endpoint.does)?.verb;
    return verb === 'create' || verb === 'upsert';
  });
  return makers.some(
    (endpoint) =>
      !boundByPath(spec, endpoint).includes(field.name) &&
      field.set[endpoint.operation] === undefined &&
      field.set[`create ${resource.name}`] === undefined &&
      field.set.upsert === undefined,
  );
}
