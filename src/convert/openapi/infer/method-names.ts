import type { Json } from '../../../document/document.ts';
import type { SourceOperation } from '../read/operation.ts';
import { movesState } from './actions.ts';
import { type Collection, endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { infer } from './effects.ts';
import { isAlike, namedAlikeLeast } from './memberships.ts';
import { kindOfMethods } from './method-kinds.ts';
import { isToldBy, keepMembers, type Methods, makes } from './method-members.ts';
import { creates, deletes, isVerb, launches, reads, updates, upserts } from './method-verbs.ts';
import { pathParts, singular, wordsOfName } from './paths.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/** `/conversations.info?channel=C1`: a method of a kind of things, which names one of them by a parameter of the request. */
export const methodNames: InferenceRule = {
  name: 'method-names',
  says: 'A path that ends in `things.verb`, or is POST and ends in `things/verb` or `verb-thing`, does what the verb says to the things whose row its answers hold; a parameter named after them, the one member that reading asks for and shows, or the members that all methods about one of them ask for, say which one. What starts, requests or registers a thing makes it where its answer tells a new one, and an act that is called like a state of the thing moves it there.',
  infer(context) {
    for (const [noun, methods] of methodsByNoun(context)) {
      const kind = context.collections.get(keyOf(noun));
      if (kind === undefined) continue;
      const isOnly = !methods.some(([verb]) => makes(verb));
      for (const [verb, operation] of methods) {
        const isNew = launches.has(verb) && isToldBy(context, operation, [kind.parameter], wordOf(noun), isOnly);
        inferMethod(context, operation, isNew ? 'create' : verb, kind);
      }
      if (kind.members) keepMembers(context, kind.resource, methods, kind.members, methodNames.name);
    }
  },
};

/** The kinds of things that dotted paths speak of, found before anything is said of what their methods do. */
export const thingsOfMethods: InferenceRule = {
  name: 'things-of-methods',
  says: 'The things of dotted paths such as `conversations.info` are the resource that the answers of these methods hold.',
  infer(context) {
    for (const [noun, methods] of methodsByNoun(context)) {
      const kind = kindOfMethods(context, noun, methods);
      if (kind) context.collections.set(keyOf(noun), { path: keyOf(noun), ...kind });
    }
  },
};

/** What things are called: the last of the key of their methods. */
function wordOf(noun: string): string {
  return noun.slice(noun.lastIndexOf('/') + 1);
}

/** A key that no path has. */
function keyOf(noun: string): string {
  return `${noun}.*`;
}

/** What dotted paths, `POST /pets/get` and `POST /inbound/add-route` are called like, by what they speak of. */
function methodsByNoun({ operations }: InferenceContext): Map<string, Methods> {
  const groups = new Map<string, [string, SourceOperation][]>();
  const bare: [string, SourceOperation][] = [];
  const acts: [string, string, SourceOperation][] = [];
  const put = (noun: string, verb: string, operation: SourceOperation): void => {
    groups.set(noun, [...(groups.get(noun) ?? []), [verb, operation]]);
  };
  for (const operation of operations) {
    const { segments, parameters, parent } = pathParts(operation.path);
    if (parameters.length > 0) continue;
    const last = segments.at(-1) ?? '';
    const dotted = /^([A-Za-z][\w.]*)\.([A-Za-z]\w*)$/.exec(last);
    if (dotted) {
      put(dotted[1] ?? '', dotted[2] ?? '', operation);
      continue;
    }
    // A word that HTTP has a method for, called as a method of its own.
    if (operation.method === 'POST' && segments.length > 1 && isVerb(last)) put(segments.at(-2) ?? '', last, operation);
    else {
      const [verb = '', ...noun] = wordsOfName(last);
      const [things, thing] = [noun.join('_'), singular(noun.join('_'))];
      // `DescribeVolumes` reads several.
      if (isVerb(verb) && noun.length > 0 && isUsual(verb, operation.method))
        put(`${parent}/${thing}`, reads.has(verb) && thing !== things ? 'list' : verb, operation);
      else if (operation.method === 'POST') {
        bare.push([`${parent}/${singular(wordsOfName(last).join('_'))}`, operation]);
        if (noun.length > 0) acts.push([`${parent}/${thing}`, verb, operation]);
      }
    }
  }
  // `POST /inbound/routes` beside them lists them, or is called the making of one.
  for (const [noun, operation] of bare) {
    const [verb = ''] = wordsOfName(operation.id ?? '');
    if (groups.has(noun)) put(noun, creates.has(verb) ? verb : 'list', operation);
  }
  for (const [noun, verb, operation] of acts) if (groups.has(noun)) put(noun, verb, operation);
  return groups;
}

/** `GET /ListPets`, `PUT /CreatePet`: whatever is sent by POST, and what else a method of HTTP is for. */
function isUsual(verb: string, method: string): boolean {
  if (method === 'GET') return verb === 'list' || reads.has(verb);
  if (method === 'DELETE') return deletes.has(verb);
  return method === 'POST' || [creates, upserts, updates].some((verbs) => verbs.has(verb));
}

function inferMethod(
  context: InferenceContext,
  operation: SourceOperation,
  verb: string,
  { resource, parameter, members }: Collection,
): void {
  const endpoint = endpointOf(context, operation);
  const rule = methodNames.name;
  const identity = identityOf(context, operation, parameter);
  if (creates.has(verb)) infer(context, operation, 'create', resource, rule, 0.8);
  else if (verb === 'list') {
    const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), undefined);
    const isOfKind =
      list &&
      (context.written.resourceOf(list.items) === resource || isAlike(context, list.items, resource, members && namedAlikeLeast));
    if (isOfKind) infer(context, operation, 'list', resource, rule, 0.8);
  } else if (identity === undefined) return;
  else if (upserts.has(verb)) infer(context, operation, 'upsert', resource, rule, 0.7, identity);
  else if (reads.has(verb)) infer(context, operation, 'read', resource, rule, 0.8, identity);
  else if (deletes.has(verb)) infer(context, operation, 'delete', resource, rule, 0.8, identity);
  else if ((updates.has(verb) || answersWithRow(context, operation, resource)) && sendsFields(context, operation, resource)) {
    infer(context, operation, 'update', resource, rule, updates.has(verb) ? 0.7 : 0.4, identity);
  } else if (movesState(context, operation, resource, verb)) infer(context, operation, 'update', resource, rule, 0.5, identity);
}

