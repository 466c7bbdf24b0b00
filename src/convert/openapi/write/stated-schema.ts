import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import { identifierType } from '../../../parts/schemas.ts';
import { expand, fieldWords } from '../../../parts/shape.ts';
import { besideNull, mapInner, orNull } from '../../../parts/shapes/branches.ts';
import { holdingOf } from '../../../parts/shapes/keywords.ts';
import type { SchemaView } from '../../json-schema/write/shape-schema.ts';
import { extensible } from '../../json-schema/write/shape-schema.ts';
import { formKey, isDeprecating, prefix, readStated, statedKey } from '../own/stated-schema.ts';
import type { ExportWriting } from './writing.ts';

/**
 * A shape, or a field, as it is stated, as a schema that reads back as the same statement: JSON Schema's words are
 * JSON Schema's, short names are written out, and every other word of this language stands beside them with its prefix.
 */
export function statedSchema(stated: Json, writing: ExportWriting, view: SchemaView): JsonMap {
  const schema = schemaOf(stated, writing, view);
  if (isSame(readStated(schema, writing.reading), stated)) return schema;
  for (const form of ['long', 'list']) {
    const formed = { ...schema, [formKey]: form };
    if (isSame(readStated(formed, writing.reading), stated)) return formed;
  }
  return schema;
}

function schemaOf(stated: Json, writing: ExportWriting, view: SchemaView): JsonMap {
  if (!isMap(stated) && typeof stated === 'object' && stated !== null) return listSchema(stated, writing, view);
  if (typeof stated === 'boolean' || isStanding(stated)) return { ...(stated === false && { not: {} }), [statedKey]: stated };
  if (!isMap(stated)) return nameSchema(stated, writing, view);
  // References inside a shape are written by those who know where they come to stand.
  if (/"\$ref":|"\$defs":/.test(JSON.stringify(stated))) return writing.schemas.shape(expand(stated) ?? {}, view);
  return mapSchema(stated, writing, view);
}

function listSchema(stated: readonly Json[], writing: ExportWriting, view: SchemaView): JsonMap {
  const [item] = stated;
  return { type: 'array', ...(item !== undefined && { items: statedSchema(item, writing, view) }) };
}

/** A short name: a type, a resource, or either of them with a `?`. */
function nameSchema(name: Json, writing: ExportWriting, view: SchemaView): JsonMap {
  const shape = expand(name) ?? {};
  if (typeof shape.resource === 'string') return writing.schemas.resource(shape.resource, view);
  return nullableResource(shape, writing, view) ?? shape;
}

function nullableResource(shape: JsonMap, writing: ExportWriting, view: SchemaView): JsonMap | undefined {
  const { resource } = besideNull(shape) ?? {};
  return typeof resource === 'string' ? orNull(writing.schemas.resource(resource, view)) : undefined;
}

function mapSchema(stated: JsonMap, writing: ExportWriting, view: SchemaView): JsonMap {
  const out = newMap();
  const shape = expand(shapeWords(stated)) ?? {};
  if (typeof shape.resource === 'string') Object.assign(out, writing.schemas.resource(shape.resource, view));
  else if (isNullableName(stated.type)) Object.assign(out, nullableResource(shape, writing, view));
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

function isNullableName(type: Json | undefined): boolean {
  return typeof type === 'string' && type.endsWith('?');
}

function writeWord(out: OpenMap, key: string, value: Json, shape: JsonMap, writing: ExportWriting, view: SchemaView): void {
  const one = (inner: Json): Json => (typeof inner === 'boolean' ? inner : statedSchema(inner, writing, view));
  if (isStanding(value) && !valueWords.has(key) && holdingOf(key) !== 'schema') out[`${prefix}${key}`] = value;
  else if (key === 'type') {
    if (isType(shape.type)) out.type = shape.type;
    else if (shape.type !== undefined) out[`${prefix}type`] = value;
    if (shape.items !== undefined && Array.isArray(value) && out.items === undefined)
      out.items = one(isMap(shape.items) && typeof shape.items.resource === 'string' ? shape.items.resource : shape.items);
  } else if (key === 'enum' && Array.isArray(shape.enum)) out.enum = shape.enum;
  else if (isFormed(key, value)) out[key] = mapInner(key, value, one);
  else if (key === 'deprecated') writeDeprecated(out, value);
  else if (isPlain(key, value)) out[key] = value;
  else if (key === 'shape') Object.assign(out, schemaOf(value, writing, view), { [`${prefix}shape`]: true });
  else out[`${prefix}${key}`] = value;
}

/** Whether a keyword that holds schemas has them in the form that it takes. */
function isFormed(keyword: string, value: Json): boolean {
  const holding = holdingOf(keyword);
  if (holding === 'schemas') return Array.isArray(value);
  return holding === 'schema map' ? isMap(value) : holding === 'schema';
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
