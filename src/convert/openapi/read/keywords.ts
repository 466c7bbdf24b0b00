import { addressWords } from '../../../document/addresses.ts';
import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, isOfType, jsonTypes, newMap, type OpenMap } from '../../../document/values.ts';
import { formatNamed } from '../../../kinds/formats/all.ts';
import { compilePattern } from '../../../parts/patterns/pattern.ts';
import { conjunctionOf, fitsAny, hasMeaning, unionsOf } from '../../../parts/shapes/branches.ts';
import { keywords as all, conjunctionWord, type Keyword } from '../../../parts/shapes/keywords.ts';
import { standardTest } from '../../../parts/shapes/validators.ts';
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
  const others = othersOf(additionalProperties);
  if (others === 'of a shape') return false;
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
  into.read.push([value, others === 'objects' ? read.filter((key) => key !== 'additionalProperties') : read]);
  return true;
}

/**
 * What is said of members that are not described: nothing, or something that no list of fields says. That each is an object, as generators
 * write what may be anything, is passed over, and told as what is not carried: of members that a part of the same conjunction describes it is not meant.
 */
function othersOf(additionalProperties: Json | undefined): 'anything' | 'objects' | 'of a shape' {
  if (additionalProperties === undefined || typeof additionalProperties === 'boolean') return 'anything';
  if (!isMap(additionalProperties)) return 'of a shape';
  const words = Object.keys(additionalProperties).filter((key) => key !== 'description' && key !== 'title');
  if (words.length === 0) return 'anything';
  return words.length === 1 && additionalProperties.type === 'object' ? 'objects' : 'of a shape';
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

/** Whether a value fits the keywords of a shape that speak of single values; what holds others is not gone into. */
export function fitsSchema(shape: JsonMap, value: Json): boolean {
  const { type, enum: allowed, pattern, minLength, maxLength, minimum, maximum } = shape;
  const types = (Array.isArray(type) ? type : [type]).filter((word): word is string => typeof word === 'string');
  // A word that is no type of JSON, such as the name of a resource, takes anything.
  if (types.length > 0 && types.every((word) => jsonTypes.has(word) && !isOfType(value, word))) return false;
  if (Array.isArray(allowed) && !allowed.some((item: Json) => item === value || JSON.stringify(item) === JSON.stringify(value)))
    return false;
  if (typeof value === 'string') {
    const { length } = [...value];
    if (typeof minLength === 'number' && length < minLength) return false;
    if (typeof maxLength === 'number' && length > maxLength) return false;
    if (typeof pattern === 'string' && isPattern(pattern) && compilePattern(pattern)?.test(value) === false) return false;
    // Formats differ in what they admit; a default is held to those that a reader is held to.
    return value !== '' || admitsEmpty(shape.format);
  }
  if (Array.isArray(value)) return !(typeof shape.minItems === 'number' && value.length < shape.minItems);
  if (isMap(value)) return !(typeof shape.minProperties === 'number' && Object.keys(value).length < shape.minProperties);
  if (typeof value === 'number') {
    if (typeof minimum === 'number' && value < minimum) return false;
    if (typeof maximum === 'number' && value > maximum) return false;
  }
  return true;
}

/** Whether an empty text is of a format: of none that its tests refuse it for, nor of an address by its common name. */
function admitsEmpty(format: unknown): boolean {
  if (typeof format !== 'string') return true;
  return format !== 'url' && (formatNamed(format)?.test('') ?? standardTest(format)(''));
}

/** Whether a text is a regular expression as JSON Schema reads it (ECMA-262 with the u flag). */
export function isPattern(text: string): boolean {
  try {
    return new RegExp(text, 'u').flags === 'u';
  } catch {
    return false;
  }
}

/** The same expression without escapes of letters and signs that need none, which the u flag does not allow. */
export function unicodePattern(written: string): string {
  const text = withoutFlags(escapedOnce(written));
  if (isPattern(text)) return text;
  const mended = text.replaceAll(/\\([^\dA-Za-z^$\\.*+?()[\]{}|/-])/gu, '$1').replaceAll(/\\-(?![^[]*\])/g, '-');
  return isPattern(mended) ? mended : text;
}

/** What was a flag of another dialect and has been escaped with the rest, `\\(\\?s\\).*`: no text begins so. 116 patterns of five descriptions of 2,639 are such. */
function withoutFlags(text: string): string {
  return text.replace(/^(\^?)\\\(\\\?[imsux]{1,4}\\\)/, '$1');
}

/** A pattern that was escaped twice, as one for a text of a text: each backslash comes in pairs, and one pair stands before a class of letters (`d`, `w`, `s`) that no word goes on with. */
function escapedOnce(text: string): string {
  const runs = text.match(/\\+/g) ?? [];
  const isTwice = runs.every(({ length }) => length % 2 === 0) && /(?<!\\)\\\\[dwsDWS](?![A-Za-z\d])/.test(text);
  return isTwice ? text.replaceAll('\\\\', '\\') : text;
}

/** What the value of a keyword of a schema is. */
export type KeywordKind = Keyword['takes'];

/** What has another form in older versions (`nullable`, `exclusiveMinimum: true`, `type: file`), and what names schemas, is read apart. */
const readApart: ReadonlySet<string> = new Set([
  'type',
  'exclusiveMinimum',
  'exclusiveMaximum',
  '$ref',
  '$defs',
  '$schema',
  ...addressWords,
]);

/** The keywords of a schema that this language has too, each with what its value is. */
export const openapiKeywords: ReadonlyMap<string, KeywordKind> = new Map(
  [...all].flatMap(([word, { takes, isOld }]) => (isOld || readApart.has(word) ? [] : [[word, takes]])),
);

/** Whether a value is what a keyword takes. */
export function isOfKind(kind: KeywordKind, value: Json): boolean {
  if (kind === 'text') return typeof value === 'string';
  if (kind === 'count') return typeof value === 'number' && Number.isInteger(value) && value >= 0;
  if (kind === 'number') return typeof value === 'number';
  if (kind === 'flag') return typeof value === 'boolean';
  if (kind === 'list') return Array.isArray(value);
  if (kind === 'words') return Array.isArray(value) && value.every((word: Json) => typeof word === 'string');
  if (kind === 'word map') {
    return (
      isMap(value) &&
      Object.values(value).every((words) => Array.isArray(words) && words.every((word: Json) => typeof word === 'string'))
    );
  }
  return kind === 'json';
}
