import { type Fact, isStated } from '../fact.ts';
import type { Field, Resource } from '../resources.ts';
import type { Shape } from '../shape.ts';
import type { Spec } from '../spec.ts';
import { type FactInstance, type FactKind, follows, instance } from './kind.ts';

/** Resources: once; per resource; per field. Where the list above is open, so is what would stand below it. */
export const resourceFacts: readonly FactKind[] = [
  {
    part: 'resources',
    kind: 'resources',
    arises: ({ resources }) => [
      instance('service', resources.all),
      ...(resources.others ? [instance('others', resources.others)] : []),
    ],
    whenOpen: 'Operations on a resource that is not stated answer 501.',
  },
  {
    part: 'resources',
    kind: 'identifiers',
    arises: (spec) => perResource(spec, (resource) => [identifierInstance(resource)]),
    whenOpen: 'Operations that need the identifier answer 501.',
  },
  {
    part: 'resources',
    kind: 'field names',
    arises: (spec) => perResource(spec, (resource) => [instance(resource.name, resource.fields)]),
    whenOpen: 'Operations that need the fields answer 501.',
  },
  {
    part: 'resources',
    kind: 'types',
    arises: (spec) => perField(spec, (field, subject) => [instance(subject, field.shape)]),
    whenOpen: 'A request that sends the field answers 501.',
  },
  {
    part: 'resources',
    kind: 'formats',
    arises: (spec) => perField(spec, (field, subject) => (hasFormat(field.shape) ? [instance(subject, field.shape)] : [])),
    whenOpen: 'A request that sends the field answers 501, with its type.',
  },
  {
    part: 'resources',
    kind: 'required flags',
    arises: (spec) => perField(spec, (field, subject) => [follows(subject, field.at, field.required)]),
    whenOpen: 'A request that leaves the field out answers 501.',
  },
  {
    part: 'resources',
    kind: 'allowed values',
    arises: (spec) => perField(spec, (field, subject) => [instance(subject, field.shape)]),
    whenOpen: 'A request that sends the field answers 501, with its type.',
  },
];

function perResource(spec: Spec, arise: (resource: Resource) => readonly FactInstance[]): FactInstance[] {
  const { all } = spec.resources;
  if (isStated(all)) return Object.values(all.value).flatMap(arise);
  return all.standing === 'none' ? [] : [instance('service', all)];
}

function perField(spec: Spec, arise: (field: Field, subject: string) => readonly FactInstance[]): FactInstance[] {
  return perResource(spec, ({ name, fields }) => {
    if (!isStated(fields)) return fields.standing === 'none' ? [] : [instance(name, fields)];
    return Object.values(fields.value).flatMap((field) => arise(field, `${name}.${field.name}`));
  });
}

/** A stated identifier that does not say how it is made is open at that word. */
function identifierInstance({ name, identifier }: Resource): FactInstance {
  if (isStated(identifier) && identifier.value.generate === undefined) {
    return { subject: name, at: `${identifier.at}/generate`, standing: 'open' };
  }
  return instance(name, identifier);
}

/** Strings and numbers have formats; what has an open shape may be one of them. */
function hasFormat(shape: Fact<Shape>): boolean {
  if (!isStated(shape)) return true;
  const { type, ref, resource } = shape.value;
  if (ref !== undefined) return true;
  if (resource !== undefined || type === undefined) return false;
  const types = Array.isArray(type) ? type : [type];
  return types.some((word) => word === 'string' || word === 'number' || word === 'integer');
}
