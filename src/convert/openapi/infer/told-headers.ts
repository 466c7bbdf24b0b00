import { below } from '../../../document/pointer.ts';
import { isMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, extendAnswer, type InferenceContext, type InferenceRule, placeOfEndpoint, successOf } from './context.ts';

/** "The `X-Total-Count` header provides total count": a header of an answer of which only words tell. */
export const toldHeaders: InferenceRule = {
  name: 'told-headers',
  says: 'A header that the words of a list name for the count of its things (`X-Total-Count`) or for what leads on (`X-Cursor-Next`) is a header of its answer, which may be missing.',
  infer(context) {
    for (const operation of context.operations) {
      const endpoint = endpointOf(context, operation);
      const status = successOf(endpoint);
      if (typeof endpoint.does !== 'string' || !endpoint.does.startsWith('list ') || status === undefined) continue;
      const named = headersNamed(operation);
      if (named.length > 0) writeHeaders(context, operation, status, named);
    }
  },
};

function writeHeaders(context: InferenceContext, operation: SourceOperation, status: string, named: readonly string[]): void {
  const { response } = endpointOf(context, operation);
  const answer = isMap(response) ? response[status] : undefined;
  const before: OpenMap = isMap(answer) && isMap(answer.headers) ? { ...answer.headers } : {};
  const known = new Set(Object.keys(before).map((name) => name.toLowerCase()));
  const fresh = named.filter((name) => !known.has(name.toLowerCase()));
  if (fresh.length === 0) return;
  for (const name of fresh) before[name] = { shape: { type: counting.test(name) ? 'integer' : 'string' }, required: false };
  extendAnswer(context, operation, status, { headers: before });
  const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'headers');
  for (const name of fresh) context.trail.infer(below(at, name), toldHeaders.name, operation.map.at, 0.7);
}

const counting = /^X-(?:[A-Za-z]+-)?Total(?:-Count)?$/i;
const leading = /^X-(?:[A-Za-z]+-)?(?:Next-Cursor|Cursor-Next|Cursor-Prev|Prev-Cursor)$/i;

/** The names of such headers in the words of an operation and of its parameters, once each. */
function headersNamed({ map, parameters }: SourceOperation): string[] {
  const texts = [map, ...parameters.map((one) => one.map)].flatMap((one) => {
    const description = isMap(one?.value) ? one.value.description : undefined;
    return typeof description === 'string' ? [description.slice(0, lengthMost)] : [];
  });
  const words = texts.flatMap((text) => text.match(/\bX-[A-Za-z]+(?:-[A-Za-z]+){0,3}/gi) ?? []);
  return [...new Set(words.filter((word) => counting.test(word) || leading.test(word)))];
}

/** How much of a description is looked at. */
const lengthMost = 20_000;
