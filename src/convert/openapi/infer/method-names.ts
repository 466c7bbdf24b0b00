import type { Json } from '../../../document/document.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { infer } from './effects.ts';
import { isAlike } from './memberships.ts';
import { pathParts, singular, wordsOfName } from './paths.ts';
import { resourceNamedByPath } from './resources.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/** `/conversations.info?channel=C1`: a method of a kind of things, which names one of them by a parameter of the request. */
export const methodNames: InferenceRule = {
  name: 'method-names',
  says: 'A path that ends in `things.verb`, or is POST and ends in `things/verb` or `verb-thing`, does what the verb says to the things whose row its answers hold; a parameter named after them, or the one member that reading asks for and shows, says which one.',
  infer(context) {
    for (const [noun, methods] of methodsByNoun(context)) {
      const kind = context.collections.get(keyOf(noun));
      if (kind === undefined) continue;
      for (const [verb, operation] of methods) inferMethod(context, operation, verb, kind);
    }
  },
};

/** The kinds of things that dotted paths speak of, found before anything is said of what their methods do. */
export const thingsOfMethods: InferenceRule = {
  name: 'things-of-methods',
  says: 'The things of dotted paths such as `conversations.info` are the resource that the answers of these methods hold.',
  infer(context) {
    for (const [noun, methods] of methodsByNoun(context)) {
      const kind = rowsOf(context, noun, methods);
      if (kind) context.collections.set(keyOf(noun), { path: keyOf(noun), parameter: kind.parameter, resource: kind.resource });
    }
  },
};

interface Kind {
  readonly resource: string;
  /** The parameter that names one of them. */
  readonly parameter: string;
}

type Methods = readonly (readonly [verb: string, SourceOperation])[];

/** A key that no path has. */
function keyOf(noun: string): string {
  return `${noun}.*`;
}

/** What dotted paths, `POST /pets/get` and `POST /inbound/add-route` are called like, by what they speak of. */
function methodsByNoun({ operations }: InferenceContext): Map<string, Methods> {
  const groups = new Map<string, [string, SourceOperation][]>();
  const bare: [string, SourceOperation][] = [];
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
    if (operation.method !== 'POST') continue;
    // A word that HTTP has a method for, called as a method of its own.
    if (segments.length > 1 && isVerb(last)) put(segments.at(-2) ?? '', last, operation);
    else {
      const [verb = '', ...noun] = wordsOfName(last);
      const [things, thing] = [noun.join('_'), singular(noun.join('_'))];
      // `DescribeVolumes` reads several.
      if (isVerb(verb) && noun.length > 0)
        put(`${parent}/${thing}`, reads.has(verb) && thing !== things ? 'list' : verb, operation);
      else bare.push([`${parent}/${singular(wordsOfName(last).join('_'))}`, operation]);
    }
  }
  // `POST /inbound/routes` beside them lists them.
  for (const [noun, operation] of bare) if (groups.has(noun)) put(noun, 'list', operation);
  return groups;
}

/** What reading one shows, else making one, else listing them. */
function rowsOf(context: InferenceContext, noun: string, methods: Methods): Kind | undefined {
  const { written } = context;
  const of = (verbs: ReadonlySet<string>) => methods.filter(([verb]) => verbs.has(verb)).map(([, operation]) => operation);
  const word = noun.slice(noun.lastIndexOf('/') + 1);
  const isOfWords = word !== noun;
  for (const operation of [...of(reads), ...of(creates)]) {
    const endpoint = endpointOf(context, operation);
    const shape = shapeOfAnswer(endpoint, successOf(endpoint));
    const row = isOfWords ? undefined : shownRowOf(written, shape, 'id');
    if (row?.resource !== undefined) return { resource: row.resource, parameter: row.wrapper ?? singular(noun) };
    // `wallet_id` of `/wallet/get`.
    const parameter = `${singular(word)}_id`;
    const named = shownRowOf(written, shape, parameter);
    if (named?.resource !== undefined && Object.hasOwn(written.propertiesOf(named.shape)?.all ?? {}, parameter))
      return { resource: named.resource, parameter };
  }
  // What making one is answered with may be its name alone.
  return (isOfWords ? namedByReading(context, word, methods) : undefined) ?? namedByMember(context, word, methods, isOfWords);
}

