import type { Json, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import { conjunctionOf, fitsAny, unionOf, unionsOf } from '../../../parts/shapes/branches.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made, refOfMapping, type SourceReader } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint } from './context.ts';
import { documentFields, isReceipt } from './rows.ts';

/** A resource that comes in several forms has the fields of all of them. */
export const fieldsOfUnion: InferenceRule = {
  name: 'fields-of-union',
  says: 'A resource that comes in several forms, as a union, beside what all have, or by a discriminator (its mapping, else the schemas that are all of it), has the fields of every form; what all require is required.',
  infer(context) {
    const { collections, resources, written, trail } = context;
    for (const name of new Set([...collections.values()].map(({ resource }) => resource))) {
      const resource = resources[name];
      const own = written.alternativesOf(name) ?? mappedForms(context, name);
      const union = own ?? (isMap(resource) && resource.fields === undefined ? formsBeside(context, name) : undefined);
      if (!isMap(resource) || union === undefined) continue;
      // What stands beside a union is of every form.
      const beside = own === undefined ? written.propertiesOf(name) : undefined;
      const forms = union.flatMap((one) => written.propertiesOf(one) ?? []);
      const fields: OpenMap = Object.assign(newMap(), beside?.all);
      for (const { all } of forms) {
        for (const [field, shape] of Object.entries(all)) fields[field] = joined(fields[field], shape);
      }
      const [first, ...more] = forms;
      const common = first?.required.filter((word) => more.every((form) => form.required.includes(word))) ?? [];
      const required = [...new Set([...(beside?.required ?? []), ...common])];
      resources[name] = { ...resource, fields, required, additionalProperties: true };
      const at = below('/resources', name);
      const from = trail.origin(at) ?? '';
      for (const part of ['fields', 'required']) trail.infer(below(at, part), fieldsOfUnion.name, from, 0.8);
    }
  },
};

/** Parts of which one has members and another is a union: the forms that stand beside what is the same in all. */
function formsBeside({ written }: InferenceContext, name: string): readonly Json[] | undefined {
  const parts = conjunctionOf(written.expand(name));
  const forms = parts.flatMap((part) => written.alternativesOf(part) ?? []);
  return forms.length > 0 && written.propertiesOf(name) !== undefined ? forms : undefined;
}

/** The resources that the discriminator of a schema leads to, which have the schema's own fields too; without a mapping those that are made of it. */
function mappedForms({ reader, names, trail }: InferenceContext, name: string): readonly string[] | undefined {
  const at = trail.origin(below('/resources', name)) ?? '';
  const schema = reader.target(`#${at}`)?.value;
  const discriminator = isMap(schema) ? schema.discriminator : undefined;
  if (!isMap(discriminator)) return undefined;
  const { mapping } = discriminator;
  const refs = isMap(mapping) ? Object.values(mapping) : refsMadeOf(reader, at);
  const forms = refs.flatMap((ref) => (typeof ref === 'string' ? (names.of(refOfMapping(ref)) ?? []) : []));
  return forms.length > 0 ? forms : undefined;
}

/** The schemas beside one that are that and more (OpenAPI 3.0, section 4.7.25). */
function refsMadeOf(reader: SourceReader, at: Pointer): string[] {
  const place = at.replace(/\/[^/]*$/, '');
  const beside = reader.target(`#${place}`)?.value;
  const isOf = (schema: Json): boolean =>
    isMap(schema) && conjunctionOf<Json>(schema).some((part) => isMap(part) && part.$ref === `#${at}`);
  return isMap(beside) && place !== ''
    ? Object.keys(beside).flatMap((key) => (isOf(beside[key] as Json) ? [`#${below(place, key)}`] : []))
    : [];
}

/** A field that two forms have may be what either says. */
function joined(known: Json | undefined, shape: Json): Json {
  if (known === undefined || JSON.stringify(known) === JSON.stringify(shape)) return shape;
  const union = isMap(known) && Object.keys(known).length === 1 ? unionOf(known) : undefined;
  const branches = union && !union.isExclusive ? union.branches : [known];
  return branches.some((one) => JSON.stringify(one) === JSON.stringify(shape)) ? known : fitsAny([...branches, shape]);
}

/** A field that holds an identifier or the thing itself refers to that thing; a parameter `expand` asks for it whole. */
export const expandableFieldsRule: InferenceRule = {
  name: 'expandable-fields',
  says: 'A field that is a text or one resource with an identifier refers to it; where a parameter `expand` is, it is shown whole on request.',
  infer(context) {
    const expanding = context.operations.filter(
      (operation) => operation.parameters.some(({ name }) => name === 'expand') || isInBody(context, operation),
    );
    for (const name of Object.keys(context.resources)) {
      for (const [field, shape] of Object.entries(documentFields(context.resources, name))) {
        const target = referred(context, shape);
        if (target !== undefined) refer(context, name, field, shape, target);
      }
    }
    for (const operation of expanding) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !hasReference(context, effect.resource)) continue;
      endpoint.expand = { parameter: 'expand', depth: 4 };
      context.trail.infer(below(placeOfEndpoint(operation), 'expand'), expandableFieldsRule.name, operation.map.at, 0.8);
    }
  },
};

