import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { unionOf } from '../../../parts/shapes/branches.ts';
import { fitsAny } from '../../../parts/shapes/compose.ts';
import { refOfMapping } from '../reader.ts';
import type { Context, InferenceRule } from './context.ts';

/** A resource that comes in several forms has the fields of all of them. */
export const fieldsOfUnion: InferenceRule = {
  name: 'fields-of-union',
  says: 'A resource that comes in several forms, as a union or by a discriminator, has the fields of every form; what all require is required.',
  infer(context) {
    const { collections, resources, written, trail } = context;
    for (const name of new Set([...collections.values()].map(({ resource }) => resource))) {
      const resource = resources[name];
      const union = written.alternativesOf(name) ?? mappedForms(context, name);
      if (!isMap(resource) || union === undefined) continue;
      const forms = union.flatMap((one) => written.propertiesOf(one) ?? []);
      const fields: OpenMap = newMap();
      for (const { all } of forms) {
        for (const [field, shape] of Object.entries(all)) fields[field] = joined(fields[field], shape);
      }
      const [first, ...more] = forms;
      const required = first?.required.filter((word) => more.every((form) => form.required.includes(word))) ?? [];
      resources[name] = { ...resource, fields, required, additionalProperties: true };
      const at = below('/resources', name);
      const from = trail.origin(at) ?? '';
      for (const part of ['fields', 'required']) trail.infer(below(at, part), fieldsOfUnion.name, from, 0.8);
    }
  },
};

/** The resources that the discriminator of a schema leads to, which have the schema's own fields too. */
function mappedForms({ reader, names, trail }: Context, name: string): readonly string[] | undefined {
  const schema = reader.target(`#${trail.origin(below('/resources', name)) ?? ''}`)?.value;
  const discriminator = isMap(schema) ? schema.discriminator : undefined;
  const mapping = isMap(discriminator) ? discriminator.mapping : undefined;
  if (!isMap(mapping)) return undefined;
  const forms = Object.values(mapping).flatMap((ref) => (typeof ref === 'string' ? (names.of(refOfMapping(ref)) ?? []) : []));
  return forms.length > 0 ? forms : undefined;
}

/** A field that two forms have may be what either says. */
function joined(known: Json | undefined, shape: Json): Json {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(shape)) return shape;
  const union = isMap(known) && Object.keys(known).length === 1 ? unionOf(known) : undefined;
  const branches = union && !union.isExclusive ? union.branches : [known];
  return branches.some((one) => JSON.stringify(one) === JSON.stringify(shape)) ? known : fitsAny([...branches, shape]);
}
