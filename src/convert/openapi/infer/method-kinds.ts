/** Which things methods are about, as what they ask for and answer with shows. */

import type { Json } from '../../../document/document.ts';
import type { SourceOperation } from '../read/operation.ts';
import { endpointOf, type InferenceContext, shapeOfAnswer, successOf } from './context.ts';
import { type Methods, type ToldMembers, toldTogether } from './method-members.ts';
import { creates, deletes, reads } from './method-verbs.ts';
import { singular } from './paths.ts';
import { resourceNamedByPath } from './resources.ts';
import { shownRowOf } from './rows.ts';

/** The things of some methods, and what says which one is meant. */
export interface Kind {
  readonly resource: string;
  /** The parameter that names one of them. */
  readonly parameter: string;
  /** All members of a body that name one, that parameter first, where they were looked for together. */
  readonly members?: readonly string[];
}

/** What reading one shows, else making one, else listing them. */
export function kindOfMethods(context: InferenceContext, noun: string, methods: Methods): Kind | undefined {
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
  const own =
    (isOfWords ? namedByReading(context, word, methods) : undefined) ?? namedByMember(context, word, methods, isOfWords);
  return own ?? (isOfWords ? ofTold(context, word, toldTogether(context, word, methods)) : undefined);
}

/** The resource that a thing which is told by members of bodies is. */
function ofTold(context: InferenceContext, noun: string, told: ToldMembers | undefined): Kind | undefined {
  if (!told) return undefined;
  const resource = told.row.resource ?? resourceNamedByPath(told.row, noun, told.shownBy, told.status, context);
  const isOther = [...context.collections.values()].some((known) => known.resource === resource);
  const [parameter] = told.members;
  return resource === undefined || isOther ? undefined : { resource, parameter, members: told.members };
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
