/** Things that methods tell from others by members of their bodies, several of them where one thing is below another. */

import type { Json } from '../../../document/document.ts';
import { plainName } from '../../../document/nearest.ts';
import { below } from '../../../document/pointer.ts';
import { isMap } from '../../../document/values.ts';
import type { SourceOperation } from '../read/operation.ts';
import { made } from '../read/reader.ts';
import { endpointOf, type InferenceContext, placeOfEndpoint, shapeOfAnswer, successOf } from './context.ts';
import { creates, deletes, launches, reads, updates, upserts } from './method-verbs.ts';
import { documentFields, identifierOf, listIn, type ShownRow, shownRowOf } from './rows.ts';

/** The methods of one kind of things, by their verbs. */
export type Methods = readonly (readonly [verb: string, SourceOperation])[];

/** What tells one of such things from others, and where one is shown. */
export interface ToldMembers {
  /** The members of a body that say which one is meant: first what is its own, then what it is below. */
  readonly members: readonly [string, ...string[]];
  readonly row: ShownRow;
  /** Where it is shown: the operation and the status of its answer. */
  readonly shownBy: SourceOperation;
  readonly status: string;
}

/** Members that say which thing is meant: so many at most. */
const membersMost = 3;

/**
 * `{ keyspaceName, tableName }` of `/GetTable` and `/DeleteTable`: what all methods about one thing ask for, of which that is its own which it is called after, and
 * which a thing that is shown has.
 */
export function toldTogether(context: InferenceContext, noun: string, all: Methods): ToldMembers | undefined {
  const isOnly = !all.some(([verb]) => makes(verb));
  const isLaunched = ([verb, operation]: Methods[number]) =>
    launches.has(verb) &&
    all.some(([one, reading]) => reads.has(one) && isToldBy(context, operation, askedBy(context, reading), noun, isOnly));
  const methods = all.filter((one) => isOfOne(one[0]) || makes(one[0]) || one[0] === 'list' || isLaunched(one));
  const ofOne = methods.filter(([verb]) => isOfOne(verb)).map(([, operation]) => operation);
  // What is deleted, and made by methods of other names, is kept by nothing that is known.
  const isDeleted = methods.some(([verb]) => deletes.has(verb));
  const isMade = methods.some((one) => makes(one[0]) || isLaunched(one) || (one[0] === 'list' && !isDeleted));
  const [first, ...others] = ofOne.map((operation) => askedBy(context, operation));
  if (!isMade || first === undefined) return undefined;
  const shared = first.filter((name) => others.every((names) => names.includes(name)));
  const members = inOrder(shared.length > membersMost ? shared.filter((name) => isCalledAfter(name, noun)) : shared, noun);
  if (members.length === 0 || members.length > membersMost) return undefined;
  for (const [verb, operation] of [...methods].sort(([one], [other]) => rank(one) - rank(other))) {
    const status = successOf(endpointOf(context, operation));
    const shape = shapeOfAnswer(endpointOf(context, operation), status);
    const shown = verb === 'list' ? listIn(context.written, shape, undefined)?.items : shape;
    for (const own of members) {
      const row = rowTold(context, shown, own, noun);
      if (row && status !== undefined)
        return { members: [own, ...members.filter((name) => name !== own)], row, shownBy: operation, status };
    }
  }
  return undefined;
}

/** Whether a method makes things, whatever it is told. */
export function makes(verb: string): boolean {
  return creates.has(verb) || upserts.has(verb);
}

/** Whether an answer tells of a thing by what others are asked for, which the request does not have to say; or shows the whole of it, where nothing else makes any (`isOnly`). */
export function isToldBy(
  context: InferenceContext,
  operation: SourceOperation,
  members: readonly string[],
  noun: string,
  isOnly: boolean,
): boolean {
  const { written } = context;
  const endpoint = endpointOf(context, operation);
  const required = written.propertiesOf(endpoint.request)?.required ?? [];
  const shape = shapeOfAnswer(endpoint, successOf(endpoint));
  return members.some((name) => {
    const told = written.propertiesOf(shape)?.all ?? {};
    const row = rowTold(context, shape, name, noun);
    if (required.includes(name)) return isOnly && row?.wrapper !== undefined;
    return Object.hasOwn(told, name) || row !== undefined;
  });
}

function isOfOne(verb: string): boolean {
  return reads.has(verb) || deletes.has(verb) || updates.has(verb);
}

/** Where a thing is shown best: where it is read, in a list, as it is made. */
function rank(verb: string): number {
  const order = [reads.has(verb), verb === 'list', creates.has(verb), updates.has(verb)].indexOf(true);
  return order < 0 ? 4 : order;
}

