import { jsonTypeOf } from '../../document/json-type.ts';
import { alternativesOf, conjunctsOf } from '../../parts/shapes/branches.ts';
import { inForce } from '../../parts/shapes/in-force.ts';

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
