/** A JSON Schema as it is stated, and made ready for ajv. */

import type { Json } from '../../document/document.ts';
import { fragmentStepOf } from '../../document/pointer.ts';
import { isStanding, jsonTypeOf } from '../../document/values.ts';
import { formats, standsFor } from '../../kinds/formats/all.ts';
import { alternativesOf, conjunctsOf, inForce, mapInner } from '../../parts/shapes/branches.ts';
import { keywordsThatMean } from '../../parts/shapes/keywords.ts';

/** A JSON Schema as an object; booleans stand for themselves where a schema may be one. Words it does not know are ignored. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** Finds what a `$ref` names; undefined where there is none. */
export type Resolve = (ref: string) => Schema | undefined;

/** Whether a value is a map, and so may be read as a schema. */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The JSON types that a schema admits: those it states, else those of its enum, const, branches or of what its `$ref`
 * names, else what its keywords are about. Undefined where it says nothing.
 */
export function schemaTypesOf(schema: Schema, resolve: Resolve): ReadonlySet<string> | undefined {
  return typesIn(schema, { resolve, known: new Map() }, 0);
}

/** One look for types, and what it has found of each schema on its way: however often schemas name each other, each is looked at once. */
interface Look {
  readonly resolve: Resolve;
  readonly known: Map<Schema, ReadonlySet<string> | undefined>;
}

function typesIn(schema: Schema, look: Look, depth: number): ReadonlySet<string> | undefined {
  const { known } = look;
  if (known.has(schema)) return known.get(schema);
  known.set(schema, undefined);
  const types = depth > depthMost ? undefined : ownTypes(schema, look, depth);
  known.set(schema, types);
  return types;
}

const depthMost = 64;

function ownTypes(schema: Schema, look: Look, depth: number): ReadonlySet<string> | undefined {
  const { type } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(jsonTypeOf));
  if (schema.const !== undefined) return new Set([jsonTypeOf(schema.const)]);
  if (typeof schema.$ref === 'string') {
    const named = look.resolve(schema.$ref);
    return named && typesIn(named, look, depth + 1);
  }
  const every = conjunctsOf(schema).map((branch) => typesIn(branch, look, depth + 1));
  const stated = every.find((types) => types !== undefined);
  if (stated !== undefined) return stated;
  const branches = alternativesOf(schema);
  if (branches.length > 0) {
    const types = branches.map((branch) => typesIn(branch, look, depth + 1));
    return types.every((one) => one !== undefined) ? new Set(types.flatMap((one) => [...one])) : undefined;
  }
  if (isSchema(schema.properties)) return new Set(['object']);
  return isSchema(schema.items) ? new Set(['array']) : undefined;
}

/** The schema of an object's member: the stated one, one of a branch's, else that of unnamed members. */
export function memberOf(schema: Schema, name: string, resolve: Resolve): Schema | undefined {
  const made = inForce(schema, resolve);
  for (const { properties } of made) {
    if (!isSchema(properties) || !Object.hasOwn(properties, name)) continue;
    const member = properties[name];
    return isSchema(member) ? member : undefined;
  }
  return made.map(({ additionalProperties }) => additionalProperties).find(isSchema);
}

/** The schema of a list's items, its own or a branch's. */
export function itemOf(schema: Schema, resolve: Resolve): Schema | undefined {
  return inForce(schema, resolve)
    .map(({ items }) => items)
    .find(isSchema);
}

/** The names that an object's schema states, in its branches too. */
export function memberNames(schema: Schema, resolve: Resolve): string[] {
  const names = inForce(schema, resolve).flatMap(({ properties }) => (isSchema(properties) ? Object.keys(properties) : []));
  return [...new Set(names)];
}

export interface PreparedSchema {
  readonly schema: Record<string, unknown> | boolean;
  /**
   * Whether a BigInt could pass the schema for the wrong reason, because numeric keywords stand without a type or a branch asks
   * for a mismatch; then a value is searched for one before it is validated, else only after it failed.
   */
  readonly searchFirst: boolean;
}

/** What a preparation asks and tells. */
interface PrepareOptions {
  readonly knowsFormat: (format: string) => boolean;
  readonly onUnknownFormat: (format: string) => void;
  /** Told each object of the result and its pointer, so that an error leads back to its place. */
  readonly onPlace: (schema: object, pointer: string) => void;
  /** Whether numeric keywords are rewritten to those that know BigInts. */
  readonly exact: boolean;
}

/**
 * Makes a document's schema one that ajv takes: identifiers and dialects are dropped, unknown formats told and dropped,
 * `format: binary` strings accept files, listed objects compare by value, `$ref: 'named:…'` waits for its schema. With `exact`, everything numeric gets its exact twin.
 */
export function prepareSchema(schema: Schema | boolean, options: PrepareOptions): PreparedSchema {
  let searchFirst = false;
  const prepared = editSchema(schema, (copy, pointer) => {
    for (const keyword of dropped) delete copy[keyword];
    // What is open of a shape constrains nothing: whether an exchange can go on without it is asked elsewhere. Keywords have JSON.
    for (const [keyword, value] of Object.entries(copy)) if (isStanding(value as Json)) delete copy[keyword];
    if (nameNamed(copy)) searchFirst = true;
    prepareFormat(copy, options);
    movePrototypeName(copy);
    if (misleads(copy)) searchFirst = true;
    if (options.exact) makeExact(copy);
    else makeOrdinary(copy);
    options.onPlace(copy, pointer);
    return copy;
  });
  return { schema: prepared, searchFirst };
}

