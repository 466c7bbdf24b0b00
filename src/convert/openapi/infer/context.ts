import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, type OpenMap } from '../../../document/values.ts';
import { readEffect } from '../../../parts/effects.ts';
import type { Trail } from '../read/evidence.ts';
import type { SourceOperation } from '../read/operation.ts';
import { madeOrNew, type SourceReader } from '../read/reader.ts';
import type { SchemaNames } from '../read/schema-names.ts';
import type { Shapes } from '../read/shapes.ts';
import { pathParts, shapeOfPath } from './paths.ts';
import type { Written } from './shapes.ts';

/** What rules read and write: the document as far as it is made, and the source that it came from. */
export interface InferenceContext {
  readonly tree: OpenMap;
  readonly resources: OpenMap;
  readonly endpoints: OpenMap;
  readonly operations: readonly SourceOperation[];
  /** The operations of each path, whatever its parameters are called. */
  readonly byPath: ReadonlyMap<string, readonly SourceOperation[]>;
  readonly reader: SourceReader;
  readonly shapes: Shapes;
  readonly names: SchemaNames;
  readonly trail: Trail;
  readonly written: Written;
  /** What the paths are about, once the rule of that name has found it. */
  readonly collections: Map<string, Collection>;
}

/** Things of one kind below one path: `/v1/customers`, each of them at `/v1/customers/{customer}`. */
export interface Collection {
  /** The path of the collection, its parameters unnamed. */
  readonly path: string;
  /** The name of the parameter that tells one from another. */
  readonly parameter: string;
  /** The resource that its things are. */
  readonly resource: string;
  /** The field that its parameter means, where they are called otherwise. */
  readonly field?: string;
  /** What a path says of the one that is meant, where that is more than its last parameter. */
  readonly identity?: string;
  /** The members of a body by which methods tell one from another, its own first. */
  readonly members?: readonly string[];
}

/** One rule of inference: it reads something off the source that the source does not say in so many words. */
export interface InferenceRule {
  readonly name: string;
  /** What it reads off what, as one sentence; a row of `docs/inference.md`. */
  readonly says: string;
  readonly infer: (context: InferenceContext) => void;
}

/** The endpoint of an operation as it is written so far. */
export function endpointOf(context: InferenceContext, { key }: SourceOperation): OpenMap {
  return madeOrNew(context.endpoints[key]);
}

/** Groups operations by the shapes of their paths. */
export function groupedByPath(operations: readonly SourceOperation[]): ReadonlyMap<string, readonly SourceOperation[]> {
  const groups = new Map<string, SourceOperation[]>();
  for (const operation of operations) {
    const shape = shapeOfPath(operation.path);
    const known = groups.get(shape);
    if (known) known.push(operation);
    else groups.set(shape, [operation]);
  }
  return groups;
}

/** The endpoints about each resource, with what they do. */
export function endpointsByResource({ endpoints }: InferenceContext): ReadonlyMap<string, readonly AboutResource[]> {
  const byResource = new Map<string, AboutResource[]>();
  for (const endpoint of Object.values(endpoints)) {
    if (!isMap(endpoint) || typeof endpoint.does !== 'string') continue;
    const effect = readEffect(endpoint.does);
    if (!effect || !('resource' in effect)) continue;
    const known = byResource.get(effect.resource);
    if (known) known.push({ verb: effect.verb, endpoint });
    else byResource.set(effect.resource, [{ verb: effect.verb, endpoint }]);
  }
  return byResource;
}

export interface AboutResource {
  readonly verb: string;
  readonly endpoint: JsonMap;
}

/** Where an endpoint stands in the document. */
export function placeOfEndpoint({ key }: SourceOperation): Pointer {
  return below('/endpoints', key);
}

/** The status of the answer that tells of success: the first of 200, 201, 202, then any other of 2xx. */
export function successOf(endpoint: JsonMap): string | undefined {
  if (!isMap(endpoint.response)) return undefined;
  const statuses = Object.keys(endpoint.response);
  return (
    ['200', '201', '202'].find((status) => statuses.includes(status)) ?? statuses.find((status) => /^2(?:\d\d|XX)$/.test(status))
  );
}

/** The shape of an answer, in its short or its full form; nothing where it is none. */
export function shapeOfAnswer(endpoint: JsonMap, status: string | undefined): Json | undefined {
  if (status === undefined || !isMap(endpoint.response)) return undefined;
  const answer = endpoint.response[status];
  const shape = isMap(answer) && Object.hasOwn(answer, 'shape') ? answer.shape : answer;
  return shape === 'none' ? undefined : shape;
}

/** Writes words beside the shape of an answer, which then stands in its full form. */
export function extendAnswer(context: InferenceContext, operation: SourceOperation, status: string, words: JsonMap): void {
  const endpoint = endpointOf(context, operation);
  const responses = madeOrNew(endpoint.response);
  const answer = responses[status];
  const at = below(below(placeOfEndpoint(operation), 'response'), status);
  const origin = context.trail.origin(below(at, 'shape'));
  const full = isMap(answer) && Object.hasOwn(answer, 'shape') ? answer : { shape: answer ?? {} };
  responses[status] = { ...full, ...words };
  if (origin !== undefined) context.trail.from(below(at, 'shape'), origin);
}

/** The collection that a path is, or whose things it is about. */
export function collectionAt({ collections }: InferenceContext, path: string): Collection | undefined {
  return collections.get(shapeOfPath(path));
}

/** The collection of whose things the path of an operation is about one: `/customers/{customer}`. */
export function collectionOfItem(context: InferenceContext, { path }: SourceOperation): Collection | undefined {
  const { last, parent } = pathParts(path);
  return last === undefined ? undefined : collectionAt(context, parent);
}

/** Whether another operation of a path has a method. */
export function hasSibling({ byPath }: Pick<InferenceContext, 'byPath'>, operation: SourceOperation, method: string): boolean {
  const together = byPath.get(shapeOfPath(operation.path)) ?? [];
  return together.some((other) => other.method === method && other !== operation);
}
