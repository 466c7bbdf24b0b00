import type { Json } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap } from '../../../document/values.ts';
import type { Operation } from '../operation.ts';
import {
  type Collection,
  type Context,
  endpointOf,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { partsOf, shapeOfPath, singular } from './paths.ts';
import { listIn, type Row, rowOf } from './rows.ts';

/** `/customers/{customer}` is about one of the things of `/customers`, and its answers show which resource those are. */
export const resourceBehindPath: InferenceRule = {
  name: 'resource-behind-path',
  says: 'A path that ends in a parameter is about one thing of the path before it; what its answers show is the resource.',
  infer(context) {
    const groups = new Map<string, Operation[]>();
    for (const operation of context.operations) {
      const { last, parent } = partsOf(operation.path);
      if (last === undefined || parent === '') continue;
      const key = shapeOfPath(parent);
      groups.set(key, [...(groups.get(key) ?? []), operation]);
    }
    for (const [path, operations] of groups) {
      const found = collectionOf(path, operations, context);
      if (found) context.collections.set(path, found);
    }
  },
};

function collectionOf(path: string, operations: readonly Operation[], context: Context): Collection | undefined {
  const { last: parameter, parent } = partsOf(operations[0]?.path ?? '');
  if (parameter === undefined) return undefined;
  const plural = partsOf(parent).segments.at(-1) ?? '';
  const together = context.byPath.get(path) ?? [];
  const of = (list: readonly Operation[], method: string) => list.filter((operation) => operation.method === method);
  const candidates: (readonly [Operation, (shape: Json | undefined) => Json | undefined])[] = [
    ...of(operations, 'GET').map((one) => [one, whole] as const),
    ...of(together, 'GET').map(
      (one) => [one, (shape: Json | undefined) => listIn(context.written, shape, plural)?.items] as const,
    ),
    ...['PATCH', 'PUT', 'POST'].flatMap((method) => of(operations, method).map((one) => [one, whole] as const)),
    ...of(together, 'POST').map((one) => [one, whole] as const),
  ];
  for (const [operation, narrow] of candidates) {
    const endpoint = endpointOf(context, operation);
    const status = successOf(endpoint);
    const row = rowOf(context.written, narrow(shapeOfAnswer(endpoint, status)), parameter);
    const resource = row && (row.resource ?? nameOf(row, plural, operation, status ?? '200', context));
    if (resource !== undefined) return { path, parameter, resource };
  }
  return undefined;
}

const whole = (shape: Json | undefined): Json | undefined => shape;

/** A thing whose shape has no name gets one of its path: `/postcards` holds each `postcard`. */
function nameOf(row: Row, plural: string, operation: Operation, status: string, context: Context): string | undefined {
  const properties = context.written.propertiesOf(row.shape);
  if (properties === undefined || !isMap(row.shape)) return undefined;
  const name = context.names.free(singular(plural) || 'thing');
  const at = below('/resources', name);
  const answer = below(below(placeOfEndpoint(operation), 'response'), status);
  const origin = context.trail.origin(below(answer, 'shape')) ?? operation.map.at;
  const fields = Object.assign(newMap(), properties.all);
  context.resources[name] = { fields, required: [...properties.required], additionalProperties: true };
  context.trail.infer(at, resourceBehindPath.name, origin, 0.8);
  return name;
}
