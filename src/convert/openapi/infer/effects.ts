import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { isChangedHere, isPartial } from './changes.ts';
import {
  type Collection,
  collectionAt,
  collectionOfItem,
  endpointOf,
  hasSibling,
  type InferenceContext,
  type InferenceRule,
  placeOfEndpoint,
  shapeOfAnswer,
  successOf,
} from './context.ts';
import { isCalledChange, isCalledCreation, isCalledUpsert, isMadeElsewhere, isNamedCreation, makesOne } from './creations.ts';
import { asCalled, confidenceOf, showsManyForOne } from './doubts.ts';
import { isBoundByPut, isBoundFromThere, isCalledAfter, isCalledCopy, isMembership } from './memberships.ts';
import { isVerb, reads } from './method-verbs.ts';
import { isCopying, pathParts, shapeOfPath, wholeParameter, wordsOfName } from './paths.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/** Says what an endpoint does, unless that is known, or its path names what the resource cannot hold. */
export function infer(
  context: InferenceContext,
  operation: SourceOperation,
  verb: string,
  resource: string,
  rule: string,
  usual: number,
  asked?: string,
): boolean {
  const confidence = asCalled(context, operation, usual);
  const identity = asked ?? (ofOne.has(verb) ? identityIn(context, operation, resource) : undefined);
  const endpoint = endpointOf(context, operation);
  if (endpoint.does !== undefined || isVariant(context, operation) || !canBind(context, operation, verb, resource, identity))
    return false;
  const { as, ...rest } = endpoint;
  for (const key of Object.keys(endpoint)) delete endpoint[key];
  Object.assign(
    endpoint,
    { does: `${verb} ${resource}` },
    as !== undefined && { as },
    identity !== undefined && { identity },
    rest,
  );
  const at = placeOfEndpoint(operation);
  context.trail.infer(below(at, 'does'), rule, operation.map.at, confidence);
  if (identity !== undefined) context.trail.infer(below(at, 'identity'), rule, operation.map.at, confidence);
  return true;
}

/** What a path says of the thing that it is about, or that it asks something of: `/projects/{projectsId}/topics/{topicsId}:cut`. */
function identityIn(context: InferenceContext, operation: SourceOperation, resource: string): string | undefined {
  const own = collectionOfItem(context, operation);
  if (own) return own.identity;
  const { segments } = pathParts(operation.path);
  const end = segments.findLastIndex((segment) => wholeParameter(segment) !== undefined);
  const above = end < 1 || end < segments.length - 2 ? undefined : collectionAt(context, `/${segments.slice(0, end).join('/')}`);
  return above?.resource === resource ? above.identity : undefined;
}

/** `POST /chats#stream` beside `POST /chats`: a key of the same operation that says something special of it. */
function isVariant({ byPath }: InferenceContext, { path, method }: SourceOperation): boolean {
  const whole = path.replace(/#.*$/, '');
  return path !== whole && (byPath.get(shapeOfPath(path)) ?? []).some((other) => other.path === whole && other.method === method);
}

/** The parameters of a path that have to be fields of the resource that its operation is about. */
export function boundParameters(operation: Pick<SourceOperation, 'path'>, verb: string, identity?: string): string[] {
  const { parameters } = pathParts(operation.path);
  const isSaid = (name: string) => identity?.split(/\W+/).includes(name) ?? false;
  return ofOne.has(verb) && identity === undefined ? parameters.slice(0, -1) : parameters.filter((name) => !isSaid(name));
}

const ofOne: ReadonlySet<string> = new Set(['read', 'update', 'replace', 'delete', 'upsert']);

/** Every parameter is a field that one word can be compared with, or none yet, or the identity speaks of it. */
function canBind(
  context: InferenceContext,
  operation: SourceOperation,
  verb: string,
  resource: string,
  identity: string | undefined,
): boolean {
  const { parameters } = pathParts(operation.path);
  if (ofOne.has(verb) && identity === undefined && parameters.length === 0) return false;
  const entry = context.resources[resource];
  if (!isMap(entry) || !isMap(entry.identifier) || !isMap(entry.fields)) return false;
  const fields = documentFields(context.resources, resource);
  // What a path names besides is not what tells the thing itself from others.
  const isCopied = verb === 'create' && isCalledCopy(operation);
  if (!isCopied && boundParameters(operation, verb, identity).includes(String(entry.identifier.field))) return false;
  return boundParameters(operation, verb, identity).every(
    (name) => identity?.includes(name) || !Object.hasOwn(fields, name) || isWord(context, fields[name]),
  );
}

function isWord(context: InferenceContext, shape: Parameters<InferenceContext['written']['typeOf']>[0]): boolean {
  const type = context.written.typeOf(shape);
  if (type === 'string' || type === 'integer' || type === 'number') return true;
  return context.written.alternativesOf(shape)?.some((one) => context.written.typeOf(one) === 'string') ?? false;
}

export const postCreates: InferenceRule = {
  name: 'post-creates',
  says: 'POST on the path of a collection makes one of its things, unless it is called a reading (`getToysInBatch`); so does one elsewhere that answers 201 with a known resource, and a PUT there that need not say which one where nothing else makes them; and a POST on one thing that is called a copy. A POST on one thing that is called its creation, beside what reads it and what changes or deletes it, makes it under that name where nothing else makes such things; PUT on the path of a collection makes one where it is called a creation and nothing is sent there by POST.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'POST') continue;
      const own = collectionAt(context, operation.path);
      if (own) {
        const isMember = isMembership(context, own, operation);
        if (makesOne(context, operation, own.resource) && !isMember)
          infer(context, operation, 'create', own.resource, postCreates.name, 0.9);
        continue;
      }
      const { last } = pathParts(operation.path);
      const copied = isCalledCopy(operation) ? collectionOfItem(context, operation) : undefined;
      if (copied) infer(context, operation, 'create', copied.resource, postCreates.name, 0.7);
      const named = madeUnderName(context, operation);
      if (named !== undefined) infer(context, operation, 'upsert', named, postCreates.name, 0.7);
      const made = last === undefined ? madeBy(context, operation) : undefined;
      if (made !== undefined && !isActOn(context, operation, made))
        infer(context, operation, 'create', made, postCreates.name, 0.6);
    }
  },
};