/** Whether the body of an operation may hold the parameter. */
function isInBody(context: InferenceContext, operation: SourceOperation): boolean {
  const { request } = endpointOf(context, operation);
  return request !== undefined && Object.hasOwn(context.written.propertiesOf(request)?.all ?? {}, 'expand');
}

/** The one resource with an identifier among the alternatives of a field, where a text is another; what says it is gone does not count. */
function referred({ written, resources }: InferenceContext, shape: Json): string | undefined {
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
function refer(context: InferenceContext, name: string, field: string, shape: Json, target: string): void {
  if (!isMap(shape) || shape.type !== undefined) return;
  const isNullable = unionsOf(shape).some(({ branches }) => branches.includes('null'));
  made(documentFields(context.resources, name))[field] = {
    ref: target,
    type: isNullable ? ['string', 'object', 'null'] : ['string', 'object'],
    ...shape,
  };
  const at = below(below(below('/resources', name), 'fields'), field);
  const from = context.trail.origin(at) ?? '';
  for (const word of ['ref', 'type']) context.trail.infer(below(at, word), expandableFieldsRule.name, from, 0.9);
}

function hasReference({ resources }: InferenceContext, name: string): boolean {
  return Object.values(documentFields(resources, name)).some((shape) => isMap(shape) && shape.ref !== undefined);
}

/** `{ title }` is sent, and `{ id, type, attributes: { title } }` answered: what is sent bare stands in one map of the thing. */
export const innerFields: InferenceRule = {
  name: 'inner-fields',
  says: 'A body most of whose members are no fields of the resource, but members of one map that it has, and that is no thing of its own, holds what stands in that map; where the resource has nothing else but what tells it from others and links, that goes for a member that is called like one of these too.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const effect = typeof endpoint.does === 'string' ? readEffect(endpoint.does) : undefined;
      if (!effect || !('resource' in effect) || !written.has(effect.verb)) continue;
      if (endpoint.request === undefined || endpoint.takes !== undefined) continue;
      const ways = waysOf(context, endpoint.request, effect.resource);
      if (ways.length === 0) continue;
      endpoint.takes = Object.assign(newMap(), Object.fromEntries(ways));
      context.trail.infer(below(placeOfEndpoint(operation), 'takes'), innerFields.name, operation.map.at, 0.8);
    }
  },
};

const written: ReadonlySet<string> = new Set(['create', 'update', 'replace', 'upsert']);

/** The members of a body that stand in the one map of a resource which has most of them, each with its way there. */
function waysOf(context: InferenceContext, request: Json, resource: string): readonly (readonly [string, string])[] {
  const fields = documentFields(context.resources, resource);
  const entry = context.resources[resource];
  const identifier = isMap(entry) && isMap(entry.identifier) ? String(entry.identifier.field) : undefined;
  const all = context.written.propertiesOf(request)?.all ?? {};
  const sent = Object.keys(all).filter((name) => name !== identifier);
  const isSame = (one: Json | undefined, other: Json | undefined) =>
    context.written.typeOf(one) === context.written.typeOf(other);
  const found = Object.keys(fields).flatMap((holder) => {
    if (sent.includes(holder) || !word.test(holder)) return [];
    const inner = context.written.propertiesOf(fields[holder])?.all ?? {};
    // What has an identifier of its own is another thing, which may have members of the same names.
    if (['id', '_id', 'uuid', identifier ?? 'id'].some((name) => Object.hasOwn(inner, name))) return [];
    const others = Object.keys(fields).filter((name) => name !== holder && !isUnseen(fields[name]));
    const isAll = others.every((name) => name === identifier || around.test(name));
    const names = sent.filter(
      (name) =>
        word.test(name) &&
        Object.hasOwn(inner, name) &&
        isSame(all[name], inner[name]) &&
        (isAll || !Object.hasOwn(fields, name)),
    );
    return names.length > 0 && names.length * 2 >= sent.length ? [{ holder, names }] : [];
  });
  const [first, second] = found.toSorted((one, other) => other.names.length - one.names.length);
  if (!first || first.names.length === second?.names.length) return [];
  return first.names.map((name) => [name, `${first.holder}.${name}`] as const);
}

/** What stands around the fields of a thing that has them in a map. */
const around = /^_?(?:id|type|kind|links?|href|self|uri|url|meta|metadata|relationships|included|etag|version)$/i;
const word = /^[A-Za-z_]\w*$/;

/** Kept of the path, and never shown. */
function isUnseen(shape: Json | undefined): boolean {
  return isMap(shape) && shape.visible === 'none';
}
