import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { formsOf } from './act-words.ts';
import { endpointOf, type InferenceContext, successOf } from './context.ts';

/** The word that the example of an act's own answer shows in a field of the thing, where the act is called like it: `status: cancelled` after `cancel`. */
export function wordShownAfter(
  context: InferenceContext,
  operation: SourceOperation,
  name: string,
  verb: string,
): string | undefined {
  const endpoint = endpointOf(context, operation);
  const status = successOf(endpoint);
  const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
  const examples: readonly (Json | undefined)[] = isMap(answer) && isMap(answer.examples) ? Object.values(answer.examples) : [];
  for (const example of examples) {
    if (!isMap(example)) continue;
    const shown = [example, ...Object.values(example)].find((one) => isMap(one) && typeof one[name] === 'string');
    const word = isMap(shown) ? shown[name] : undefined;
    if (typeof word === 'string' && formsOf(verb).has(word.toLowerCase())) return word;
  }
  return undefined;
}
