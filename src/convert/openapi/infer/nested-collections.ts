import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { pathParts, shapeOfPath, wholeParameter } from './paths.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/** `POST /boards/{board}/messages` makes what `/messages/{message}` shows, whatever either calls the shape of a message. */
export const nestedCollection: InferenceRule = {
  name: 'nested-collection',
  says: 'A path that ends in the same word as that of a collection, and where POST answers with a thing of nearly the same fields, is about the same things.',
  infer(context) {
    const byWord = Map.groupBy(context.collections.values(), ({ path }) => pathParts(path).segments.at(-1) ?? '');
    for (const [path, operations] of context.byPath) {
      const [{ path: written } = { path: '' }] = operations;
      const word = pathParts(written).segments.at(-1);
      if (word === undefined || wholeParameter(word) !== undefined || context.collections.has(path)) continue;
      const home = byWord.get(word)?.find((one) => one.path !== path && makesThoseOf(context, operations, one));
      if (home) context.collections.set(shapeOfPath(path), { ...home, path });
    }
  },
};

/** Whether what is made at a path is of the things of a collection; a list there has to show the same. */
function makesThoseOf(context: InferenceContext, operations: readonly SourceOperation[], { resource }: Collection): boolean {
  const { written } = context;
  const answerTo = (method: string) => {
    const operation = operations.find((one) => one.method === method);
    const endpoint = operation && endpointOf(context, operation);
    return endpoint && shapeOfAnswer(endpoint, successOf(endpoint));
  };
  const made = shownRowOf(written, answerTo('POST'), 'id');
  if (!made || !isAlike(context, made.shape, resource)) return false;
  const listed = listIn(written, answerTo('GET'), undefined)?.items;
  return listed === undefined || isAlike(context, listed, resource);
}

/** Whether a shape has the identifier of a resource and nearly all of its fields, or they nearly all of its. */
export function isAlike(context: InferenceContext, shape: Parameters<typeof shownRowOf>[1], resource: string): boolean {
  const { written, resources } = context;
  if (written.resourceOf(shape) === resource) return true;
  const entry = resources[resource];
  const [fields, others] = [documentFields(resources, resource), written.propertiesOf(shape)?.all ?? {}];
  if (!isMap(entry) || !isMap(entry.identifier) || !Object.hasOwn(others, String(entry.identifier.field))) return false;
  const shared = Object.keys(others).filter((name) => isSameType(context, fields[name], others[name])).length;
  const fewer = Math.min(Object.keys(fields).length, Object.keys(others).length);
  return (shared >= 3 && shared >= alikeLeast * fewer) || (shared === 2 && fewer === 2);
}

const alikeLeast = 0.8;

function isSameType({ written }: InferenceContext, one: Parameters<typeof shownRowOf>[1], other: typeof one): boolean {
  return one !== undefined && other !== undefined && written.typeOf(one) === written.typeOf(other);
}
