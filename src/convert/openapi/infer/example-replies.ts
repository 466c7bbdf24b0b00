import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import { endpointOf, type InferenceRule, placeOfEndpoint, successOf } from './context.ts';

export const exampleReplies: InferenceRule = {
  name: 'example-replies',
  says: 'An operation whose answer is known by an example alone, without a schema, replies with it.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const answer = isMap(endpoint.response) ? endpoint.response[successOf(endpoint) ?? ''] : undefined;
      if (endpoint.does !== undefined || !isMap(answer) || answer.example === undefined) continue;
      endpoint.does = 'reply';
      context.trail.infer(below(placeOfEndpoint(operation), 'does'), exampleReplies.name, operation.map.at, 0.5);
    }
  },
};
