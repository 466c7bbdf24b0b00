import { standsFor } from '../../kinds/formats/all.ts';
import { isJson } from '../../kinds/http-token.ts';
import { pageStyle } from '../../kinds/pages/all.ts';
import { type Answer, isOfChosen } from '../../parts/answers.ts';
import type { Effect } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath, isEverShown, replacesChildren, requestShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { literal, type TypeNames, unsettledLine } from '../spec/words.ts';
import { filledParameters, filledProperties, listPagination, parameterMembers } from './parameters.ts';
import { type ResourceTypes, resourceType } from './resource-types.ts';
import { literalType, shapeType } from './shape-type.ts';
import {
  applied,
  listType,
  neverType,
  type ObjectMember,
  objectOf,
  type Type,
  typeKey,
  undefinedType,
  union,
  unknownType,
  word,
} from './syntax.ts';
import { declaration } from './write.ts';

/** One operation that an endpoint reaches, in types. */
export interface OperationTypes {
  readonly operation: string;
  readonly endpoint: Endpoint;
  readonly effect: Effect | undefined;
  /** What a caller gives as parameters; none where it has none, and whether it may give none of them. */
  readonly parameters: Type;
  readonly mayLackParameters: boolean;
  /** What is answered on success. */
  readonly response: Type;
  /** What is answered where its caller chose what is shown, and the parameter by which it does. */
  readonly chosen?: { readonly by: string; readonly type: Type };
  /** What its own code is given, defaults filled in. */
  readonly params: Type;
  /** The body as it was sent. */
  readonly request: Type;
  /** The body with its defaults filled in. */
  readonly received: Type;
  /** What its own code has to answer: the response, unless the document makes that of it. */
  readonly result: Type;
  readonly declarations: readonly string[];
}

/** The types of every operation, in the order of the document, each under its own name. */
export function operationTypes(types: ResourceTypes, names: TypeNames): OperationTypes[] {
  return entriesOf(types.reading.spec.endpoints.all).map(([, endpoint]) => oneOperation(endpoint, types, names));
}

/** `handler quote` is called as its handler: `Quote`. */
export function operationWord({ does, operation }: Endpoint): string {
  const effect = statedValue(does);
  return effect?.verb === 'handler' && operation === `handler ${effect.name}` ? effect.name : operation;
}

function oneOperation(endpoint: Endpoint, types: ResourceTypes, names: TypeNames): OperationTypes {
  const { operation } = endpoint;
  const title = operation === endpoint.key ? `\`${operation}\`` : `\`${operation}\`, \`${endpoint.key}\``;
  const declarations: string[] = [];
  const declare = (ending: string, type: Type, doc: readonly string[]): Type => {
    if (type === undefinedType) return type;
    const name = names.claim(operationWord(endpoint), ending, 'Operation');
    declarations.push(declaration(name, type, doc));
    return word(name);
  };
  const parameters = paramsType(endpoint, types);
  const params = declare('Params', parameters.type, [`The parameters of ${title}.`, ...parameters.doc]);
  const body = requestShape(types.reading.spec, endpoint);
  const request = declare('Request', requestType(endpoint, body, types), [
    `The body of ${title}.`,
    ...(isStated(body) || body.standing === 'none' ? [] : [unsettledLine('its request payload shape', body)]),
  ]);
  const answer = responseOf(endpoint, types);
  const response = declare('Response', answer.type, [`What ${title} answers.`, ...answer.doc]);
  const { select } = endpoint;
  const chosen =
    select && declare('Chosen', chosenType(endpoint, types), [`What ${title} answers where \`${select.parameter}\` is given.`]);
  return {
    operation,
    endpoint,
    ...(chosen && { chosen: { by: select.parameter, type: chosen } }),
    effect: statedValue(endpoint.does),
    parameters: params,
    mayLackParameters: parameters.mayLack,
    response,
    params: params === undefinedType ? word('object') : filled(params, filledParameters(endpoint)),
    request,
    received: isStated(endpoint.request) ? filled(request, filledProperties(endpoint.request.value)) : request,
    result: answer.result ?? response,
    declarations,
  };
}

