import { alternativesOf, conjunctsOf } from './branches.ts';

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
