import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { pathParts, shapeOfPath, singular, wholeParameter, wordsOfName } from './paths.ts';
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

/** Whether another operation makes the things of a collection; where none does, PUT does under the name that it is sent to. */
export function isMadeElsewhere({ byPath, endpoints }: InferenceContext, collection: Collection): boolean {
  const above = byPath.get(collection.path) ?? [];
  const isMade = Object.entries(endpoints).some(([key, other]) => {
    const does = isMap(other) ? other.does : undefined;
    return does === `create ${collection.resource}` || (does === `upsert ${collection.resource}` && key.startsWith('POST '));
  });
  return isMade || above.some((one) => one.method === 'POST' || isNamedCreation(one));
}

/** `POST /repositories/{workspace}/{slug}`, called `Create a repository`: what is made under the name that it is sent to. */
export function isCalledCreation({ map, id }: SourceOperation, { path, resource }: Collection): boolean {
  const { segments } = pathParts(path);
  const place = segments.findLast((segment) => wholeParameter(segment) === undefined) ?? '';
  const known = new Set([resource, place].flatMap(wordsOfName).map(singular));
  return [map.value.summary, id].some((name) => {
    const words = typeof name === 'string' ? wordsOfName(name) : [];
    const at = words.findIndex((word) => making.has(word));
    const said = words.slice(at + 1).filter((word) => !around.has(word));
    const end = said.findIndex((word) => relating.has(word));
    const things = end < 0 ? said : said.slice(0, end);
    return at >= 0 && things.length > 0 && things.every((word) => known.has(singular(word)));
  });
}

/** PUT on the path of a collection that is called the creation of one of its things: `PUT /meshes`, `CreateMesh`. What is added may be there. */
export function isNamedCreation(operation: SourceOperation): boolean {
  const { method, path, map, id } = operation;
  const isCreation = [map.value.summary, id].some(
    (name) => typeof name === 'string' && /^creates?$/.test(wordsOfName(name)[0] ?? ''),
  );
  return method === 'PUT' && isCreation && isCalledCreation(operation, { path, parameter: '', resource: '' });
}

const making: ReadonlySet<string> = new Set(['create', 'creates', 'add', 'adds', 'insert', 'register', 'make']);
const around: ReadonlySet<string> = new Set(['a', 'an', 'the', 'new', 'one', 'specified', 'given']);
const relating: ReadonlySet<string> = new Set(['in', 'to', 'for', 'of', 'on', 'with', 'by', 'under', 'at', 'from', 'using']);

/** `Create or replace a registration`, `Device registrations can be upserted`. */
export function isCalledUpsert({ map, id }: SourceOperation): boolean {
  const { summary, description } = map.value;
  const words = [summary, description, id].filter((one) => typeof one === 'string').join('\n');
  return upserting.test(words);
}

const upserting = /\bupsert|\b(?:creates?|adds?) or (?:updates?|replaces?|overwrites?)\b|(?:create|add)Or(?:Update|Replace)/i;

/**
 * Whether a POST is called after reading, as one is that reads many by a list of their identifiers: in descriptions that have such a name, 13 of 103 POSTs at the
 * paths of collections begin so, and none of these makes anything.
 */
export function isCalledReading({ id }: SourceOperation): boolean {
  return reading.has(wordsOfName(id ?? '')[0] ?? '');
}

const reading: ReadonlySet<string> = new Set(['get', 'fetch', 'search', 'find', 'query', 'retrieve', 'read', 'lookup']);

/** Whether a body is about one thing of a resource that it makes or changes: one that is a list, or holds a list of such things as its answer does, is about many at once, which is another effect. */
export function makesOne(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const endpoint = endpointOf(context, operation);
  if (isCalledReading(operation)) return false;
  return context.written.itemsOf(endpoint.request) === undefined && !listsBoth(context, endpoint, resource);
}

/** `{ contacts: [contact] }`, sent and answered where contacts are made: there may be several. */
function listsBoth({ written }: InferenceContext, endpoint: JsonMap, resource: string): boolean {
  const lists = (shape: Json | undefined): boolean =>
    Object.values(written.propertiesOf(shape)?.all ?? {}).some((one) => written.resourceOf(written.itemsOf(one)) === resource);
  // A thing may list others of its kind.
  const isThing = written.resourceOf(endpoint.request) === resource;
  return !isThing && lists(endpoint.request) && lists(shapeOfAnswer(endpoint, successOf(endpoint)));
}

/**
 * Whether a POST on one thing changes it beside a PUT that replaces it: it is called so, and answers with the thing. Of 967 descriptions those of eleven makers have such a
 * POST; three call it an update, and what the others do is made there, or added.
 */
export function isCalledChange(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const [verb = ''] = wordsOfName(operation.id ?? '');
  const endpoint = endpointOf(context, operation);
  const shown = context.written.resourceOf(shapeOfAnswer(endpoint, successOf(endpoint)));
  return operation.body !== undefined && changing.has(verb) && shown === resource;
}

const changing: ReadonlySet<string> = new Set(['update', 'partial', 'partially', 'modify', 'edit', 'change', 'patch']);
