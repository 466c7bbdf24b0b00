import type { Json } from '../../../document/document.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { infer } from './effects.ts';
import { isAlike } from './nested-collections.ts';
import { pathParts, singular } from './paths.ts';
import { documentFields, listIn, shownRowOf } from './rows.ts';

/** `/conversations.info?channel=C1`: a method of a kind of things, which names one of them by a parameter of the request. */
export const methodNames: InferenceRule = {
  name: 'method-names',
  says: 'A path that ends in `things.verb` does what the verb says to the things whose row its answers hold; a parameter named after them says which one.',
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

/** A key that no path has. */
function keyOf(noun: string): string {
  return `${noun}.*`;
}

function methodsByNoun({ operations }: InferenceContext): Map<string, [verb: string, SourceOperation][]> {
  const groups = new Map<string, [string, SourceOperation][]>();
  for (const operation of operations) {
    const { segments, parameters } = pathParts(operation.path);
    if (parameters.length > 0) continue;
    const last = segments.at(-1) ?? '';
    const dotted = /^([A-Za-z][\w.]*)\.([A-Za-z]\w*)$/.exec(last);
    // `POST /pets/get`: a word that HTTP has a method for, called as a method of its own.
    const isCalled = operation.method === 'POST' && segments.length > 1 && isVerb(last);
    if (!dotted && !isCalled) continue;
    const [noun = '', verb = ''] = dotted ? dotted.slice(1) : [segments.at(-2), last];
    groups.set(noun, [...(groups.get(noun) ?? []), [verb, operation]]);
  }
  return groups;
}

/** What reading one shows, else making one, else listing them. */
function rowsOf(
  context: InferenceContext,
  noun: string,
  methods: readonly (readonly [string, SourceOperation])[],
): Kind | undefined {
  const { written } = context;
  const of = (verbs: ReadonlySet<string>) => methods.filter(([verb]) => verbs.has(verb)).map(([, operation]) => operation);
  for (const operation of [...of(reads), ...of(creates)]) {
    const endpoint = endpointOf(context, operation);
    const shape = shapeOfAnswer(endpoint, successOf(endpoint));
    const row = shownRowOf(written, shape, 'id');
    if (row?.resource !== undefined) return { resource: row.resource, parameter: row.wrapper ?? singular(noun) };
    // `wallet_id` of `/wallet/get`.
    const parameter = `${singular(noun)}_id`;
    const named = shownRowOf(written, shape, parameter);
    if (named?.resource !== undefined && Object.hasOwn(written.propertiesOf(named.shape)?.all ?? {}, parameter))
      return { resource: named.resource, parameter };
  }
  return undefined;
}

function isVerb(word: string): boolean {
  return word === 'list' || [reads, creates, deletes, updates].some((verbs) => verbs.has(word));
}

const reads: ReadonlySet<string> = new Set(['info', 'get', 'retrieve', 'show', 'read']);
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
  return sent.required.includes(name) ? `request.${name}` : `has(request.${name}) ? request.${name} : ''`;
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
