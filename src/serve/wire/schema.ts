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
export function typesOf(schema: Schema, resolve: Resolve, depth = 0): ReadonlySet<string> | undefined {
  if (depth > 16) return undefined;
  const { type } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.map(String));
  if (Array.isArray(schema.enum)) return new Set(schema.enum.map(typeOf));
  if (schema.const !== undefined) return new Set([typeOf(schema.const)]);
  if (typeof schema.$ref === 'string') {
    const named = resolve(schema.$ref);
    return named && typesOf(named, resolve, depth + 1);
  }
  const every = schemasIn(schema.allOf).map((branch) => typesOf(branch, resolve, depth + 1));
  const stated = every.find((types) => types !== undefined);
  if (stated !== undefined) return stated;
  const branches = [...schemasIn(schema.oneOf), ...schemasIn(schema.anyOf)];
  if (branches.length > 0) {
    const types = branches.map((branch) => typesOf(branch, resolve, depth + 1));
    return types.every((one) => one !== undefined) ? new Set(types.flatMap((one) => [...one])) : undefined;
  }
  if (isSchema(schema.properties)) return new Set(['object']);
  return isSchema(schema.items) ? new Set(['array']) : undefined;
}

/** The schema of an object's member: the stated one, one of a branch's, else that of unnamed members. */
export function memberOf(schema: Schema, name: string, resolve: Resolve, depth = 0): Schema | undefined {
  if (depth > 16) return undefined;
  const { properties } = schema;
  if (isSchema(properties) && Object.hasOwn(properties, name)) {
    const member = properties[name];
    return isSchema(member) ? member : undefined;
  }
  for (const part of partsOf(schema, resolve)) {
    const member = memberOf(part, name, resolve, depth + 1);
    if (member !== undefined) return member;
  }
  return isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
}

/** The schema of a list's items, its own or a branch's. */
export function itemOf(schema: Schema, resolve: Resolve, depth = 0): Schema | undefined {
  if (depth > 16) return undefined;
  if (isSchema(schema.items)) return schema.items;
  for (const part of partsOf(schema, resolve)) {
    const item = itemOf(part, resolve, depth + 1);
    if (item !== undefined) return item;
  }
  return undefined;
}

/** The names that an object's schema states, in its branches too. */
export function memberNames(schema: Schema, resolve: Resolve, depth = 0): string[] {
  if (depth > 16) return [];
  const own = isSchema(schema.properties) ? Object.keys(schema.properties) : [];
  return [...new Set([...own, ...partsOf(schema, resolve).flatMap((part) => memberNames(part, resolve, depth + 1))])];
}

function partsOf(schema: Schema, resolve: Resolve): Schema[] {
  const named = typeof schema.$ref === 'string' ? resolve(schema.$ref) : undefined;
  const parts = [...schemasIn(schema.allOf), ...schemasIn(schema.oneOf), ...schemasIn(schema.anyOf)];
  return named === undefined ? parts : [named, ...parts];
}

function schemasIn(value: unknown): Schema[] {
  return Array.isArray(value) ? value.filter(isSchema) : [];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}
