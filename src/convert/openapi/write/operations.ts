import type { Json, JsonMap } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, isSame, isStanding, newMap, type OpenMap } from '../../../document/values.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { entriesOf, entryOf, isStated, statedValue } from '../../../parts/fact.ts';
import { callableOperations, type Operation, resourceOfEffect } from '../../../parts/operations.ts';
import { identifierParameter, pathParameters } from '../../../parts/payload.ts';
import { fitsAny } from '../../../parts/shapes/branches.ts';
import type { Spec } from '../../../parts/spec.ts';
import { machinesOf } from '../../../parts/states.ts';
import { titleOf } from '../../spec/operation-names.ts';
import { followsKey, formKey, orRefused, prefix, statedKey } from '../own/words.ts';
import { answerResponses } from './answers.ts';
import { callbacksOf } from './events.ts';
import { writeParameters } from './parameters.ts';
import { phraseOf } from './phrases.ts';
import { type RefusalBody, refusalResponses } from './refusals.ts';
import { securityOf } from './security.ts';
import { statedSchema, writeDeprecated } from './stated-schema.ts';
import { type ExportWriting, present, statedAt } from './writing.ts';

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
