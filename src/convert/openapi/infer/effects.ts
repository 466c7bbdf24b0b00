import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { Operation } from '../operation.ts';
import { type Collection, type Context, endpointOf, placeOfEndpoint } from './context.ts';
import { partsOf, shapeOfPath } from './paths.ts';
import { fieldsOf } from './rows.ts';

/** The collection that a path is, or whose things it is about. */
export function collectionAt({ collections }: Context, path: string): Collection | undefined {
  return collections.get(shapeOfPath(path));
}

/** The collection of whose things the path of an operation is about one: `/customers/{customer}`. */
export function collectionOfItem(context: Context, { path }: Operation): Collection | undefined {
  const { last, parent } = partsOf(path);
  return last === undefined ? undefined : collectionAt(context, parent);
}

/** Says what an endpoint does, unless that is known, or its path names what the resource cannot hold. */
export function infer(
  context: Context,
  operation: Operation,
  verb: string,
  resource: string,
  rule: string,
  confidence: number,
  identity?: string,
): boolean {
  const endpoint = endpointOf(context, operation);
  if (endpoint.does !== undefined || !canBind(context, operation, verb, resource, identity)) return false;
  const { as, ...rest } = endpoint;
  for (const key of Object.keys(endpoint)) delete endpoint[key];
  Object.assign(
    endpoint,
    { does: `${verb} ${resource}` },
    as !== undefined && { as },
    identity !== undefined && { identity },
    rest,
  );
  const at = placeOfEndpoint(operation);
  context.trail.infer(below(at, 'does'), rule, operation.map.at, confidence);
  if (identity !== undefined) context.trail.infer(below(at, 'identity'), rule, operation.map.at, confidence);
  return true;
}

/** The parameters of a path that have to be fields of the resource that its operation is about. */
export function boundParameters(operation: Pick<Operation, 'path'>, verb: string, identity?: string): string[] {
  const { parameters } = partsOf(operation.path);
  return ofOne.has(verb) && identity === undefined ? parameters.slice(0, -1) : [...parameters];
}

const ofOne: ReadonlySet<string> = new Set(['read', 'update', 'replace', 'delete', 'upsert']);

/** Every parameter is a field that one word can be compared with, or none yet, or the identity speaks of it. */
function canBind(context: Context, operation: Operation, verb: string, resource: string, identity: string | undefined): boolean {
  const { parameters } = partsOf(operation.path);
  if (ofOne.has(verb) && identity === undefined && parameters.length === 0) return false;
  const entry = context.resources[resource];
  if (!isMap(entry) || !isMap(entry.identifier) || !isMap(entry.fields)) return false;
  const fields = fieldsOf(context.resources, resource);
  return boundParameters(operation, verb, identity).every(
    (name) => identity?.includes(name) || !Object.hasOwn(fields, name) || isWord(context, fields[name]),
  );
}

function isWord(context: Context, shape: Parameters<Context['written']['typeOf']>[0]): boolean {
  const type = context.written.typeOf(shape);
  if (type === 'string' || type === 'integer' || type === 'number') return true;
  return context.written.alternativesOf(shape)?.some((one) => context.written.typeOf(one) === 'string') ?? false;
}