/** Whether a schema names a member like something that every object inherits, so that only own members may count. */
export function usesInheritedNames(schema: Schema | boolean): boolean {
  let uses = false;
  editSchema(schema, (copy) => {
    if (namesInherited(copy)) uses = true;
    return copy;
  });
  return uses;
}

/** A reference to a schema that is compiled when it is first met has a keyword of its own; what stands in it is not known yet. */
function nameNamed(copy: Record<string, unknown>): boolean {
  const { $ref } = copy;
  if (typeof $ref !== 'string' || !$ref.startsWith(namedPrefix)) return false;
  copy.wireNamed = $ref.slice(namedPrefix.length);
  delete copy.$ref;
  return true;
}

const namedPrefix = 'named:';
const dropped = ['$schema', '$id', 'id', '$async', 'discriminator', 'xml'];
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const numericFormats = new Set<string>([
  ...formats.flatMap(({ type, word }) => (type === 'number' ? [word] : [])),
  'float',
  'double',
]);
const mismatching = keywordsThatMean('negation', 'condition', 'exclusive alternatives', 'contained');

function prepareFormat(copy: Record<string, unknown>, options: PrepareOptions): void {
  const { format } = copy;
  if (format === undefined) return;
  if (typeof format !== 'string' || !options.knowsFormat(format)) {
    options.onUnknownFormat(String(format));
    delete copy.format;
  } else if (standsFor(format, 'bytes')) {
    const types = typeof copy.type === 'string' ? [copy.type] : copy.type;
    if (Array.isArray(types) && !types.includes('string')) return;
    copy.wireBytes = { types: types ?? ['string'], minimum: copy.minLength, maximum: copy.maxLength };
    for (const keyword of ['type', 'format', 'minLength', 'maxLength', 'pattern']) delete copy[keyword];
  }
}

/** Ajv passes over a property named `__proto__`; a pattern that is that name alone says the same. */
function movePrototypeName(copy: Record<string, unknown>): void {
  const { properties, patternProperties } = copy;
  if (!isSchema(properties) || !Object.hasOwn(properties, '__proto__')) return;
  const entries = Object.entries(properties);
  copy.properties = Object.fromEntries(entries.filter(([name]) => name !== '__proto__'));
  const stated = Object.fromEntries(entries.filter(([name]) => name === '__proto__').map(([, inner]) => ['^__proto__$', inner]));
  copy.patternProperties = { ...(isSchema(patternProperties) && patternProperties), ...stated };
}

function misleads(copy: Record<string, unknown>): boolean {
  if (mismatching.some((keyword) => copy[keyword] !== undefined)) return true;
  if (copy.type !== undefined) return false;
  return bounds.some((keyword) => copy[keyword] !== undefined) || numericFormats.has(String(copy.format));
}

function namesInherited(copy: Record<string, unknown>): boolean {
  const lists = [copy.required, ...Object.values(isSchema(copy.dependentRequired) ? copy.dependentRequired : {})];
  const maps = [copy.properties, copy.dependentSchemas, copy.dependentRequired];
  const names = [
    ...lists.flatMap((list) => (Array.isArray(list) ? list : [])),
    ...maps.flatMap((map) => (isSchema(map) ? Object.keys(map) : [])),
  ];
  return names.some((name) => String(name) in Object.prototype);
}

function makeExact(copy: Record<string, unknown>): void {
  const types = typeof copy.type === 'string' ? [copy.type] : copy.type;
  if (Array.isArray(types) && types.some((type) => type === 'integer' || type === 'number')) {
    copy.exactType = copy.nullable === true ? [...types, 'null'] : types;
    delete copy.type;
    delete copy.nullable;
  }
  for (const keyword of [...bounds, 'enum', 'const']) {
    if (copy[keyword] !== undefined) rename(copy, keyword);
  }
  if (numericFormats.has(String(copy.format))) {
    copy.exactFormat = copy.format;
    delete copy.format;
  }
}

/** Ajv's own comparison of objects throws at a member named `valueOf`, and its numbers are doubles. */
function makeOrdinary(copy: Record<string, unknown>): void {
  for (const keyword of bounds) if (typeof copy[keyword] === 'bigint') copy[keyword] = Number(copy[keyword]);
  if (Array.isArray(copy.enum) && copy.enum.some(isDeep)) rename(copy, 'enum');
  if (isDeep(copy.const)) rename(copy, 'const');
}

function isDeep(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && value !== null);
}

function rename(copy: Record<string, unknown>, keyword: string): void {
  copy[`exact${keyword.charAt(0).toUpperCase()}${keyword.slice(1)}`] = copy[keyword];
  delete copy[keyword];
}

/** Edits one schema object whose inner schemas are edited already; `pointer` is its place in the whole, as a URI fragment. */
type Edit = (schema: Record<string, unknown>, pointer: string) => Record<string, unknown>;

/**
 * Copies a schema, all its inner schemas with it, and lets each copy be edited (JSON Schema 2020-12 section 10). Values under
 * other keywords are shared, not copied. Booleans stay. A name `__proto__` stays an own key.
 */
function editSchema(schema: Schema | boolean, edit: Edit, pointer = ''): Record<string, unknown> | boolean {
  if (typeof schema === 'boolean') return schema;
  const copy: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const at = `${pointer}/${fragmentStepOf(keyword)}`;
    copy.push([
      keyword,
      mapInner(
        keyword,
        value,
        (inner, key) => editInner(inner, key === undefined ? at : `${at}/${fragmentStepOf(String(key))}`, edit),
        true,
      ),
    ]);
  }
  return edit(Object.fromEntries(copy), pointer);
}

function editInner(value: unknown, at: string, edit: Edit): unknown {
  return isSchema(value) || typeof value === 'boolean' ? editSchema(value, edit, at) : value;
}
