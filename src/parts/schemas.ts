import type { Json, JsonMap } from '../document/document.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import { isSuppliedByService, isWritable } from './payload.ts';
import type { Field, Resource } from './resources.ts';
import { schemaKeys, schemaListKeys, schemaMapKeys } from './schema-keys.ts';
import type { Shape } from './shape.ts';
import { isMap } from './source.ts';
import type { Spec } from './spec.ts';
import { machineOf } from './states.ts';
import { resolvedShape, valueShape } from './value-shape.ts';

/**
 * What a JSON Schema of a shape is for. `sent`: a body as a caller may write it, resources in it closed. `stored`: a whole
 * row as it is kept. `shown`: an answer, in which fields of others may be absent.
 */
export type SchemaUse = 'sent' | 'stored' | 'shown';

/** Writes a shape as plain JSON Schema 2020-12: resources become `$ref`s into `$defs`, references plain identifiers. */
export function toJsonSchema(spec: Spec, shape: Shape, use: SchemaUse): JsonMap {
  const definitions: Record<string, Json> = Object.create(null);
  const writing: Writing = {
    withExamples: true,
    refer(name) {
      if (!Object.hasOwn(definitions, name)) {
        definitions[name] = {};
        definitions[name] = definitionOf(spec, name, use, writing);
      }
      return `#/$defs/${encodeURIComponent(name)}`;
    },
  };
  const translated = translate(spec, shape, writing);
  return Object.keys(definitions).length === 0
    ? translated
    : { ...translated, $defs: { ...(own(translated, '$defs') as JsonMap), ...definitions } };
}

/**
 * The same, but resources are named alone, as `named:sent/parcel`: of a document with hundreds of them that hold each other,
 * only those are written that somebody asks for. For validators, to which an example with an `$id` in it would be a schema.
 */
export function toNamingSchema(spec: Spec, shape: Shape, use: SchemaUse): JsonMap {
  return translate(spec, shape, naming(use));
}

/** The schema that is named so, as in `sent/parcel`. */
export function namedSchema(spec: Spec, word: string): JsonMap {
  const slash = word.indexOf('/');
  const use = word.slice(0, slash) as SchemaUse;
  return definitionOf(spec, word.slice(slash + 1), use, naming(use));
}

/** How a schema is written: how it refers to a resource, and whether examples stand in it. */
interface Writing {
  refer(name: string): string;
  readonly withExamples: boolean;
}

function naming(use: SchemaUse): Writing {
  return { refer: (name) => `named:${use}/${name}`, withExamples: false };
}

function translate(spec: Spec, shape: JsonMap, writing: Writing): JsonMap {
  const { resource, ref, ...rest } = shape;
  const out: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(rest))
    if (writing.withExamples || key !== 'example') out[key] = translateKeyword(spec, key, value, writing);
  if (typeof ref === 'string' && out.type === undefined) out.type = identifierType(spec, ref);
  if (typeof resource === 'string') out.$ref = writing.refer(resource);
  return out;
}

function translateKeyword(spec: Spec, key: string, value: Json, writing: Writing): Json {
  if (schemaKeys.has(key) && isMap(value)) return translate(spec, value, writing);
  if (schemaListKeys.has(key) && Array.isArray(value))
    return value.map((item: Json) => (isMap(item) ? translate(spec, item, writing) : item));
  if (schemaMapKeys.has(key) && isMap(value)) {
    const out: Record<string, Json> = Object.create(null);
    for (const [name, entry] of Object.entries(value)) out[name] = isMap(entry) ? translate(spec, entry, writing) : entry;
    return out;
  }
  return value;
}

/** The JSON type of a resource's identifier. */
export function identifierType(spec: Spec, name: string): Json {
  const resource = entryOf(spec.resources.all, name);
  const identifier = resource && statedValue(resource.identifier);
  const field = resource && identifier && entryOf(resource.fields, identifier.field);
  const type = field && resolvedShape(spec, statedValue(field.shape) ?? {}).type;
  return type === 'integer' || identifier?.generate === 'integer' ? 'integer' : 'string';
}

function definitionOf(spec: Spec, name: string, use: SchemaUse, writing: Writing): JsonMap {
  const resource = entryOf(spec.resources.all, name);
  if (!resource) return {};
  const whole = valueShape(spec, name);
  if (whole) return translate(spec, whole, writing);
  const properties: Record<string, Json> = Object.create(null);
  const required: string[] = [];
  for (const [field, entry] of entriesOf(resource.fields)) {
    if (use === 'sent' && !isWritable(spec, resource, entry)) continue;
    properties[field] = fieldSchema(spec, resource, entry, use, writing);
    if (statedValue(entry.required) === true && isRequiredIn(spec, resource, entry, use)) required.push(field);
  }
  const known = resource.fields.standing === 'stated' || resource.fields.standing === 'inferred';
  return {
    type: 'object',
    ...(known && { properties, required, additionalProperties: resource.additionalProperties }),
  };
}

function fieldSchema(spec: Spec, resource: Resource, field: Field, use: SchemaUse, writing: Writing): Json {
  const machine = machineOf(spec.states, resource.name);
  const states = machine?.field === field.name ? statedValue(machine.states) : undefined;
  const shape = statedValue(field.shape) ?? {};
  const schema = translate(spec, shape, writing);
  return {
    ...schema,
    ...(states && schema.enum === undefined && { enum: [...states] }),
    ...(use === 'sent' && field.default && { default: field.default.value }),
  };
}

function isRequiredIn(spec: Spec, resource: Resource, field: Field, use: SchemaUse): boolean {
  if (use === 'stored') return field.stored && !(field.readOnly && !setsOnCreate(spec, resource, field));
  if (use === 'sent') return !isSuppliedByService(field, 'create');
  return !field.writeOnly && field.reveal === undefined && field.visible === undefined && field.stored;
}

/** Whether what is created has the field without its caller: it is set, generated, defaulted, the state or the identifier. */
function setsOnCreate(spec: Spec, resource: Resource, field: Field): boolean {
  if (isSuppliedByService(field, 'create')) return true;
  return statedValue(resource.identifier)?.field === field.name || machineOf(spec.states, resource.name)?.field === field.name;
}

function own(value: JsonMap, key: string): Json | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
