import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { readStated, type SchemaReading } from './stated-schema.ts';
import { carriedWord, followingWords, resourceKey, valueKey } from './words.ts';

/** A resource that was read back: what is stated of it, and its machine where one is. */
export interface ReadResource {
  readonly stated: Json;
  readonly states?: Json;
}

/** Reads the schema of a resource back; `states` and the name are stated elsewhere. */
export function readResource(schema: JsonMap, reading: SchemaReading): ReadResource {
  return schema[valueKey] === true ? readValue(schema, reading) : readThing(schema, reading);
}

/** A value that is no map of fields: what is no word of a resource is its shape. */
function readValue(schema: JsonMap, reading: SchemaReading): ReadResource {
  const out = newMap();
  const shape = newMap();
  for (const [key, value] of Object.entries(schema)) {
    if (key === valueKey || key === resourceKey || key === 'x-ninefold-states') continue;
    const word = carriedWord(key);
    if (word !== undefined && valueWords.has(word)) out[word] = value;
    else shape[key] = value;
  }
  const states = schema['x-ninefold-states'];
  return { stated: { shape: readStated(shape, reading), ...out }, ...(states !== undefined && { states }) };
}

const valueWords: ReadonlySet<string> = new Set([
  'identifier',
  'unique',
  'fields',
  'required',
  'additionalProperties',
  'deprecated',
]);

function readThing(schema: JsonMap, reading: SchemaReading): ReadResource {
  const out = newMap();
  let states: Json | undefined;
  for (const [key, value] of Object.entries(schema)) {
    const word = carriedWord(key);
    if (word === 'states') states = value;
    else if (word !== undefined && !['fields', 'required', 'flags', 'follows'].includes(word) && key !== resourceKey)
      out[word] = value;
  }
  if (schema.deprecated !== true && isMap(out.deprecated) === false) delete out.deprecated;
  if (schema.deprecated !== undefined && out.deprecated === undefined) out.deprecated = schema.deprecated;
  readFields(schema, out, reading);
  if (schema.additionalProperties === true) out.additionalProperties = true;
  return { stated: out, ...(states !== undefined && { states: withStates(states, schema) }) };
}

function readFields(schema: JsonMap, out: OpenMap, reading: SchemaReading): void {
  const carried = schema['x-ninefold-fields'];
  const { properties } = schema;
  if (!isMap(properties)) {
    if (carried !== undefined) out.fields = carried;
    return;
  }
  const listed = listOf(schema.required);
  const hasOwnFlags = schema['x-ninefold-flags'] === 'own';
  const fields = newMap();
  for (const [name, property] of Object.entries(properties)) {
    const field = readStated(property, reading);
    fields[name] = hasOwnFlags && isMap(property) ? withFlag(field, property, listed.includes(name)) : field;
  }
  if (isMap(carried)) Object.assign(fields, carried);
  out.fields = fields;
  if (!hasOwnFlags) out.required = readRequired(schema, properties, listed);
}

/** The field's own flag, as the list of required properties has it now. */
function withFlag(field: Json, property: JsonMap, isListed: boolean): Json {
  const carried = property['x-ninefold-required'];
  const words: OpenMap = Object.assign(newMap(), isMap(field) ? field : typeof field === 'string' ? { type: field } : {});
  if (carried === undefined && !isListed) return field;
  if (carried === undefined || (isListed && carried !== true)) words.required = true;
  else words.required = carried === true && !isListed && !isHiddenFrom(property) ? false : carried;
  return words;
}

/** The list as it was stated, in as far as OpenAPI's own list does not say otherwise. */
function readRequired(schema: JsonMap, properties: JsonMap, listed: readonly string[]): Json {
  const carried = schema['x-ninefold-required'];
  if (carried === undefined) return [...listed];
  if (!Array.isArray(carried)) return listed.length === 0 || typeof carried === 'string' ? carried : [...listed];
  const names = listOf(carried);
  const kept = names.filter((name) => {
    const property = properties[name];
    return listed.includes(name) || !isMap(property) || isHiddenFrom(property);
  });
  return [...kept, ...listed.filter((name) => !names.includes(name))];
}

/** Whether some answers leave a property out, required or not. */
function isHiddenFrom(property: JsonMap): boolean {
  const words = ['x-ninefold-visible', 'x-ninefold-reveal', 'x-ninefold-stored'];
  return property.writeOnly === true || words.some((word) => property[word] !== undefined);
}

/** The machine, with the states that its field lists now. */
function withStates(states: Json, { properties }: JsonMap): Json {
  if (!isMap(states) || !isMap(properties) || typeof states.field !== 'string') return states;
  const property = properties[states.field];
  if (!isMap(property) || !followingWords(property).includes('enum') || !Array.isArray(property.enum)) return states;
  if (!Array.isArray(states.states) || property.enum.join('\n') === states.states.join('\n')) return states;
  return { ...states, states: property.enum };
}

function listOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((name: Json): name is string => typeof name === 'string') : [];
}
