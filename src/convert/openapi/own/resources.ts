import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { above, below, pathOf } from '../../../document/pointer.ts';
import { valueAt } from '../../../document/source.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import { carriedWord, followingWords, readStated, resourceKey, type SchemaReading, valueKey } from './stated-schema.ts';

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

/**
 * A statement that is written in a form which reading does not choose by itself: where the words of the export still read as
 * `was`, the document says `is`. An absent one stands for nothing at all.
 */
interface Written {
  readonly at: Pointer;
  readonly was?: Json;
  readonly is?: Json;
}

/** What sets a tree apart from what is read of its export. */
export function writtenForms(read: Json, tree: Json, at: Pointer = ''): Written[] {
  if (isSame(read, tree)) return [];
  if (!isMap(read) || !isMap(tree) || isStanding(read) || isStanding(tree)) return [{ at, was: read, is: tree }];
  const changed = Object.entries(tree).flatMap(([key, value]) => {
    const known = Object.hasOwn(read, key) ? read[key] : undefined;
    return known === undefined ? [{ at: below(at, key), is: value }] : writtenForms(known, value, below(at, key));
  });
  const gone = Object.entries(read).filter(([key]) => !Object.hasOwn(tree, key));
  return [...changed, ...gone.map(([key, was]) => ({ at: below(at, key), was }))];
}

/**
 * A tree with its statements in the forms in which they were written, wherever they still say the same. The words of one place
 * are taken together: where one of them says something else by now, all of them stay as they are read.
 */
export function withWrittenForms(read: JsonMap, forms: readonly Written[]): JsonMap {
  const places = Map.groupBy(forms, ({ at }) => above(at) ?? '');
  const standing = [...places.values()].filter((words) => words.every(({ at, was }) => isSame(valueAt(read, at), was)));
  // A map at the top stays one.
  return standing.flat().reduce<Json>((tree, form) => placed(tree, pathOf(form.at), form), read) as JsonMap;
}

function placed(value: Json | undefined, [key, ...rest]: readonly string[], form: Written): Json {
  if (!isMap(value) || key === undefined) return value ?? null;
  const out: OpenMap = Object.assign(newMap(), value);
  if (rest.length > 0) {
    if (Object.hasOwn(value, key)) out[key] = placed(value[key], rest, form);
  } else if (form.is === undefined) delete out[key];
  else out[key] = form.is;
  return out;
}

/** The forms that an export carries. */
export function readWrittenForms(list: Json | undefined): readonly Written[] {
  const rows = Array.isArray(list) ? (list as readonly Json[]) : [];
  return rows.flatMap((row) =>
    isMap(row) && typeof row.at === 'string'
      ? [{ at: row.at, ...(row.was !== undefined && { was: row.was }), ...(row.is !== undefined && { is: row.is }) }]
      : [],
  );
}

/** The order of keys where people choose one and OpenAPI groups otherwise: of endpoints, resources, fields and kinds of event. */
export function ordersOf(read: JsonMap, tree: JsonMap): JsonMap {
  const out = newMap();
  for (const at of placesOf(tree)) {
    const own = keysAt(tree, at);
    if (own.join('\n') !== keysAt(read, at).join('\n')) out[at] = own;
  }
  return out;
}

/** A tree with its keys in the carried order; keys that came since stand behind them. */
export function inOrder(tree: JsonMap, orders: Json | undefined): JsonMap {
  // A map at the top stays one.
  return Object.entries(isMap(orders) ? orders : {}).reduce<Json>(
    (value, [at, keys]) => sorted(value, pathOf(at), keys),
    tree,
  ) as JsonMap;
}

function placesOf(tree: JsonMap): Pointer[] {
  const resources = keysAt(tree, '/resources').map((name) => `${below('/resources', name)}/fields`);
  return ['', '/endpoints', '/resources', ...resources, '/states', '/events/kinds', '/authentication/schemes'];
}

function keysAt(tree: JsonMap, at: Pointer): string[] {
  const value = valueAt(tree, at);
  return isMap(value) ? Object.keys(value) : [];
}

function sorted(value: Json | undefined, [key, ...rest]: readonly string[], keys: Json): Json {
  if (!isMap(value)) return value ?? null;
  const out: OpenMap = newMap();
  if (key !== undefined) {
    Object.assign(out, value);
    if (Object.hasOwn(value, key)) out[key] = sorted(value[key], rest, keys);
    return out;
  }
  for (const name of Array.isArray(keys) ? (keys as readonly Json[]) : []) {
    const inner = Object.hasOwn(value, String(name)) ? value[String(name)] : undefined;
    if (inner !== undefined) out[String(name)] = inner;
  }
  for (const [name, inner] of Object.entries(value)) if (!Object.hasOwn(out, name)) out[name] = inner;
  return out;
}
