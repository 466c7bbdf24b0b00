import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { madeOrNew } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint, shapeOfAnswer, successOf } from './context.ts';
import { shapeOfExample } from './examples.ts';

/** `{ data: { id, title }, links }` beside a schema of `id` and `title`: the envelope that a source shows in its examples and leaves out of its schemas. */
export const shownEnvelope: InferenceRule = {
  name: 'shown-envelope',
  says: 'Where the examples of three answers or more show what their schemas describe in one and the same member (`{ data: { id } }` beside a schema of `id`), that member is the envelope of these answers and of those that are shown in it otherwise, and of a body whose own example shows it. What an answer is shown as there, one thing or a list, it is.',
  infer(context) {
    const shown = context.operations.flatMap((operation) => shownAnswer(context, operation) ?? []);
    const member = memberOfMost(shown);
    if (member === undefined) return;
    for (const answer of shown) if (Object.hasOwn(answer.example, member)) encloseAnswer(context, answer, member);
    for (const operation of context.operations) encloseBody(context, operation, member);
  },
};

/** An answer none of whose members its own example shows. */
interface ShownAnswer {
  readonly operation: SourceOperation;
  readonly status: string;
  readonly answer: JsonMap;
  readonly example: JsonMap;
  /** The shape of the thing, or of each in the list. */
  readonly one: Json;
  /** The members of the example that hold what the shape describes. */
  readonly holding: readonly string[];
}

function shownAnswer(context: InferenceContext, operation: SourceOperation): ShownAnswer | undefined {
  const endpoint = endpointOf(context, operation);
  const status = successOf(endpoint);
  const answer = status !== undefined && isMap(endpoint.response) ? endpoint.response[status] : undefined;
  const shape = shapeOfAnswer(endpoint, status);
  if (status === undefined || !isMap(answer) || !isMap(answer.examples) || shape === undefined) return undefined;
  const [example] = Object.values(answer.examples);
  const items = context.written.itemsOf(shape);
  const one = items ?? shape;
  const members = context.written.propertiesOf(one)?.all;
  if (example === undefined || !isMap(example) || members === undefined) return undefined;
  if (items === undefined && Object.keys(example).some((name) => Object.hasOwn(members, name))) return undefined;
  const holding = Object.keys(example).filter((name) => {
    const value = example[name];
    return isLike(items === undefined ? value : Array.isArray(value) ? value[0] : undefined, members);
  });
  return { operation, status, answer, example, one, holding };
}

/** A map with two members of a thing at least, which are half of its own. */
function isLike(value: Json | undefined, members: Readonly<Record<string, Json>>): boolean {
  if (value === undefined || !isMap(value)) return false;
  const names = Object.keys(value);
  const shared = names.filter((name) => Object.hasOwn(members, name)).length;
  return shared >= 2 && shared * 2 >= names.length;
}

/** One example may be a slip; three that agree are how the interface answers. */
const answersLeast = 3;

/** The one member in which answers are shown, where no other is one in which some are. */
function memberOfMost(shown: readonly ShownAnswer[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { holding } of shown) {
    const [only, ...more] = holding;
    if (only !== undefined && more.length === 0) counts.set(only, (counts.get(only) ?? 0) + 1);
  }
  const [[member, count] = [], ...others] = [...counts];
  return others.length === 0 && count !== undefined && count >= answersLeast ? member : undefined;
}

function encloseAnswer(
  context: InferenceContext,
  { operation, status, answer, example, one }: ShownAnswer,
  member: string,
): void {
  const held = example[member];
  if (!Array.isArray(held) && !(held !== undefined && isMap(held))) return;
  const inner = withoutExample(one);
  const around: OpenMap = newMap();
  for (const [name, value] of Object.entries(example))
    around[name] = name === member ? enclosed(held, inner) : shapeOfExample(value, 1);
  const shape = Object.assign(newMap(), { type: 'object', properties: around, required: [member] });
  madeOrNew(endpointOf(context, operation).response)[status] = { ...answer, shape };
  const at = below(below(below(placeOfEndpoint(operation), 'response'), status), 'shape');
  context.trail.infer(at, shownEnvelope.name, operation.map.at, 0.9);
}

const enclosed = (held: Json, inner: Json): Json =>
  Array.isArray(held) ? Object.assign(newMap(), { type: 'array', items: inner }) : inner;

/** An example of the whole answer, which stands in the schema of the thing, is none of the thing. */
function withoutExample(shape: Json): Json {
  if (!isMap(shape)) return shape;
  const { example: _example, examples: _examples, ...rest } = shape;
  return Object.assign(newMap(), rest);
}

/** `{ data: { type, attributes } }` as the example of a body with `type` and `attributes`, or of one of which nothing else is said. */
function encloseBody(context: InferenceContext, operation: SourceOperation, member: string): void {
  const endpoint = endpointOf(context, operation);
  const { request } = endpoint;
  if (request === undefined || !isMap(request)) return;
  const [listed] = Array.isArray(request.examples) ? request.examples : [];
  const example = request.example ?? listed;
  const held = example !== undefined && isMap(example) ? example[member] : undefined;
  if (held === undefined || !isMap(held)) return;
  const members = context.written.propertiesOf(request)?.all;
  if (members && (Object.hasOwn(members, member) || !isLike(held, members))) return;
  if (!members && !Object.keys(request).every((key) => ['type', 'example', 'examples', 'description', 'title'].includes(key)))
    return;
  const inner = members ? withoutExample(request) : namesOf(held);
  endpoint.request = Object.assign(newMap(), { type: 'object', properties: { [member]: inner }, required: [member], example });
  context.trail.infer(below(placeOfEndpoint(operation), 'request'), shownEnvelope.name, operation.map.at, 0.9);
}

/** The members of a thing of which only one example is known: what they may be is open. */
function namesOf(held: JsonMap): OpenMap {
  const properties: OpenMap = newMap();
  for (const [name, value] of Object.entries(held)) properties[name] = isMap(value) ? { type: 'object' } : newMap();
  return Object.assign(newMap(), { type: 'object', properties });
}
