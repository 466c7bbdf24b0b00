import type { Json, JsonMap } from '../document/document.ts';
import { fragmentStepOf, keyOfFragmentStep } from '../document/pointer.ts';
import { entriesOf, entryOf, statedValue } from './fact.ts';
import { isAlwaysShown, isSuppliedByService, isWritable, sentShape, takesChildren } from './payload.ts';
import type { Field, Resource } from './resources.ts';
import type { Shape } from './shape.ts';
import { resolvedShape, valueShape } from './shape-level.ts';
import { mapInner } from './shapes/branches.ts';
import { isPlainMap } from './source.ts';
import type { Spec } from './spec.ts';
import { machineOn } from './states.ts';

/**
 * What a JSON Schema of a shape is for. `sent`: a body as a caller may write it, resources in it closed. `stored`: a whole
 * row as it is kept. `shown`: an answer, in which fields of others may be absent.
 */
export type SchemaUse = 'sent' | 'stored' | 'shown';

/**
 * Writes a shape as plain JSON Schema 2020-12: resources become `$ref`s into `$defs`, references plain identifiers. A shape
 * inside it may have definitions of its own, which its `#/$defs/…` name wherever it stands; they move to the top too.
 */
export function toJsonSchema(spec: Spec, shape: Shape, use: SchemaUse): JsonMap {
  const refer = (name: string): string => {
    define(name, writing);
    return definitionRef(name);
  };
  const writing = startWriting(spec, use, refer, true);
  return whole(translate(shape, writing, noNames), writing);
}

/**
 * The same, but resources are named alone, as `named:sent/parcel`: of a document with hundreds of them that hold each other,
 * only those are written that somebody asks for. For validators, to which an example with an `$id` in it would be a schema.
 */
export function toNamingSchema(spec: Spec, shape: Shape, use: SchemaUse): JsonMap {
  const writing = startWriting(spec, use, naming(use), false);
  return whole(translate(shape, writing, noNames), writing);
}

/** The schema that is named so, as in `sent/parcel`. */
export function namedSchema(spec: Spec, word: string): JsonMap {
  const slash = word.indexOf('/');
  // Words are made by `naming` alone, of the uses that there are.
  const use = word.slice(0, slash) as SchemaUse;
  const writing = startWriting(spec, use, naming(use), false);
  return whole(definitionOf(word.slice(slash + 1), writing), writing);
}

function naming(use: SchemaUse): Writing['refer'] {
  return (name) => `named:${use}/${name}`;
}

function startWriting(spec: Spec, use: SchemaUse, refer: Writing['refer'], withExamples: boolean): Writing {
  return { spec, use, refer, withExamples, definitions: Object.create(null), inner: new Map() };
}

/** A schema with the definitions that were written for it, and no others. */
function whole({ $defs: _moved, ...schema }: JsonMap, { definitions }: Writing): JsonMap {
  return Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions };
}

interface Writing {
  readonly spec: Spec;
  readonly use: SchemaUse;
  /** How a schema refers to a resource. */
  readonly refer: (name: string) => string;
  readonly withExamples: boolean;
  readonly definitions: Record<string, Json>;
  /** By map of definitions inside a shape, the names that they have at the top. */
  readonly inner: Map<JsonMap, DefinitionNames>;
}

function translate(shape: JsonMap, writing: Writing, names: DefinitionNames): JsonMap {
  const { resource, ref, ...rest } = shape;
  const known = isPlainMap(shape.$defs) ? moveUp(shape.$defs, writing, names) : names;
  const out: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(rest)) {
    if (!writing.withExamples && (key === 'example' || key === 'examples')) continue;
    out[key] =
      key === '$ref' && typeof value === 'string'
        ? renamed(value, known)
        : mapInner(key, value, (inner) => (isPlainMap(inner) ? translate(inner, writing, known) : inner));
  }
  if (typeof ref === 'string' && out.type === undefined) out.type = identifierType(writing.spec, ref);
  if (typeof resource === 'string') {
    out.$ref = writing.refer(resource);
  }
  return out;
}

/**
 * Gives the definitions of a shape names that no resource has, and writes them at the top. Those of the shape around it come
 * first, for `#` is the outermost one.
 */
