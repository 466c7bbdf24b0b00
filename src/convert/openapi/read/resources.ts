import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, jsonTypes, newMap, type OpenMap } from '../../../document/values.ts';
import { fitsAll } from '../../../parts/shapes/branches.ts';
import { conjunctionWord } from '../../../parts/shapes/keywords.ts';
import type { Trail } from './evidence.ts';
import { propertiesOf, type SchemaProperties, shortened } from './keywords.ts';
import { made, type SourceReader } from './reader.ts';
import type { SchemaNames } from './schema-names.ts';
import type { Shapes } from './shapes.ts';

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
    resource.shape = isMap(shape) ? shortened(shape) : (shape ?? newMap());
    return resource;
  }
  const taken = takeAll(properties, reader);
  const fields: OpenMap = newMap();
  for (const [field, places] of taken.fields) {
    const parts = places.filter((one, index) => index === 0 || JSON.stringify(one.value) !== JSON.stringify(places[0]?.value));
    const written = narrowed(parts.map((one) => ({ shape: fieldShape(shapes.of(one)), at: one.at })));
    const [only, ...more] = written.map(({ shape }) => shape);
    fields[field] = more.length === 0 ? (only as Json) : fitsAll([only as Json, ...more]);
    const place = below(below(at, 'fields'), field);
    trail.from(place, written.at(-1)?.at ?? pointer);
    if (more.length > 0)
      for (const [index, part] of written.entries()) trail.from(below(below(place, conjunctionWord), index), part.at);
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

interface FieldPart {
  readonly shape: Json;
  readonly at: Pointer;
}

/** The parts of a field without those that say no more than another one does: a page of lists of anything, narrowed to one of contacts. What described them describes that one. */
function narrowed(parts: readonly FieldPart[]): readonly FieldPart[] {
  const left = [...parts];
  for (const part of parts) {
    const at = left.findIndex((other) => other.at !== part.at && isImplied(part.shape, other.shape));
    const narrow = left[at];
    if (narrow === undefined) continue;
    left[at] = { ...narrow, shape: described(narrow.shape, part.shape) };
    left.splice(
      left.findIndex((other) => other.at === part.at),
      1,
    );
  }
  return left;
}

/** The narrower shape with the words of the wider one, where it has none. */
function described(narrow: Json, wide: Json): Json {
  const { description } = isMap(wide) ? wide : {};
  if (typeof description !== 'string') return narrow;
  if (typeof narrow === 'string') return { type: narrow, description };
  if (Array.isArray(narrow)) return { type: 'array', items: narrow[0] as Json, description };
  return isMap(narrow) && narrow.description === undefined ? { ...narrow, description } : narrow;
}

/** Whether every value of the second shape is one of the first, by what the first says: an object of no known members, or a list of such. */
function isImplied(wide: Json, narrow: Json): boolean {
  if (!isMap(wide)) return false;
  const words = Object.keys(wide).filter((word) => word !== 'description' && word !== 'title');
  if (wide.type === 'array' && words.every((word) => word === 'type' || word === 'items')) {
    if (!isList(narrow)) return false;
    const items = Array.isArray(narrow) ? narrow[0] : isMap(narrow) ? narrow.items : undefined;
    return wide.items === undefined || (items !== undefined && isImplied(wide.items, items));
  }
  const isBare = words.every((word) => word === 'type' || (word === 'properties' && isEmptyMap(wide.properties)));
  const isObject = (typeof narrow === 'string' && !jsonTypes.has(narrow)) || (isMap(narrow) && narrow.type === 'object');
  return wide.type === 'object' && isBare && isObject;
}

const isList = (shape: Json): boolean => (Array.isArray(shape) ? shape.length === 1 : isMap(shape) && shape.type === 'array');
const isEmptyMap = (value: Json | undefined): boolean => isMap(value) && Object.keys(value).length === 0;

/** A field that is never there is one whose values are none, said as a shape. */
function fieldShape(shape: Json | undefined): Json {
  return shape === false ? { not: newMap() } : (shape ?? newMap());
}

/** The description of a whole resource is prose. */
function takeProse(shape: JsonMap, schema: JsonMap | undefined, at: Pointer, pointer: Pointer, trail: Trail): void {
  const { description } = shape;
  if (schema === undefined || typeof description !== 'string') return;
  delete made(shape).description;
  trail.prose(at, pointer, description);
}

function takeAll(properties: SchemaProperties, reader: SourceReader): SchemaProperties {
  for (const [map, keys] of properties.read) for (const key of keys) reader.mark(map, key);
  return properties;
}
