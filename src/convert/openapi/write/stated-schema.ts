import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import { expand, fieldWords } from '../../../parts/read-shape.ts';
import { schemaKeys, schemaListKeys, schemaMapKeys } from '../../../parts/schema-keys.ts';
import { identifierType } from '../../../parts/schemas.ts';
import { extensible } from '../../json-schema/shape-schema.ts';
import type { View } from '../../json-schema/view.ts';
import { isDeprecating, readStated } from '../own/stated-schema.ts';
import { formKey, prefix, statedKey } from '../own/words.ts';
import type { Writing } from './writing.ts';

/**
 * A shape, or a field, as it is stated, as a schema that reads back as the same statement: JSON Schema's words are
 * JSON Schema's, short names are written out, and every other word of this language stands beside them with its prefix.
 */
export function statedSchema(stated: Json, writing: Writing, view: View): JsonMap {
  const schema = schemaOf(stated, writing, view);
  if (isSame(readStated(schema, writing.reading), stated)) return schema;
  for (const form of ['long', 'list']) {
    const formed = { ...schema, [formKey]: form };
    if (isSame(readStated(formed, writing.reading), stated)) return formed;
  }
  return schema;
}

function schemaOf(stated: Json, writing: Writing, view: View): JsonMap {
  if (!isMap(stated) && typeof stated === 'object' && stated !== null) return listSchema(stated, writing, view);
  if (typeof stated === 'boolean' || isStanding(stated)) return { ...(stated === false && { not: {} }), [statedKey]: stated };
  if (!isMap(stated)) return nameSchema(stated, writing, view);
  // References inside a shape are written by those who know where they come to stand.
  if (/"\$ref":|"\$defs":/.test(JSON.stringify(stated))) return writing.schemas.shape(expand(stated) ?? {}, view);
  return mapSchema(stated, writing, view);
}

function listSchema(stated: readonly Json[], writing: Writing, view: View): JsonMap {
  const [item] = stated;
  return { type: 'array', ...(item !== undefined && { items: statedSchema(item, writing, view) }) };
}

/** A short name: a type, a resource, or either of them with a `?`. */
function nameSchema(name: Json, writing: Writing, view: View): JsonMap {
  const shape = expand(name) ?? {};
  if (typeof shape.resource === 'string') return writing.schemas.resource(shape.resource, view);
  return Array.isArray(shape.oneOf) ? nullableResource(shape, writing, view) : shape;
}

function nullableResource({ oneOf }: JsonMap, writing: Writing, view: View): JsonMap {
  const [first] = Array.isArray(oneOf) ? (oneOf as readonly Json[]) : [];
  const resource = isMap(first) ? first.resource : undefined;
  return { oneOf: [writing.schemas.resource(String(resource), view), { type: 'null' }] };
}

function mapSchema(stated: JsonMap, writing: Writing, view: View): JsonMap {
  const out = newMap();
  const shape = expand(shapeWords(stated)) ?? {};
  if (typeof shape.resource === 'string') Object.assign(out, writing.schemas.resource(shape.resource, view));
  else if (isNullableName(stated.type, shape)) Object.assign(out, nullableResource(shape, writing, view));
  for (const [key, value] of Object.entries(stated)) writeWord(out, key, value, shape, writing, view);
  if (out.type === undefined && isType(shape.type)) out.type = shape.type;
  if (out.type === undefined && typeof shape.ref === 'string') out.type = identifierType(writing.spec, shape.ref);
  return view === 'answer' && stated.extensible === true ? extensible(out) : out;
}

/** A type, or some; a list of none is no word of JSON Schema. */
function isType(type: Json | undefined): type is Json {
  return typeof type === 'string' || (Array.isArray(type) && type.length > 0);
}

/** Words of a field are no part of its shape. */
function shapeWords(stated: JsonMap): JsonMap {
  const words: readonly string[] = fieldWords;
  return Object.fromEntries(Object.entries(stated).filter(([key]) => !words.includes(key)));
}

function isNullableName(type: Json | undefined, { oneOf }: JsonMap): boolean {
  return typeof type === 'string' && type.endsWith('?') && Array.isArray(oneOf);
}

function writeWord(out: OpenMap, key: string, value: Json, shape: JsonMap, writing: Writing, view: View): void {
  const one = (inner: Json): Json => (typeof inner === 'boolean' ? inner : statedSchema(inner, writing, view));
  if (isStanding(value) && !valueWords.has(key) && !schemaKeys.has(key)) out[`${prefix}${key}`] = value;
  else if (key === 'type') {
    if (isType(shape.type)) out.type = shape.type;
    else if (shape.type !== undefined) out[`${prefix}type`] = value;
    if (shape.items !== undefined && Array.isArray(value) && out.items === undefined)
      out.items = one(isMap(shape.items) && typeof shape.items.resource === 'string' ? shape.items.resource : shape.items);
  } else if (key === 'enum' && Array.isArray(shape.enum)) out.enum = shape.enum;
  else if (schemaKeys.has(key)) out[key] = one(value);
  else if (schemaListKeys.has(key) && Array.isArray(value)) out[key] = (value as readonly Json[]).map(one);
  else if (schemaMapKeys.has(key) && isMap(value)) {
    const map = newMap();
    for (const [name, inner] of Object.entries(value)) map[name] = one(inner);
    out[key] = map;
  } else if (key === 'deprecated') writeDeprecated(out, value);
  else if (isPlain(key, value)) out[key] = value;
  else if (key === 'shape') Object.assign(out, schemaOf(value, writing, view), { [`${prefix}shape`]: true });
  else out[`${prefix}${key}`] = value;
}

/** Keywords whose value is any value at all, so that one that looks like a standing is none. */
const valueWords: ReadonlySet<string> = new Set(['const', 'default', 'example']);

/** OpenAPI knows whether, not since when. */
export function writeDeprecated(out: OpenMap, value: Json): void {
  if (value === true || value === false) out.deprecated = value;
  else {
    if (isDeprecating(value)) out.deprecated = true;
    out[`${prefix}deprecated`] = value;
  }
}

/** Whether a word stands in OpenAPI's schemas as it does here. */
function isPlain(key: string, value: Json): boolean {
  if (key === 'required') return Array.isArray(value);
  if (key === 'readOnly' || key === 'writeOnly') return typeof value === 'boolean';
  if (key === 'discriminator') return isMap(value) && typeof value.propertyName === 'string';
  return plainWords.has(key);
}

const plainWords: ReadonlySet<string> = new Set(
  (
    'title description $comment const examples example default format pattern minLength maxLength minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minContains maxContains minItems maxItems uniqueItems minProperties ' +
    'maxProperties dependentRequired contentEncoding contentMediaType'
  ).split(' '),
);