/** Where a request says which one is meant: in its query, or in its body. */
function identityOf(context: InferenceContext, operation: SourceOperation, parameter: string): string | undefined {
  const query = operation.parameters.find(({ name, in: place }) => place === 'query' && name === parameter);
  if (query)
    return query.map.value.required === true ? `params.${parameter}` : `has(params.${parameter}) ? params.${parameter} : ''`;
  const sent = context.written.propertiesOf(endpointOf(context, operation).request);
  const names = [parameter, `${parameter}_id`, `${parameter}Id`, 'id'];
  const name = names.find((one) => sent !== undefined && Object.hasOwn(sent.all, one));
  if (sent === undefined || name === undefined) return undefined;
  const nothing = context.written.typeOf(sent.all[name]) === 'integer' ? '0' : "''";
  return sent.required.includes(name) ? `request.${name}` : `has(request.${name}) ? request.${name} : ${nothing}`;
}

function answersWithRow(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const endpoint = endpointOf(context, operation);
  return shownRowOf(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), 'id')?.resource === resource;
}

/** A word sent for what is kept as a map would not be kept. */
function sendsFields(context: InferenceContext, operation: SourceOperation, resource: string): boolean {
  const fields = documentFields(context.resources, resource);
  const sent = context.written.propertiesOf(endpointOf(context, operation).request)?.all ?? {};
  return Object.entries(sent).every(([name, shape]) => !Object.hasOwn(fields, name) || isSameType(context, fields[name], shape));
}

function isSameType({ written }: InferenceContext, one: Json | undefined, other: Json): boolean {
  return written.typeOf(one) !== undefined && written.typeOf(one) === written.typeOf(other);
}