function moveUp($defs: JsonMap, writing: Writing, outer: DefinitionNames): DefinitionNames {
  const known = writing.inner.get($defs);
  if (known) return known;
  const own = Object.keys($defs).filter((name) => !outer.has(name));
  const tops = own.map((name): [string, string] => [name, `:${writing.inner.size}:${name}`]);
  const names = new Map([...outer, ...tops]);
  writing.inner.set($defs, names);
  for (const [name, top] of tops) {
    const entry = $defs[name] as Json;
    writing.definitions[top] = isPlainMap(entry) ? translate(entry, writing, names) : entry;
  }
  return names;
}

/** The JSON type of a resource's identifier. */
export function identifierType(spec: Spec, name: string): Json {
  const resource = entryOf(spec.resources.all, name);
  const identifier = resource && statedValue(resource.identifier);
  const field = resource && identifier && entryOf(resource.fields, identifier.field);
  const type = field && resolvedShape(spec, statedValue(field.shape) ?? {}).type;
  return type === 'integer' || identifier?.generate === 'integer' ? 'integer' : 'string';
}

function define(key: string, writing: Writing): void {
  const { definitions } = writing;
  if (Object.hasOwn(definitions, key)) return;
  definitions[key] = {};
  definitions[key] = definitionOf(key, writing);
}

function definitionOf(name: string, writing: Writing): JsonMap {
  const { spec, use } = writing;
  const resource = entryOf(spec.resources.all, name);
  if (!resource) return {};
  const value = valueShape(spec, name);
  if (value) return translate(value, writing, noNames);
  const properties: Record<string, Json> = Object.create(null);
  const required: string[] = [];
  for (const [field, entry] of entriesOf(resource.fields)) {
    if (use === 'sent' && !isWritable(spec, resource, entry) && !takesChildren(entry)) continue;
    properties[field] = fieldSchema(resource, entry, writing);
    if (statedValue(entry.required) === true && isRequiredIn(spec, resource, entry, use)) required.push(field);
  }
  const known = resource.fields.standing === 'stated' || resource.fields.standing === 'inferred';
  return {
    type: 'object',
    // Others that may be there are not said to be: what is evaluated by a keyword is nothing unevaluated any more.
    ...(known && { properties, required, ...(!resource.additionalProperties && { additionalProperties: false }) }),
  };
}

function fieldSchema(resource: Resource, field: Field, writing: Writing): Json {
  const { spec, use } = writing;
  const states = statedValue(machineOn(spec.states, resource.name, field.name)?.states);
  const shape = use === 'sent' ? sentShape(spec, field) : (statedValue(field.shape) ?? {});
  const schema = translate(shape, writing, noNames);
  return {
    ...schema,
    ...(states && schema.enum === undefined && { enum: [...states] }),
    ...(use === 'sent' && field.default && { default: field.default.value }),
  };
}

function isRequiredIn(spec: Spec, resource: Resource, field: Field, use: SchemaUse): boolean {
  // What is derived is reckoned when a row is stored, and is not there before.
  // What is made inside a value is made once the rest of it was looked at.
  if (use === 'stored' && resource.identifier.standing === 'none' && isSuppliedByService(field, 'create')) return false;
  if (use === 'stored')
    return field.stored && field.derive === undefined && !(field.readOnly && !setsOnCreate(spec, resource, field));
  if (use === 'sent') return !isSuppliedByService(field, 'create');
  return isAlwaysShown(spec, field);
}

/** Whether what is created has the field without its caller: it is set, generated, defaulted, the state or the identifier. */
function setsOnCreate(spec: Spec, resource: Resource, field: Field): boolean {
  if (isSuppliedByService(field, 'create')) return true;
  return (
    statedValue(resource.identifier)?.field === field.name || machineOn(spec.states, resource.name, field.name) !== undefined
  );
}

/** The definitions that a shape names, by their names there; the values are their names at the top of the schema. */
type DefinitionNames = ReadonlyMap<string, string>;
const noNames: DefinitionNames = new Map();

/** A reference into the definitions of a shape, as it is at the top; what stands deeper in one moves with it. */
function renamed(ref: string, names: DefinitionNames): string {
  const [, word, rest = ''] = /^#\/\$defs\/([^/]*)(.*)$/s.exec(ref) ?? [];
  const top = word === undefined ? undefined : names.get(keyOfFragmentStep(word));
  return top === undefined ? ref : `${definitionRef(top)}${rest}`;
}

/** How the definition of a name is referred to. */
function definitionRef(name: string): string {
  return `#/$defs/${fragmentStepOf(name)}`;
}
