import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { jsonTypes } from '../../../document/json-type.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { conjunctionOf, fitsAny, hasMeaning, unionsOf } from '../../../parts/shapes/branches.ts';
import { conjunctionWord } from '../../../parts/shapes/keywords.ts';
import { type At, type MapAt, refOf, type SourceReader } from './reader.ts';

/** The properties that a schema and all the parts of its conjunction describe. */
export interface SchemaProperties {
  /** By name, every place where the property is described. */
  readonly fields: Map<string, At[]>;
  readonly required: Map<string, Pointer>;
  isClosed: boolean;
  isDeprecated: boolean;
  /** The maps that were gone through, with the keys that were read. */
  readonly read: (readonly [JsonMap, readonly string[]])[];
}

/** The properties of a schema that is a plain map of them; nothing where it says something that no list of fields says. */
export function propertiesOf(schema: MapAt, reader: SourceReader): SchemaProperties | undefined {
  const properties: SchemaProperties = { fields: new Map(), required: new Map(), isClosed: false, isDeprecated: false, read: [] };
  return gather(schema, properties, reader, new Set()) ? properties : undefined;
}

function gather({ value, at }: MapAt, into: SchemaProperties, reader: SourceReader, seen: Set<JsonMap>): boolean {
  if (seen.has(value)) return true;
  seen.add(value);
  if (seen.size > partsMost) return false;
  const ref = refOf(value);
  if (ref !== undefined) {
    const target = reader.target(ref);
    into.read.push([value, ['$ref']]);
    if (target === undefined || !isMap(target.value)) return false;
    if (!gather({ value: target.value, at: target.at }, into, reader, seen)) return false;
    // What stands beside a reference counts since 3.1.
    if (reader.dialect !== '3.1') return true;
  }
  for (const key of Object.keys(value))
    if (key === '$ref') continue;
    else if (!sayable.has(key) && !key.startsWith('x-')) return false;
  const { type, properties, required, additionalProperties } = value;
  if (type !== undefined && type !== 'object') return false;
  if (additionalProperties !== undefined && typeof additionalProperties !== 'boolean') return false;
  for (const [index, part] of conjunctionOf(value).entries()) {
    if (!isMap(part) || !gather({ value: part, at: below(below(at, conjunctionWord), index) }, into, reader, seen)) return false;
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
  into.read.push([value, read]);
  return true;
}

const partsMost = 200;

/** The keywords that are read here. */
const read = ['type', 'properties', 'required', conjunctionWord, 'additionalProperties', 'deprecated'];

/** The keywords that fields, the list of required ones and prose hold; examples and titles of the whole are not carried. */
const sayable: ReadonlySet<string> = new Set([
  ...read,
  ...['nullable', 'discriminator'],
  ...[
    'title',
    'description',
    'example',
    'examples',
    'externalDocs',
    'xml',
    '$comment',
    'readOnly',
    'writeOnly',
    '$defs',
    'definitions',
    '$schema',
    '$id',
    '$anchor',
    '$dynamicAnchor',
  ],
]);

/** The shape of what a shape admits, or null. */
export function shapeOrNull(shape: OpenMap): OpenMap {
  const { type } = shape;
  if (typeof type === 'string' && jsonTypes.has(type)) {
    if (type !== 'null') shape.type = [type, 'null'];
    return withNullAllowed(shape);
  }
  if (Array.isArray(type)) {
    shape.type = type.includes('null') ? type : [...type, 'null'];
    return withNullAllowed(shape);
  }
  if (Array.isArray(shape.enum)) return withNullAllowed(shape);
  const unions = unionsOf(shape);
  const union = unions.find(({ isExclusive }) => !isExclusive) ?? unions[0];
  if (union && shape.properties === undefined && !hasMeaning(shape, 'conjunction')) {
    shape[union.keyword] = [...union.branches, 'null'];
    return shape;
  }
  if (Object.keys(shape).every((key) => described.has(key))) return shape;
  const inner: OpenMap = newMap();
  const out: OpenMap = newMap();
  for (const [key, value] of Object.entries(shape)) (described.has(key) ? out : inner)[key] = value;
  return Object.assign(out, fitsAny([shortened(inner), 'null']));
}

/** Words that say the same of a shape and of the shape or null. */
const described: ReadonlySet<string> = new Set([
  'title',
  'description',
  'example',
  'examples',
  'default',
  'deprecated',
  'readOnly',
  'writeOnly',
]);

function withNullAllowed(shape: OpenMap): OpenMap {
  if (Array.isArray(shape.enum) && !shape.enum.includes(null)) shape.enum = [...shape.enum, null];
  return shape;
}

/** The short form of a shape that says no more than its type: `string`, `customer?`, `[customer]`. */
export function shortened(shape: JsonMap): Json {
  const [key, ...more] = Object.keys(shape);
  const { type, items } = shape;
  if (key === 'type' && more.length === 0) {
    if (typeof type === 'string') return type;
    if (Array.isArray(type) && type.length === 2 && type[1] === 'null' && typeof type[0] === 'string') return `${type[0]}?`;
  }
  return type === 'array' && typeof items === 'string' && Object.keys(shape).length === 2 ? [items] : shape;
}
