import { standsFor } from '../../kinds/formats/all.ts';
import type { Effect } from '../../parts/effects.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { entriesOf, entryOf, type Fact, isStated, statedValue } from '../../parts/fact.ts';
import { boundByPath, requestShape } from '../../parts/payload.ts';
import type { Shape } from '../../parts/shape.ts';
import { unsettledLine } from '../unsettled.ts';
import { literal, type Names } from './names.ts';
import { filledParameters, filledProperties, parameterMembers } from './parameters.ts';
import { resourceType } from './resource-fields.ts';
import type { ResourceTypes } from './resource-types.ts';
import { isJson, responseOf } from './response-type.ts';
import { shapeType } from './shape-type.ts';
import { applied, keyOf, objectOf, type Type, undefinedType, union, unknownType, word } from './syntax.ts';
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
export function operationTypes(types: ResourceTypes, names: Names): OperationTypes[] {
  return entriesOf(types.reading.spec.endpoints.all).map(([, endpoint]) => oneOperation(endpoint, types, names));
}

/** `handler quote` is called as its handler: `Quote`. */
export function operationWord({ does, operation }: Endpoint): string {
  const effect = statedValue(does);
  return effect?.verb === 'handler' && operation === `handler ${effect.name}` ? effect.name : operation;
}

function oneOperation(endpoint: Endpoint, types: ResourceTypes, names: Names): OperationTypes {
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
  return {
    operation,
    endpoint,
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
  const view = effect?.verb === 'update' ? 'update' : 'create';
  const resource = entryOf(types.reading.spec.resources.all, name);
  const bound = view === 'update' ? [] : boundByPath(types.reading.spec, endpoint);
  if (resource && bound.length > 0) {
    const rest = resourceType(resource, view, types.reading, bound);
    if (keyOf(rest) !== keyOf(resourceType(resource, view, types.reading))) return rest;
  }
  return types.named(name, view) ?? unknownType;
}

/** A type in which what has a default is always there. */
function filled(type: Type, names: readonly string[]): Type {
  return names.length === 0 ? type : applied('Filled', type, union(names.map((name) => word(literal(name)))));
}