/** `POST /deploys/{deploy}/cancel`, which answers with the deploy; `…/copy` makes another. */
function isActOn(context: InferenceContext, { path }: SourceOperation, resource: string): boolean {
  const { segments } = pathParts(path);
  if (wholeParameter(segments.at(-2)) === undefined) return false;
  const owner = collectionAt(context, `/${segments.slice(0, -2).join('/')}`);
  return owner?.resource === resource && !isCopying(path) && !isCalledAfter(path, resource);
}

/** The resource whose thing a POST makes under the name that it is sent to. */
function madeUnderName(context: InferenceContext, operation: SourceOperation): string | undefined {
  const collection = collectionOfItem(context, operation);
  if (!collection || isMadeElsewhere(context, collection) || !makesOne(context, operation, collection.resource)) return undefined;
  const isOfOne =
    hasSibling(context, operation, 'GET') && ['PUT', 'PATCH', 'DELETE'].some((one) => hasSibling(context, operation, one));
  return isOfOne && isCalledCreation(operation, collection) ? collection.resource : undefined;
}

/** The resource that an operation says was created. */
function madeBy(context: InferenceContext, operation: SourceOperation): string | undefined {
  const endpoint = endpointOf(context, operation);
  if (successOf(endpoint) !== '201') return undefined;
  const shape = shapeOfAnswer(endpoint, '201');
  const kept = new Set([...context.collections.values()].map(({ resource }) => resource));
  const shown = [
    context.written.resourceOf(shape),
    shownRowOf(context.written, shape, 'id')?.resource,
    context.written.resourceOf(listIn(context.written, shape, undefined)?.items),
  ];
  return shown.find((one) => one !== undefined && kept.has(one));
}

export const getOneReads: InferenceRule = {
  name: 'get-one-reads',
  says: 'GET or HEAD on one thing of a collection reads it, unless it answers 204, or only tells whether the thing is bound there.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'GET' && operation.method !== 'HEAD') continue;
      const collection = collectionOfItem(context, operation);
      // `/flags/{project}/{flag}`: what is one step above it, and answers with a list, is the collection of flags.
      const own = collectionAt(context, operation.path);
      if (!collection || (own && showsManyForOne(context, operation, own))) continue;
      if (operation.method === 'GET' && onlyTells(context, operation, collection)) continue;
      const confidence = confidenceOf(context, operation, collection, 0.95);
      infer(context, operation, 'read', collection.resource, getOneReads.name, confidence);
    }
  },
};

/** `GET /likes/{video}`, which answers 204, and `GET /albums/{album}/videos/{video}` tell whether the thing is there, which is bound there by PUT. */
function onlyTells(context: InferenceContext, operation: SourceOperation, collection: Collection): boolean {
  const endpoint = endpointOf(context, operation);
  const isEmpty = shapeOfAnswer(endpoint, successOf(endpoint)) === undefined && successOf(endpoint) === '204';
  return isEmpty || isBoundByPut(context, collection);
}

export const getManyLists: InferenceRule = {
  name: 'get-many-lists',
  says: 'GET that answers with a list, on the path of a collection or on one whose list shows a known resource, lists it, unless the things are bound there from the other end.',
  infer(context) {
    for (const operation of context.operations) {
      if (operation.method !== 'GET') continue;
      const { segments, parent } = pathParts(operation.path);
      const endpoint = endpointOf(context, operation);
      const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), segments.at(-1));
      if (list === undefined) continue;
      const own = collectionAt(context, operation.path);
      const shown = context.written.resourceOf(list.items);
      const above = collectionAt(context, parent);
      if (own && isMembership(context, own)) continue;
      if (own) infer(context, operation, 'list', own.resource, getManyLists.name, confidenceOf(context, operation, own, 0.95));
      else if (shown === undefined || !isKept(context, shown) || isCalledWriting(operation)) continue;
      else if (above === undefined && isBoundFromThere(context, operation)) continue;
      else if (above === undefined) infer(context, operation, 'list', shown, getManyLists.name, 0.7);
      else if (above.resource === shown && isNarrowedByFields(context, operation, shown)) {
        infer(context, operation, 'list', shown, getManyLists.name, 0.6);
      }
    }
  },
};