/** The parameters as one object; none where there are none. */
function paramsType(
  endpoint: Endpoint,
  types: ResourceTypes,
): { readonly type: Type; readonly mayLack: boolean; readonly doc: readonly string[] } {
  const members = parameterMembers(endpoint, types.shapes('create'));
  const mayLack = members.every(({ optional }) => optional);
  const fact = endpoint.parameters;
  if (!isStated(fact) && fact.standing !== 'none' && !isStated(endpoint.does)) {
    return { type: objectOf(members, unknownType), mayLack, doc: [unsettledLine('its parameters', fact)] };
  }
  return { type: members.length === 0 ? undefinedType : objectOf(members), mayLack, doc: [] };
}

/** The body: the stated one, or what is sent of the resource without what the path says already. */
function requestType(endpoint: Endpoint, body: Fact<Shape>, types: ResourceTypes): Type {
  if (body.standing === 'none') return undefinedType;
  if (!isStated(body)) return unknownType;
  if (isStated(endpoint.request)) {
    const isBytes = body.value.type === 'string' && standsFor(body.value.format, 'bytes');
    const isRaw = isBytes && endpoint.consumes !== undefined && !endpoint.consumes.some(isJson);
    return isRaw ? word('Uint8Array') : shapeType(body.value, types.shapes('create'));
  }
  const effect = statedValue(endpoint.does);
  // A body that is not stated follows from a resource.
  const name = effect && 'resource' in effect ? effect.resource : '';
  if (effect && replacesChildren(types.reading.spec, effect)) return shapeType(body.value, types.shapes('create'));
  const view = effect?.verb === 'update' ? 'update' : 'create';
  const resource = entryOf(types.reading.spec.resources.all, name);
  const bound = view === 'update' ? [] : boundByPath(types.reading.spec, endpoint);
  if (resource && bound.length > 0) {
    const rest = resourceType(resource, view, types.reading, bound);
    if (typeKey(rest) !== typeKey(resourceType(resource, view, types.reading))) return rest;
  }
  return types.named(name, view) ?? unknownType;
}

/** A type in which what has a default is always there. */
function filled(type: Type, names: readonly string[]): Type {
  return names.length === 0 ? type : applied('Filled', type, union(names.map((name) => word(literal(name)))));
}

/** What an operation answers on success, and what its own code has to return for it, where that is something else. */
interface ResponseType {
  readonly type: Type;
  readonly result?: Type;
  /** What is open about it. */
  readonly doc: readonly string[];
}

/** The bodies of the stated answers of success, or the one that follows from the effect. */
function responseOf(endpoint: Endpoint, types: ResourceTypes): ResponseType {
  if (isStated(endpoint.response)) return statedResponse(endpoint, endpoint.response.value, types);
  const effect = statedValue(endpoint.does);
  if (endpoint.response.standing === 'none') return { type: undefinedType, doc: [] };
  if (!effect || effect.verb === 'handler' || effect.verb === 'reply' || endpoint.response.standing === 'any')
    return { type: unknownType, doc: [unsettledLine('its response payload shape', endpoint.response)] };
  if (effect.verb === 'delete') return { type: undefinedType, doc: [] };
  const shown = types.named(effect.resource, 'shown') ?? unknownType;
  if (effect.verb === 'list') return { type: pageType(endpoint, shown, types), doc: [] };
  const kept = effect.verb === 'read' ? keptBodies(endpoint, effect.resource, types) : [];
  if (kept.length > 0) return { type: union([shown, ...kept]), doc: [] };
  const made = effect.verb === 'create' ? withSecrets(effect.resource, shown, types) : shown;
  // What is found is shown without what was shown once.
  return { type: endpoint.exists && made !== shown ? union([made, shown]) : made, doc: [] };
}

