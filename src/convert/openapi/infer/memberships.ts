import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { isCopying, isCopyWord, pathParts, shapeOfPath, singular, wholeParameter, wordsOfName } from './paths.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/**
 * Whether a collection only says which things of another one belong to something: `/contacts/{contact}/tags` beside `/tags`, where
 * tags are made. What is done there binds and looses; `by` is an operation on the collection itself, which may still make a new thing.
 */
export function isMembership(context: InferenceContext, collection: Collection, by?: SourceOperation): boolean {
  const { collections, byPath } = context;
  if (isBoundByPut(context, collection)) return true;
  const others = [...collections.values()].filter(
    ({ resource, path }) => resource === collection.resource && path !== collection.path && !isScopeOf(path, collection.path),
  );
  const isNamed = (path: string) => isCalledAfter(path, collection.resource);
  const home = others.find(({ path }) => depthOf(path) < depthOf(collection.path) && !collection.path.startsWith(`${path}/`));
  const better = isNamed(collection.path) ? undefined : others.find(({ path }) => isNamed(path));
  const owner = better ?? home;
  if (owner === undefined) return false;
  const isMadeThere = (byPath.get(owner.path) ?? []).some(({ method }) => method === 'POST');
  if (better === undefined && !isMadeThere) return false;
  return by === undefined ? !makesHere(context, collection) : namesOne(context, by, collection);
}

/** `/repositories` lists those of every workspace, and `/repositories/{workspace}` those of one. */
function isScopeOf(path: string, inner: string): boolean {
  return inner.startsWith(`${path}/`) && /^(?:\/\{\})+$/.test(inner.slice(path.length));
}

/** `PUT /albums/{album}/videos/{video}`, which sends nothing, beside DELETE there and `/videos/{video}`, where the thing itself is: it is put there and taken out. */
export function isBoundByPut({ collections, byPath }: InferenceContext, { path, resource }: Collection): boolean {
  if (!isPutBare(byPath.get(`${path}/{}`))) return false;
  return [...collections.values()].some((other) => {
    const ofOne = byPath.get(`${other.path}/{}`) ?? [];
    const isElsewhere = other.resource === resource && other.path !== path && !path.startsWith(`${other.path}/`);
    return isElsewhere && ofOne.some(({ method }) => method === 'GET') && !isPutBare(ofOne);
  });
}

/** Whether one thing is put without a body, and deleted, and nothing else changes it there. */
function isPutBare(ofOne: readonly SourceOperation[] = []): boolean {
  const putting = ofOne.find(({ method }) => method === 'PUT');
  const methods = ofOne.map(({ method }) => method);
  return putting !== undefined && putting.body === undefined && methods.includes('DELETE') && !methods.includes('PATCH');
}

function makesHere(context: InferenceContext, collection: Collection): boolean {
  const making = (context.byPath.get(collection.path) ?? []).find(({ method }) => method === 'POST');
  return making !== undefined && !namesOne(context, making, collection);
}

/** A request that names a thing which is there, and says little else of it. */
function namesOne(context: InferenceContext, operation: SourceOperation, { parameter, resource }: Collection): boolean {
  const { request } = endpointOf(context, operation);
  const forms = context.written.alternativesOf(request) ?? (request === undefined ? [] : [request]);
  const sent = forms.map((form) => context.written.propertiesOf(form)).find((one) => one !== undefined);
  if (sent === undefined) return false;
  const names = new Set(['id', parameter, `${singular(wordsOfName(resource).at(-1) ?? '')}_id`, 'ids']);
  const word = pathParts(operation.path).segments.at(-1) ?? '';
  const isListed = (name: string) => name === word && isPlain(context, context.written.itemsOf(sent.all[name]));
  // What only answers have, in a shape that is sent and answered alike, names nothing.
  const isAnswered = (name: string) => context.written.expand(sent.all[name]).readOnly === true;
  const naming = Object.keys(sent.all).filter((name) => (names.has(name) && !isAnswered(name)) || isListed(name));
  return naming.length > 0 && Object.keys(sent.all).length <= 3;
}