/** The words and numbers that a method has to be told, in its query or its body; where it has to be told nothing, those that a body may say. */
function askedBy({ written, endpoints }: InferenceContext, { key, parameters }: SourceOperation): readonly string[] {
  const endpoint = endpoints[key];
  const sent = isMap(endpoint) ? written.propertiesOf(endpoint.request) : undefined;
  const scalars = Object.keys(sent?.all ?? {}).filter((name) => isScalar(written.typeOf(sent?.all[name])));
  const isConstant = (shape: Json | undefined) => isMap(shape) && Array.isArray(shape.enum) && shape.enum.length === 1;
  const queries = parameters
    .filter((one) => one.in === 'query' && one.map.value.required === true && !isConstant(one.schema.value))
    .map(({ name }) => name);
  const required = [...queries, ...scalars.filter((name) => sent?.required.includes(name))];
  return required.length > 0 ? required : scalars;
}

function isScalar(type: string | undefined): boolean {
  return type === 'string' || type === 'integer';
}

/** `tableName`, `tableId` and `id` of a table. */
function isCalledAfter(name: string, noun: string): boolean {
  const [member, word] = [plainName(name), plainName(noun)];
  return member.startsWith(word) || /^(?:id|arn|name)$/.test(member);
}

/** What a thing is called after first, then from the last to the first: what is named before it is above it. */
function inOrder(names: readonly string[], noun: string): string[] {
  const rest = [...names].reverse();
  return [...rest.filter((name) => isCalledAfter(name, noun)), ...rest.filter((name) => !isCalledAfter(name, noun))];
}

/** The thing in an answer that has what a member says. */
function rowTold({ written }: InferenceContext, shape: Json | undefined, member: string, noun: string): ShownRow | undefined {
  const row = shownRowOf(written, shape, member, noun);
  const properties = row && written.propertiesOf(row.shape);
  return properties && Object.keys(properties.all).length > 1 && identifierOf(written, properties, member) !== undefined
    ? row
    : undefined;
}

/** The field that a whole place is kept in. */
const placeField = 'key';

/**
 * Says that things are told apart by several members where whoever makes one names all of them; what only lists are narrowed by, and making one asks for, is kept
 * with it. Gives what a request says of the one that is meant, where that is more than one member.
 */
export function keepMembers(
  context: InferenceContext,
  resource: string,
  methods: Methods,
  members: readonly string[],
  rule: string,
) {
  const entry = context.resources[resource];
  const making = methods.filter(([verb]) => creates.has(verb) || upserts.has(verb)).map(([, operation]) => operation);
  const [maker] = making;
  if (!isMap(entry) || !isMap(entry.identifier) || !maker || making.length > 1) return;
  const { written } = context;
  const sent = written.propertiesOf(endpointOf(context, maker).request);
  const fields = made(documentFields(context.resources, resource));
  const isNamed = (name: string) => sent?.required.includes(name) && written.typeOf(sent.all[name]) === 'string';
  const above = [...members.slice(1), ...narrowedBy(context, methods)].filter(
    (name) => isNamed(name) && !Object.hasOwn(fields, name),
  );
  const at = below('/resources', resource);
  for (const name of new Set(above)) {
    fields[name] = { type: 'string', visible: 'none', set: { create: `request.${name}` } };
    context.trail.infer(below(below(at, 'fields'), name), rule, maker.map.at, 0.6);
  }
  const isPlace = members.length > 1 && members.every((name) => isNamed(name) && /^[A-Za-z_]\w*$/.test(name));
  if (!isPlace || Object.hasOwn(fields, placeField)) return;
  fields[placeField] = { type: 'string', visible: 'none', set: { create: placeOf(members, (name) => `request.${name}`) } };
  context.resources[resource] = { ...entry, identifier: { field: placeField, generate: 'client' } };
  for (const fact of [below(at, 'identifier'), below(below(at, 'fields'), placeField)])
    context.trail.infer(fact, rule, maker.map.at, 0.6);
  for (const [verb, operation] of methods) {
    const endpoint = endpointOf(context, operation);
    if (!(isOfOne(verb) || upserts.has(verb)) || endpoint.identity === undefined) continue;
    const sent = written.propertiesOf(endpoint.request);
    endpoint.identity = placeOf(members, (name) => {
      if (!sent || !Object.hasOwn(sent.all, name)) return `params.${name}`;
      return sent.required.includes(name) ? `request.${name}` : `(has(request.${name}) ? request.${name} : '')`;
    });
    context.trail.infer(below(placeOfEndpoint(operation), 'identity'), rule, operation.map.at, 0.6);
  }
}

/** What is above stands first. */
function placeOf(members: readonly string[], said: (name: string) => string): string {
  return [...members].reverse().map(said).join(" + '/' + ");
}

/** What lists of such things have to be told. */
function narrowedBy({ written, endpoints }: InferenceContext, methods: Methods): string[] {
  return methods.flatMap(([verb, { key }]) => {
    const endpoint = endpoints[key];
    const sent = verb === 'list' && isMap(endpoint) ? written.propertiesOf(endpoint.request) : undefined;
    return sent?.required.filter((name) => written.typeOf(sent.all[name]) === 'string') ?? [];
  });
}
