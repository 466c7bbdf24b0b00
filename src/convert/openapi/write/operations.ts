import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { callableOperations, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { choosingWords, type Parameter } from '../../../parts/parameters.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { choosingShape } from '../../../parts/reach.ts';
import type { Shape } from '../../../parts/shape.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';
import { machineOn, machinesOf } from '../../../parts/states.ts';
import { componentName, titleOf } from '../../spec/words.ts';
import { followsKey, formKey, orRefused, prefix, statedKey } from '../own/stated-schema.ts';
import { answerResponses } from './answers.ts';
import { callbacksOf } from './events.ts';
import { followingParameters } from './following-parameters.ts';
import { type RefusalBody, refusalResponses } from './refusals.ts';
import { securityOf } from './security.ts';
import { statedSchema, writeDeprecated } from './stated-schema.ts';
import { type ExportWriting, phraseOf, present, statedAt } from './writing.ts';

/** One operation, with all that is stated of its endpoint and all that follows from it. */
export function operationObject(
  operation: Operation,
  endpoint: Endpoint,
  writing: ExportWriting,
  payload: RefusalBody,
  usual: Json | undefined,
): JsonMap {
  const stated = statedAt(writing.spec.document.tree, 'endpoints', endpoint.key);
  const security = securityOf(operation, writing.spec);
  const parameters = writeParameters(endpoint, writing);
  const description = writing.prose(endpoint.at).join('\n\n');
  return present({
    operationId: writing.operationId(operation),
    summary: summaryOf(operation, endpoint),
    description: description === '' ? undefined : description,
    tags: [tagOf(endpoint, writing.spec)],
    parameters: parameters.length > 0 ? parameters : undefined,
    requestBody: requestBody(endpoint, writing),
    responses: responsesOf(operation, endpoint, writing, payload),
    callbacks: callbacksOf(operation, writing),
    security: security === undefined || isSame(security, usual) ? undefined : security,
    ...carriedWords(stated),
  });
}

/** `Create parcel`; a handler by its own name; the key where the operation has no other. */
function summaryOf({ name }: Operation, { key, path, method }: Endpoint): string {
  return name === key ? `${method} ${path}` : titleOf(name.replace(/^handler /, ''));
}

/** Operations are kept together by their resource; others stand with the resource whose paths begin as theirs do, or alone. */
export function tagOf({ does, path }: Endpoint, { endpoints }: Spec): string {
  const first = firstSegment(path);
  const neighbour = entriesOf(endpoints.all).find(
    ([, other]) => firstSegment(other.path) === first && resourceOfEffect(statedValue(other.does)) !== undefined,
  )?.[1];
  const resource = resourceOfEffect(statedValue(does)) ?? resourceOfEffect(neighbour && statedValue(neighbour.does));
  return titleOf(resource ?? first?.replace(/[^\p{L}\p{N}]+/gu, ' ').trim() ?? '') || 'Service';
}

function firstSegment(path: string): string | undefined {
  return path.split(/[/?#]/).find((part) => part !== '' && !part.startsWith('{'));
}

function responsesOf(operation: Operation, endpoint: Endpoint, writing: ExportWriting, payload: RefusalBody): JsonMap {
  const out = newMap();
  const links = linksOf(endpoint, writing);
  for (const [status, response] of answerResponses(operation, endpoint, writing))
    out[status] = links && status === '201' ? { ...response, links } : response;
  for (const [status, response] of refusalResponses(operation, writing, payload)) {
    const known = out[status];
    out[status] = isMap(known) ? withRefusal(known, payload) : response;
  }
  return out;
}

/** An answer under whose status the service also refuses. */
function withRefusal(response: JsonMap, { media, schema }: RefusalBody): JsonMap {
  if (schema === undefined) return response;
  const content = isMap(response.content) ? response.content : {};
  const known = content[media];
  const refused = { ...schema, [followsKey]: true };
  const own = isMap(known) ? known : {};
  const both: JsonMap = isMap(known)
    ? { ...own, schema: { ...fitsAny([own.schema ?? {}, refused]), [formKey]: orRefused } }
    : { schema: refused, [followsKey]: true };
  return {
    ...response,
    description: `${String(response.description ?? phraseOf(200))} Refusals have this status too.`,
    content: { ...content, [media]: both },
  };
}

/** The words of an endpoint that OpenAPI has none for. */
function carriedWords(stated: Json | undefined): JsonMap {
  const out: OpenMap = newMap();
  if (stated === undefined) return out;
  if (!isMap(stated) || isStanding(stated)) return { [statedKey]: stated };
  for (const [word, value] of Object.entries(stated)) {
    if (word === 'deprecated') writeDeprecated(out, value);
    else if (!(inOwnWords.has(word) && isFilled(value))) out[prefix + word] = value;
  }
  return out;
}

const inOwnWords: ReadonlySet<string> = new Set(['parameters', 'response', 'request']);

/** Whether OpenAPI's words hold it: a map with something in it, or a shape. */
function isFilled(value: Json): boolean {
  if (value === 'none' || value === 'any') return false;
  return !isMap(value) || (!isStanding(value) && Object.keys(value).length > 0);
}

/** The body that an endpoint takes, in each of its media types; nothing where it takes none or that is open. */
function requestBody(endpoint: Endpoint, writing: ExportWriting): JsonMap | undefined {
  const { spec, schemas, examples } = writing;
  const stated = statedAt(spec.document.tree, 'endpoints', endpoint.key, 'request');
  const isOwn = stated !== undefined && isStated(endpoint.request) && !(isMap(stated) && isStanding(stated));
  const schema = isOwn ? statedSchema(stated, writing, 'create') : schemas.request(endpoint);
  if (schema === undefined) return undefined;
  const shape = statedValue(endpoint.request);
  const example = shape ? examples.ofShape(shape, 'create', 'value') : effectExample(endpoint, writing);
  const body = present({ schema, example, [followsKey]: isOwn && example !== undefined ? ['example'] : undefined });
  return {
    ...(endpoint.body !== 'optional' && { required: true }),
    content: Object.fromEntries(mediaOf(endpoint).map((media) => [media, body])),
    ...(!isOwn && { [followsKey]: true }),
  };
}

/** JSON unless stated; a change may also call itself a merge patch. */
function mediaOf({ consumes, does }: Endpoint): readonly string[] {
  if (consumes) return consumes;
  return statedValue(does)?.verb === 'update' ? ['application/json', 'application/merge-patch+json'] : ['application/json'];
}

function effectExample({ does }: Endpoint, { examples }: ExportWriting): Json | undefined {
  const effect = statedValue(does);
  if (!effect || !('resource' in effect)) return undefined;
  return examples.ofResource(effect.resource, effect.verb === 'update' ? 'update' : 'create');
}

/** Where one can go on from the answer that makes a resource: the operations on it that its first state allows, whose path the answer fills. */
function linksOf(endpoint: Endpoint, writing: ExportWriting): JsonMap | undefined {
  const effect = statedValue(endpoint.does);
  if ((effect?.verb !== 'create' && effect?.verb !== 'upsert') || isStated(endpoint.response)) return undefined;
  const resource = entryOf(writing.spec.resources.all, effect.resource);
  const identifier = resource && statedValue(resource.identifier);
  if (!resource || !identifier) return undefined;
  const fields = new Set(entriesOf(resource.fields).map(([name]) => name));
  const first = machinesOf(writing.spec.states, resource.name).flatMap(({ initial }) => initial.map(({ state }) => state));
  const links = newMap();
  for (const operation of callableOperations(writing.spec)) {
    const { endpoint: target } = operation;
    const last = target && identifierParameter(target);
    if (!target || last === undefined || operation.resource !== effect.resource || !isOpenTo(operation, first)) continue;
    const parameters = newMap();
    for (const name of pathParameters(target.path)) {
      const field = name === last ? identifier.field : name;
      if (fields.has(field)) parameters[name] = `$response.body#${below('', field)}`;
    }
    if (Object.keys(parameters).length < pathParameters(target.path).length) continue;
    const operationId = writing.operationId(operation);
    links[operationId] = { operationId, parameters, description: `${titleOf(operation.name)}.`, [followsKey]: true };
  }
  return Object.keys(links).length > 0 ? links : undefined;
}

/** Whether something may be done in one of these states; without a machine there is nothing in the way. */
function isOpenTo({ endpoint, transition }: Operation, states: readonly string[]): boolean {
  const from = transition && transition.from !== '*' ? transition.from : endpoint?.in;
  return from === undefined || states.length === 0 || from.some((state) => states.includes(state));
}

/** The parameters of an endpoint: those that are stated, then those that its path, its pages, its headers and its version bring. */
function writeParameters(endpoint: Endpoint, writing: ExportWriting): JsonMap[] {
  const stated = entriesOf(endpoint.parameters).map(([, parameter]) => statedParameter(parameter, endpoint, writing));
  const known = new Set(stated.map(({ in: place, name }) => `${String(place)} ${String(name).toLowerCase()}`));
  const own = followingParameters(endpoint, writing).filter(
    ({ in: place, name }) => !known.has(`${String(place)} ${String(name).toLowerCase()}`),
  );
  const isPath = ({ in: place }: JsonMap) => place === 'path';
  const all = [...stated, ...own.map((one) => (isPath(one) ? one : shared(one, writing)))];
  // The path's first, in its order, as readers expect them.
  return [...all.filter(isPath), ...all.filter((one) => !isPath(one))];
}

function shared(parameter: JsonMap, { components }: ExportWriting): JsonMap {
  return components.share('parameters', componentName(String(parameter.name)), parameter);
}

function statedParameter(parameter: Parameter, endpoint: Endpoint, writing: ExportWriting): JsonMap {
  const { name } = parameter;
  const stated = statedAt(writing.spec.document.tree, 'endpoints', endpoint.key, 'parameters', name);
  const words: JsonMap = isMap(stated) ? stated : newMap();
  const out = newMap();
  const follows: string[] = [];
  out.name = name;
  out.in = parameter.in;
  if (words.in === undefined) follows.push('in');
  if (parameter.in === 'path' || parameter.required) out.required = true;
  if (words.required === false) out[`${prefix}required`] = false;
  if (typeof words.description === 'string') out.description = words.description;
  if (words.deprecated !== undefined) writeDeprecated(out, words.deprecated);
  for (const [word, type] of [
    ['style', 'string'],
    ['explode', 'boolean'],
  ] as const) {
    const value = words[word];
    if (value !== undefined) out[typeof value === type ? word : `${prefix}${word}`] = value;
  }
  for (const word of ownWords) if (words[word] !== undefined) out[`${prefix}${word}`] = words[word];
  if (parameter.chooses && parameter.style !== undefined && words.style === undefined) {
    Object.assign(out, { style: parameter.style, explode: parameter.explode });
    follows.push('style', 'explode');
  }
  const own = isMap(stated) ? parameterSchema(words) : (stated ?? newMap());
  // A lone type says the same in short.
  const schema = isMap(own) && typeof own.type === 'string' && Object.keys(own).length === 1 ? own.type : own;
  const isBare = isMap(schema) && Object.keys(schema).every((word) => word === 'default');
  if (isBare) follows.push('schema');
  out.schema = isBare
    ? { ...writing.schemas.shape(followingShape(parameter, endpoint, writing), 'create'), ...(isMap(schema) ? schema : {}) }
    : statedSchema(schema, writing, 'create');
  if (isBare && isMap(schema) && schema.default !== undefined) out[`${prefix}default`] = schema.default;
  if (follows.length > 0) out[followsKey] = follows;
  return out;
}

/** The words that OpenAPI does not have. */
const ownWords = ['filters', 'op', 'sorts', 'directs', 'readOnly', ...choosingWords] as const;

const besides: ReadonlySet<string> = new Set<string>([
  ...['in', 'required', 'description', 'deprecated', 'style', 'explode'],
  ...ownWords,
]);

/** What is stated of a parameter's value. */
function parameterSchema(words: JsonMap): JsonMap {
  const schema = newMap();
  for (const [word, value] of Object.entries(words)) if (!besides.has(word)) schema[word] = value;
  return schema;
}

/** The shape that follows where none is stated: of a filter its field's, else a text. */
function followingShape(parameter: Parameter, endpoint: Endpoint, { spec }: ExportWriting): Shape {
  const { filters, op } = parameter;
  if (parameter.chooses) return choosingShape(spec, endpoint, parameter);
  if (isStated(parameter.shape)) return parameter.shape.value;
  if (filters === undefined || op === 'prefix' || op === 'contains') return { type: 'string' };
  const name = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const resource = entryOf(spec.resources.all, name);
  const field = resource && entryOf(resource.fields, filters);
  const states = statedValue(machineOn(spec.states, name, filters)?.states);
  const one: Shape = states ? { type: 'string', enum: [...states] } : ((field && statedValue(field.shape)) ?? {});
  return op === 'in' ? { type: 'array', items: one } : one;
}
