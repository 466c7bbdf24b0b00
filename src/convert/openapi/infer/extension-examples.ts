import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import {
  endpointOf,
  extendAnswer,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';

/** `x-docs: { response: '{ "object": "list", … }' }`: an example that stands where nothing but the words of its members says that it is one. */
export const extensionExamples: InferenceRule = {
  name: 'extension-examples',
  says: 'A text of JSON in an extension of an operation whose answer has no example is one, where it has what the answer requires and nothing that the answer has no member for.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const status = successOf(endpoint);
      if (status === undefined || hasExamples(endpoint.response, status)) continue;
      const example = exampleOf(context, operation, shapeOfAnswer(endpoint, status));
      if (example === undefined) continue;
      extendAnswer(context, operation, status, { examples: { extension: example } });
      const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'examples');
      context.trail.infer(at, extensionExamples.name, operation.map.at, 0.8);
    }
  },
};

function hasExamples(response: Json | undefined, status: string): boolean {
  const answer = isMap(response) ? response[status] : undefined;
  return isMap(answer) && (answer.examples !== undefined || answer.example !== undefined || answer.data !== undefined);
}

function exampleOf({ written }: InferenceContext, { map }: SourceOperation, shape: Json | undefined): JsonMap | undefined {
  const members = written.propertiesOf(shape);
  const names = Object.keys(members?.all ?? {});
  if (!members || names.length < namesLeast || !isMap(map.value)) return undefined;
  for (const [name, extension] of Object.entries(map.value)) {
    if (!name.startsWith('x-')) continue;
    for (const text of textsIn(extension, 0)) {
      const value = mapIn(text);
      const own = value && Object.keys(value);
      if (!own || own.length < namesLeast || !own.every((one) => Object.hasOwn(members.all, one))) continue;
      if (members.required.every((one) => own.includes(one))) return value;
    }
  }
  return undefined;
}

/** One name alone may be that of anything. */
const namesLeast = 2;

/** The texts in an extension, of a few kilobytes at the most. */
function textsIn(value: Json | undefined, depth: number): string[] {
  if (typeof value === 'string') return value.length <= lengthMost ? [value] : [];
  if (depth > depthMost || value === null || typeof value !== 'object') return [];
  return Object.values(value).flatMap((inner) => textsIn(inner, depth + 1));
}

const lengthMost = 32_768;
const depthMost = 3;

/** The map that a text of JSON is; a comma before its end, which authors leave there, is passed over. */
function mapIn(text: string): JsonMap | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  for (const one of [text, text.replaceAll(/,(?=\s*[}\]])/g, '')]) {
    try {
      const value: unknown = JSON.parse(one);
      return isMap(value as Json) ? (value as JsonMap) : undefined;
    } catch {
      // Tried once more, or no JSON.
    }
  }
  return undefined;
}
