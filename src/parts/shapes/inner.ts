/** What stands directly inside a schema, and what is in force through references. */

import type { Json, JsonMap } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import { alternativesOf, conjunctsOf } from './branches.ts';
import { holdingOf } from './keywords.ts';

/** A schema that stands directly inside another. */
interface InnerSchema {
  readonly keyword: string;
  /** Its name or number under the keyword, where that holds several. */
  readonly key?: string | number;
  readonly schema: Json;
}

/** Every schema directly inside another, in the order in which they are written. */
export function innerOf(shape: JsonMap): InnerSchema[] {
  const found: InnerSchema[] = [];
  for (const keyword of Object.keys(shape)) {
    const holding = holdingOf(keyword);
    const value = shape[keyword] as Json;
    if (holding === 'schema') found.push({ keyword, schema: value });
    else if (holding === 'schemas' && Array.isArray(value))
      for (const [key, schema] of (value as readonly Json[]).entries()) found.push({ keyword, key, schema });
    else if (holding === 'schema map' && isMap(value))
      for (const [key, schema] of Object.entries(value)) found.push({ keyword, key, schema });
  }
  return found;
}

/**
 * The value of a keyword with each schema in it put through a function; a value that holds none as it is. `key` is the name or
 * number of a schema among several.
 */
export function mapInner<Value>(
  keyword: string,
  value: Value,
  one: (inner: Value, key?: string | number) => Value,
  withOld = false,
): Value {
  const holding = holdingOf(keyword, withOld);
  if (holding === 'schema') return one(value);
  // The casts hold: what is made has the form of what was given, and is of the same sort of values.
  if (holding === 'schemas' && Array.isArray(value)) return value.map((inner, index) => one(inner, index)) as Value;
  if (holding !== 'schema map' || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const map: Record<string, Value> = Object.create(null);
  for (const [name, inner] of Object.entries(value)) map[name] = one(inner, name);
  return map as Value;
}

/**
 * Whether a shape, or one at any depth inside it, is such. What it names elsewhere is not gone into, so this ends where the
 * document does, whose depth its reader bounds.
 */
export function someInside(shape: Json | undefined, isSuch: (shape: JsonMap) => boolean): boolean {
  if (!isMap(shape)) return false;
  if (isSuch(shape)) return true;
  for (const keyword of Object.keys(shape)) {
    const holding = holdingOf(keyword);
    if (holding === undefined) continue;
    const value = shape[keyword];
    // Everything that holds several is a list or a map of them.
    if (holding === 'schema' ? someInside(value, isSuch) : someAmong(value, isSuch)) return true;
  }
  return false;
}

function someAmong(several: Json | undefined, isSuch: (shape: JsonMap) => boolean): boolean {
  if (typeof several !== 'object' || several === null) return false;
  return Object.values(several).some((one: Json) => someInside(one, isSuch));
}

/** Shows a shape, and every one at any depth inside it, to a function. */
export function eachInside(shape: Json | undefined, see: (shape: JsonMap) => void): void {
  someInside(shape, (one) => {
    see(one);
    return false;
  });
}

/** Finds what a reference names; undefined where there is none. */
type Resolve<Schema> = (ref: string) => Schema | undefined;

/**
 * A schema and all that it is made of, itself first: what its reference names, what it has to fit as well, and its alternatives, each
 * with what that is made of. Each stands there once, and there is an end where schemas name each other in a circle.
 */
export function inForce<Schema extends object>(schema: Schema, resolve: Resolve<Schema>): Schema[] {
  const found = new Set<Schema>();
  gather(schema, resolve, found);
  return [...found];
}

const schemasMost = 1000;

function gather<Schema extends object>(schema: Schema, resolve: Resolve<Schema>, found: Set<Schema>): void {
  if (found.has(schema) || found.size >= schemasMost) return;
  found.add(schema);
  const named = namedBy(schema, resolve);
  if (named) gather(named, resolve, found);
  for (const part of [...conjunctsOf(schema), ...alternativesOf(schema)]) gather(part, resolve, found);
}

/** What the reference of a schema names. */
function namedBy<Schema extends object>(schema: Schema, resolve: Resolve<Schema>): Schema | undefined {
  const ref = '$ref' in schema ? schema.$ref : undefined;
  return typeof ref === 'string' ? resolve(ref) : undefined;
}