/** `{ KeyId }` of `/DescribeKey`, which is answered with what has a `KeyId`: the one member that reading asks for and what it shows has. */
function namedByReading(context: InferenceContext, noun: string, methods: Methods): Kind | undefined {
  const { written } = context;
  const reading = methods.find(([verb]) => reads.has(verb))?.[1];
  const endpoint = reading && endpointOf(context, reading);
  const status = endpoint && successOf(endpoint);
  const sent = endpoint && written.propertiesOf(endpoint.request);
  if (!reading || !endpoint || !sent || status === undefined) return undefined;
  const found = sent.required.flatMap((name) => {
    const isScalar = ['string', 'integer'].includes(written.typeOf(sent.all[name]) ?? '');
    const row = isScalar ? shownRowOf(written, shapeOfAnswer(endpoint, status), name, noun) : undefined;
    return row && Object.hasOwn(written.propertiesOf(row.shape)?.all ?? {}, name) ? [{ name, row }] : [];
  });
  const [only] = found;
  if (!only || found.length > 1) return undefined;
  const resource = only.row.resource ?? resourceNamedByPath(only.row, noun, reading, status, context);
  const isOther = [...context.collections.values()].some((known) => known.resource === resource);
  return resource === undefined || isOther ? undefined : { resource, parameter: only.name };
}

/**
 * `{ name }` of `/templates/info` and `/templates/delete`, which are answered with what has a `name`: the one member that all methods about one of them ask for,
 * and that one which lists them, or makes none, does not; a key that all ask for is a credential.
 */
function namedByMember(context: InferenceContext, noun: string, methods: Methods, isOfWords: boolean): Kind | undefined {
  const { written } = context;
  const sentTo = (operation: SourceOperation) => written.propertiesOf(endpointOf(context, operation).request)?.all ?? {};
  const ofOne = methods.filter(([verb]) => reads.has(verb) || deletes.has(verb)).map(([, operation]) => operation);
  const making = methods.find(([verb]) => creates.has(verb))?.[1];
  const listing = methods.find(([verb]) => verb === 'list')?.[1];
  const [first] = ofOne;
  if (!first || (!making && !listing)) return undefined;
  const isAlwaysAsked = (name: string) =>
    context.operations.every((one) => one.method !== 'POST' || Object.hasOwn(sentTo(one), name));
  const shown = making ?? first;
  const status = successOf(endpointOf(context, shown));
  const shape = shapeOfAnswer(endpointOf(context, shown), status);
  const fields = written.propertiesOf(shape)?.all ?? {};
  const isScalar = (one: Json | undefined) => ['string', 'integer'].includes(written.typeOf(one) ?? '');
  const names = Object.keys(sentTo(first)).filter(
    (name) =>
      isScalar(fields[name]) && ofOne.every((one) => Object.hasOwn(sentTo(one), name)) && (!listing || !isAlwaysAsked(name)),
  );
  const [name] = names;
  if (name === undefined || names.length > 1 || shape === undefined || status === undefined) return undefined;
  const resource = written.resourceOf(shape) ?? resourceNamedByPath({ resource: undefined, shape }, noun, shown, status, context);
  // What answers with something else that paths speak of changes that: `add-role`, which answers with the user.
  const isOther = isOfWords && [...context.collections.values()].some((known) => known.resource === resource);
  return resource === undefined || isOther ? undefined : { resource, parameter: name };
}

function isVerb(word: string): boolean {
  return word === 'list' || [reads, creates, deletes, updates].some((verbs) => verbs.has(word));
}

const reads: ReadonlySet<string> = new Set(['info', 'get', 'retrieve', 'show', 'read', 'describe']);
const creates: ReadonlySet<string> = new Set(['create', 'add', 'new']);
const deletes: ReadonlySet<string> = new Set(['delete', 'remove', 'destroy']);
const updates: ReadonlySet<string> = new Set(['update', 'edit', 'rename']);

function inferMethod(context: InferenceContext, operation: SourceOperation, verb: string, { resource, parameter }: Kind): void {
  const endpoint = endpointOf(context, operation);
  const rule = methodNames.name;
  const identity = identityOf(context, operation, parameter);
  if (creates.has(verb)) infer(context, operation, 'create', resource, rule, 0.8);
  else if (verb === 'list') {
    const list = listIn(context.written, shapeOfAnswer(endpoint, successOf(endpoint)), undefined);
    const isOfKind = list && (context.written.resourceOf(list.items) === resource || isAlike(context, list.items, resource));
    if (isOfKind) infer(context, operation, 'list', resource, rule, 0.8);
  } else if (identity === undefined) return;
  else if (reads.has(verb)) infer(context, operation, 'read', resource, rule, 0.8, identity);
  else if (deletes.has(verb)) infer(context, operation, 'delete', resource, rule, 0.8, identity);
  else if ((updates.has(verb) || answersWithRow(context, operation, resource)) && sendsFields(context, operation, resource)) {
    infer(context, operation, 'update', resource, rule, updates.has(verb) ? 0.7 : 0.4, identity);
  }
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