/** A row of which its caller chose what is shown, or a page of such rows. */
function chosenType(endpoint: Endpoint, types: ResourceTypes): Type {
  const effect = statedValue(endpoint.does);
  const name = effect && 'resource' in effect ? effect.resource : '';
  const resource = entryOf(types.reading.spec.resources.all, name);
  const identifier = resource && statedValue(resource.identifier)?.field;
  const field = identifier === undefined ? undefined : entryOf(resource?.fields, identifier);
  const always = identifier !== undefined && field && isEverShown(field) ? word(literal(identifier)) : neverType;
  const shown = types.named(name, 'shown');
  const row = shown ? applied('ChosenFields', shown, always) : unknownType;
  if (effect?.verb === 'list') return pageType(endpoint, row, types);
  if (!isStated(endpoint.response)) return union([row, ...(effect?.verb === 'read' ? keptBodies(endpoint, name, types) : [])]);
  const others = endpoint.response.value.filter((answer) => isGood(answer) && !isOfChosen(endpoint, answer));
  return union([row, ...others.map((answer) => bodyOf(answer, endpoint, types))]);
}

/** What reading a row answers that was deleted and is kept. */
function keptBodies(endpoint: Endpoint, resource: string, types: ResourceTypes): Type[] {
  const answers = entryOf(types.reading.spec.resources.all, resource)?.kept?.answers ?? [];
  return answers.map((answer) => bodyOf(answer, endpoint, types));
}

function isGood({ status }: Answer): boolean {
  return /^2(\d\d|XX)$/i.test(status);
}

function statedResponse(endpoint: Endpoint, answers: readonly Answer[], types: ResourceTypes): ResponseType {
  const good = answers.filter(isGood);
  const bodies = good.map((answer) => bodyOf(answer, endpoint, types));
  const doc = good.flatMap((answer) =>
    isStated(answer.shape) || answer.shape.standing === 'none' || isEmpty(answer)
      ? []
      : [unsettledLine(`the response payload shape of ${answer.status}`, answer.shape)],
  );
  // What `data` makes of a result says nothing about the result itself.
  const isMade = good.some(({ data }) => data !== undefined);
  return { type: good.length === 0 ? undefinedType : union(bodies), doc, ...(isMade && { result: unknownType }) };
}

function bodyOf(answer: Answer, { produces }: Endpoint, types: ResourceTypes): Type {
  if (isEmpty(answer) || answer.shape.standing === 'none') return undefinedType;
  if (!isStated(answer.shape)) return unknownType;
  const shape = answer.shape.value;
  const isBytes = shape.type === 'string' && standsFor(shape.format, 'bytes');
  return isBytes && produces && !produces.some(isJson) ? word('Uint8Array') : shapeType(shape, types.shapes('shown'));
}

function isEmpty({ status }: Answer): boolean {
  return status === '204' || status === '205';
}

/** The answer that makes a thing shows what it never shows again. */
function withSecrets(name: string, shown: Type, { reading }: ResourceTypes): Type {
  const resource = entryOf(reading.spec.resources.all, name);
  const secrets = (resource ? entriesOf(resource.fields) : []).filter(
    ([, field]) =>
      field.reveal === 'once' && statedValue(field.required) === true && field.visible === undefined && !field.writeOnly,
  );
  return secrets.length === 0 ? shown : applied('Filled', shown, union(secrets.map(([field]) => word(literal(field)))));
}

/** The envelope of a page; a bare array without one. */
function pageType(endpoint: Endpoint, shown: Type, types: ResourceTypes): Type {
  const pagination = listPagination(endpoint, types.shapes('shown'));
  const items = listType(shown);
  if (pagination?.items === undefined) return items;
  const { data, style, isToldInBody, next, previous, hasMore, total, self } = pagination;
  const step = union([word(pageStyle(style).count ? 'number' : 'string'), word('null')]);
  const constants = Object.entries(data).map(([name, value]): ObjectMember => ({ name, type: literalType(value) }));
  const rest: [string | undefined, Type][] = [
    [isToldInBody ? next : undefined, step],
    [isToldInBody ? previous : undefined, step],
    [hasMore, word('boolean')],
    [total, word('number')],
    [self, word('string')],
  ];
  const members = rest.flatMap(([name, type]): ObjectMember[] => (name === undefined ? [] : [{ name, type }]));
  return objectOf([...constants, { name: pagination.items, type: items }, ...members]);
}