/** `/#Action=ModifyVolume`, whatever the method. */
function isCalledWriting({ path }: SourceOperation): boolean {
  const [verb = '', ...noun] = path.includes('#') ? wordsOfName(pathParts(path).segments.at(-1) ?? '') : [];
  return noun.length > 0 && isVerb(verb) && verb !== 'list' && !reads.has(verb);
}

function isKept({ resources }: InferenceContext, name: string): boolean {
  const resource = resources[name];
  return isMap(resource) && isMap(resource.identifier);
}

/** A search by words of its own is no list that fields narrow. */
function isNarrowedByFields(context: InferenceContext, { parameters }: SourceOperation, resource: string): boolean {
  const fields = documentFields(context.resources, resource);
  const queries = parameters.filter((parameter) => parameter.in === 'query');
  return queries.length > 0 && queries.every(({ name }) => Object.hasOwn(fields, name));
}

export const putReplaces: InferenceRule = {
  name: 'put-replaces',
  says: 'PUT on one thing that is no change in part replaces it, or makes it where it may answer 201 as well, nothing else makes such things, or its own words say so (`upsert`, `create or update`); without a body, among the things of another that are made elsewhere, it binds one.',
  infer(context) {
    for (const operation of context.operations) {
      const collection = operation.method === 'PUT' ? collectionOfItem(context, operation) : undefined;
      // What is put among the things of another, and says nothing of itself, is bound to it: `PUT /groups/{group}/users/{user}`.
      if (!collection || (operation.body === undefined && isMembership(context, collection))) continue;
      const endpoint = endpointOf(context, operation);
      if (!makesOne(context, operation, collection.resource)) continue;
      const makes = isMap(endpoint.response) && Object.hasOwn(endpoint.response, '201') && successOf(endpoint) !== '201';
      const isNamed = isCalledUpsert(operation) || (!makes && !isMadeElsewhere(context, collection));
      infer(context, operation, makes || isNamed ? 'upsert' : 'replace', collection.resource, putReplaces.name, 0.8);
    }
  },
};

export const patchUpdates: InferenceRule = {
  name: 'patch-updates',
  says: 'PATCH on one thing changes it; so does POST, or a PUT that requires less than all, where nothing else does, and a POST beside these that is called an update and answers with the thing. PATCH or PUT among things changes the one that the body names; below another thing, where POST makes them there and no path of one changes it.',
  infer(context) {
    for (const operation of context.operations) {
      const { method } = operation;
      // A list of changes (RFC 6902) is none of the fields.
      const collection = collectionOfItem(context, operation);
      if (!makesOne(context, operation, (collection ?? collectionAt(context, operation.path))?.resource ?? '')) continue;
      if (!collection) {
        updateByBody(context, operation);
        continue;
      }
      const confidence = confidenceOf(context, operation, collection, 0.95);
      if (method === 'PATCH') infer(context, operation, 'update', collection.resource, patchUpdates.name, confidence);
      else if (
        method === 'POST' &&
        operation.body &&
        !hasSibling(context, operation, 'PATCH') &&
        !hasSibling(context, operation, 'PUT')
      ) {
        infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.85);
      } else if (method === 'POST' && isCalledChange(context, operation, collection.resource)) {
        infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.7);
      } else if (method === 'PUT' && isPartial(context, operation)) {
        infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.8);
      }
    }
  },
};

/** A change on the path of a collection is of the thing that its body names. */
function updateByBody(context: InferenceContext, operation: SourceOperation): void {
  if (operation.method !== 'PUT' && operation.method !== 'PATCH') return;
  const collection = collectionAt(context, operation.path);
  if (collection && isNamedCreation(operation) && !hasSibling(context, operation, 'POST')) {
    infer(context, operation, 'create', collection.resource, postCreates.name, 0.7);
    return;
  }
  const resource = collection && context.resources[collection.resource];
  if (!collection || !isMap(resource) || !isMap(resource.identifier)) return;
  const field = String(resource.identifier.field);
  const sent = context.written.propertiesOf(endpointOf(context, operation).request);
  if (sent?.all[field] === undefined || !isChangedHere(context, operation)) return;
  // A whole thing that is put among others, and does not have to say which one it is, is a new one where nothing else makes them.
  const isNew = operation.method === 'PUT' && !sent.required.includes(field) && !isMadeElsewhere(context, collection);
  if (isNew) {
    infer(context, operation, 'create', collection.resource, postCreates.name, 0.6);
    return;
  }
  const nothing = context.written.typeOf(sent.all[field]) === 'string' ? "''" : '0';
  const said = `request.${field}`;
  const identity = sent.required.includes(field) ? said : `has(${said}) ? ${said} : ${nothing}`;
  infer(context, operation, 'update', collection.resource, patchUpdates.name, 0.6, identity);
}
