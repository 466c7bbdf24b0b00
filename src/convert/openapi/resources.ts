import type { Json, JsonMap, Pointer } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../document/values.ts';
import { type At, type MapAt, type Reader, refOf } from './reader.ts';
import type { SchemaNames } from './schema-names.ts';
import type { Shapes } from './shapes.ts';
import type { Trail } from './trail.ts';

/** Writes every schema that has a name as a resource: with fields where it is a map of known properties, else with a shape. */
export function writeResources(names: SchemaNames, shapes: Shapes, trail: Trail): OpenMap {
  const resources: OpenMap = newMap();
  const done = new Set<Pointer>();
  for (let todo = names.entries(); todo.length > 0; todo = names.entries().filter(([pointer]) => !done.has(pointer))) {
    for (const [pointer, name] of todo) {
      if (done.has(pointer)) continue;
      done.add(pointer);
      resources[name] = writeResource(pointer, name, shapes, trail);
    }
  }
  return resources;
}

function writeResource(pointer: Pointer, name: string, shapes: Shapes, trail: Trail): Json {
  const { reader } = shapes;
  const schema = reader.target(`#${pointer}`)?.value ?? newMap();
  const at = below('/resources', name);
  trail.from(at, pointer);
  const resource: OpenMap = newMap();
  const properties = isMap(schema) ? propertiesOf({ value: schema, at: pointer }, reader) : undefined;
  if (properties === undefined || properties.fields.size === 0) {
    trail.from(below(at, 'shape'), pointer);
    const shape = shapes.of({ value: schema, at: pointer });
    if (isMap(shape)) takeProse(shape, isMap(schema) ? schema : undefined, at, pointer, trail);
    resource.shape = shape ?? newMap();
    return resource;
  }
  const taken = takeAll(properties, reader);
  const fields: OpenMap = newMap();
  for (const [field, places] of taken.fields) {
    const written = places.map((place) => shapes.of(place) ?? newMap());
    const [only, ...more] = written.filter((shape, index) => index === 0 || JSON.stringify(shape) !== JSON.stringify(written[0]));
    fields[field] = more.length === 0 ? (only as Json) : { allOf: [only as Json, ...more] };
    trail.from(below(below(at, 'fields'), field), places.at(-1)?.at ?? pointer);
  }
  resource.fields = fields;
  const required = [...taken.required].filter(([word]) => Object.hasOwn(fields, word));
  for (const [word, place] of taken.required) {
    if (!Object.hasOwn(fields, word)) reader.find('import/contradiction', place, `\`${word}\` is required and not described.`);
  }
  resource.required = required.map(([word]) => word);
  for (const [index, [, place]] of required.entries()) trail.from(below(below(at, 'required'), index), place);
  if (!taken.isClosed) resource.additionalProperties = true;
  if (taken.isDeprecated) resource.deprecated = true;
  if (isMap(schema)) trail.prose(at, pointer, reader.text({ value: schema, at: pointer }, 'description'));
  return resource;
}

/** The description of a whole resource is prose. */
function takeProse(shape: JsonMap, schema: JsonMap | undefined, at: Pointer, pointer: Pointer, trail: Trail): void {
  const { description } = shape;
  if (schema === undefined || typeof description !== 'string') return;
  delete (shape as OpenMap).description;
  trail.prose(at, pointer, description);
}

/** The properties that a schema and all that it is made of (`allOf`) describe. */
interface Properties {
  /** By name, every place where the property is described. */
  readonly fields: Map<string, At[]>;
  readonly required: Map<string, Pointer>;
  isClosed: boolean;
  isDeprecated: boolean;
  /** The maps that were gone through, with the keys that were read. */
  readonly read: (readonly [JsonMap, readonly string[]])[];
}

/** The properties of a schema that is a plain map of them; nothing where it says something that no list of fields says. */
function propertiesOf(schema: MapAt, reader: Reader): Properties | undefined {
  const properties: Properties = { fields: new Map(), required: new Map(), isClosed: false, isDeprecated: false, read: [] };
  return gather(schema, properties, reader, new Set()) ? properties : undefined;
}

function gather({ value, at }: MapAt, into: Properties, reader: Reader, seen: Set<JsonMap>): boolean {
  if (seen.has(value)) return true;
  seen.add(value);
  if (seen.size > partsMost) return false;
  const ref = refOf(value);
  if (ref !== undefined) {
    const target = reader.target(ref);
    into.read.push([value, ['$ref']]);
    return target !== undefined && isMap(target.value) && gather({ value: target.value, at: target.at }, into, reader, seen);
  }
  for (const key of Object.keys(value)) if (!sayable.has(key) && !key.startsWith('x-')) return false;
  const { type, properties, required, allOf, additionalProperties, nullable, discriminator } = value;
  if ((type !== undefined && type !== 'object') || nullable === true || discriminator !== undefined) return false;
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') return false;
  for (const [index, part] of (Array.isArray(allOf) ? allOf : []).entries()) {
    if (!isMap(part) || !gather({ value: part, at: below(below(at, 'allOf'), index) }, into, reader, seen)) return false;
  }
  if (isMap(properties)) {
    const holder = below(at, 'properties');
    for (const name of Object.keys(properties)) {
      const place = { value: properties[name], at: below(holder, name) };
      into.fields.set(name, [...(into.fields.get(name) ?? []), place]);
    }
  }
  for (const [index, word] of (Array.isArray(required) ? required : []).entries()) {
    if (typeof word === 'string') into.required.set(word, below(below(at, 'required'), index));
  }
  if (additionalProperties === false) into.isClosed = true;
  if (value.deprecated === true) into.isDeprecated = true;
  into.read.push([value, ['type', 'properties', 'required', 'allOf', 'additionalProperties', 'deprecated']]);
  return true;
}

const partsMost = 200;

/** The keywords that fields, the list of required ones and prose hold; examples and titles of the whole are not carried. */
const sayable: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'allOf', 'additionalProperties', 'deprecated', 'nullable', 'discriminator'],
  ...['title', 'description', 'example', 'examples', 'externalDocs', 'xml', '$comment', 'readOnly', 'writeOnly', '$defs'],
]);

function takeAll(properties: Properties, reader: Reader): Properties {
  for (const [map, keys] of properties.read) for (const key of keys) reader.mark(map, key);
  return properties;
}