/** A text or a number: `labels: [1, 2]` names labels. */
function isPlain({ written }: InferenceContext, shape: Json | undefined): boolean {
  return shape !== undefined && ['string', 'integer', 'number'].includes(written.typeOf(shape) ?? '');
}

function depthOf(path: string): number {
  return path.split('{}').length;
}

/** Whether the last segment of a path is the name of a resource, in one of its usual forms. */
export function isCalledAfter(path: string, resource: string): boolean {
  const letters = (name: string) => wordsOfName(name).map(singular).join('');
  const last = letters(pathParts(path).segments.at(-1) ?? '');
  return last !== '' && letters(resource).includes(last);
}

/** `POST /templates/{template}`, called `Duplicate a template`. */
export function isCalledCopy({ map, id, path }: SourceOperation): boolean {
  const { summary } = map.value;
  return isCopying(path) || [String(summary ?? ''), id ?? ''].some((name) => isCopyWord(wordsOfName(name)[0] ?? ''));
}

/** `/users/{user}/groups` beside `PUT /groups/{group}/users/{user}`, where nothing is sent: the other end of what is bound there. */
export function isBoundFromThere({ operations }: InferenceContext, { path }: SourceOperation): boolean {
  const [owner, parameter, word] = pathParts(path).segments.slice(-3);
  if (owner === undefined || word === undefined || wholeParameter(parameter) === undefined) return false;
  const other = `/${word}/{}/${owner}/{}`;
  return operations.some(({ method, body, path: one }) => method === 'PUT' && !body && shapeOfPath(one).endsWith(other));
}

/** `POST /boards/{board}/messages` makes what `/messages/{message}` shows, whatever either calls the shape of a message. */
export const nestedCollection: InferenceRule = {
  name: 'nested-collection',
  says: 'A path that ends in the same word as that of a collection, and where POST answers with a thing of nearly the same fields, or takes one and answers with nothing that is described, and a list there shows such, is about the same things.',
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
  const told = answerTo('POST');
  const made = shownRowOf(written, told, 'id');
  const listed = listIn(written, answerTo('GET'), undefined)?.items;
  // Where nothing is said of what is answered, what is sent and the list say it; a word that is sent binds what is there.
  const posting = operations.find(({ method }) => method === 'POST');
  const sent = posting && told === undefined ? shownRowOf(written, endpointOf(context, posting).request, 'id') : undefined;
  const isSilent = sent !== undefined && listed !== undefined && isAlike(context, sent.shape, resource);
  if (!isSilent && (!made || !isAlike(context, made.shape, resource))) return false;
  return listed === undefined || isAlike(context, listed, resource);
}

/** Whether a shape has the identifier of a resource and nearly all of its fields, or they nearly all of its. */
export function isAlike(
  context: InferenceContext,
  shape: Parameters<typeof shownRowOf>[1],
  resource: string,
  least = alikeLeast,
): boolean {
  const { written, resources } = context;
  if (written.resourceOf(shape) === resource) return true;
  const entry = resources[resource];
  const [fields, others] = [documentFields(resources, resource), written.propertiesOf(shape)?.all ?? {}];
  if (!isMap(entry) || !isMap(entry.identifier) || !Object.hasOwn(others, String(entry.identifier.field))) return false;
  const shared = Object.keys(others).filter((name) => isSameType(context, fields[name], others[name])).length;
  const fewer = Math.min(Object.keys(fields).length, Object.keys(others).length);
  return (shared >= 3 && shared >= least * fewer) || (shared === 2 && fewer === 2);
}

const alikeLeast = 0.8;

/** How much of them two shapes of one thing share at least where a name says that they are of it. */
export const namedAlikeLeast = 0.5;

function isSameType({ written }: InferenceContext, one: Parameters<typeof shownRowOf>[1], other: typeof one): boolean {
  return one !== undefined && other !== undefined && written.typeOf(one) === written.typeOf(other);
}
