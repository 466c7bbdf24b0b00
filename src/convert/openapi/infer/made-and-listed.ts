import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { pathParts, shapeOfPath, wholeParameter } from './paths.ts';
import { listIn, shownRowOf } from './rows.ts';

/** `/invitations` makes and lists invitations, although no path leads to one of them. */
export const madeAndListed: InferenceRule = {
  name: 'made-and-listed',
  says: 'A path where POST answers with one thing that has an identifier, and GET with a list of the same, is the collection of such things.',
  infer(context) {
    for (const [path, operations] of context.byPath) {
      const [{ path: written } = { path: '' }] = operations;
      if (wholeParameter(pathParts(written).segments.at(-1)) !== undefined || context.collections.has(path)) continue;
      const resource = sameThing(context, operations);
      if (resource !== undefined) context.collections.set(shapeOfPath(path), { path, parameter: 'id', resource });
    }
  },
};

function sameThing(context: InferenceContext, operations: readonly SourceOperation[]): string | undefined {
  const { written } = context;
  const answerTo = (method: string) => {
    const operation = operations.find((one) => one.method === method);
    const endpoint = operation && endpointOf(context, operation);
    return endpoint && shapeOfAnswer(endpoint, successOf(endpoint));
  };
  const made = shownRowOf(written, answerTo('POST'), 'id')?.resource;
  const listed = written.resourceOf(listIn(written, answerTo('GET'), undefined)?.items);
  return made !== undefined && made === listed ? made : undefined;
}
