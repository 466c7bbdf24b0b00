import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { producedMedia, readResponses } from './answers.ts';
import { readParameter } from './parameters.ts';
import { isDeprecating, readStated, type SchemaReading } from './stated-schema.ts';
import { carriedWord, isFollowing, statedKey } from './words.ts';

/** One endpoint that was read back, with the pointer of its operation. */
export interface ReadEndpoint {
  readonly key: string;
  readonly stated: Json;
  readonly from: readonly string[];
}

/** What an endpoint's reader looks up. */
export interface OperationReading extends SchemaReading {
  /** What a reference to a component names. */
  readonly resolve: (value: Json) => Json;
}

/** Reads the paths of our own export back as the endpoints that were stated. */
export function readEndpoints(paths: Json | undefined, reading: OperationReading): ReadEndpoint[] {
  return Object.entries(isMap(paths) ? paths : {}).flatMap(([path, item]) =>
    isMap(item)
      ? operationsOf(item).map(({ method, operation, from }) => endpointOf(path, method, operation, [path, ...from], reading))
      : [],
  );
}

interface Found {
  readonly method: string;
  readonly operation: JsonMap;
  readonly from: readonly string[];
}

const methods: ReadonlySet<string> = new Set('get put post delete options head patch trace query'.split(' '));
const others: ReadonlySet<string> = new Set(['additionalOperations', 'x-ninefold-operations']);

function operationsOf(item: JsonMap): Found[] {
  const found = Object.entries(item).flatMap(([word, value]): Found[] => {
    if (!isMap(value)) return [];
    if (methods.has(word)) return [{ method: word.toUpperCase(), operation: value, from: [word] }];
    if (!others.has(word)) return [];
    return Object.entries(value).flatMap(([method, operation]) =>
      isMap(operation) ? [{ method, operation, from: [word, method] }] : [],
    );
  });
  return found.filter(({ operation }) => !isFollowing(operation));
}

function endpointOf(
  path: string,
  method: string,
  operation: JsonMap,
  from: readonly string[],
  reading: OperationReading,
): ReadEndpoint {
  const own = operation['x-ninefold-path'];
  const key = `${method} ${typeof own === 'string' ? own : path}`;
  return { key, stated: operation[statedKey] ?? statementOf(operation, reading), from: ['paths', ...from] };
}

function statementOf(operation: JsonMap, reading: OperationReading): JsonMap {
  const out = newMap();
  for (const [name, value] of Object.entries(operation)) {
    const word = carriedWord(name);
    if (word !== undefined && word !== 'path' && word !== 'follows') out[word] = value;
  }
  if (operation.deprecated !== undefined && out.deprecated === undefined) out.deprecated = operation.deprecated;
  if (out.deprecated !== undefined && isDeprecating(out.deprecated) && operation.deprecated !== true) delete out.deprecated;
  const parameters = readParameters(operation.parameters, reading);
  if (parameters) out.parameters = parameters;
  const body = operation.requestBody;
  if (isMap(body) && !isFollowing(body) && out.request === undefined) {
    const request = firstSchema(body.content);
    if (request !== undefined) out.request = readStated(request, reading);
  }
  readBodyFlag(out, body);
  const response = readResponses(operation.responses, reading);
  if (response) out.response = response;
  readMedia(out, 'consumes', isMap(body) && isMap(body.content) ? Object.keys(body.content) : []);
  readMedia(out, 'produces', producedMedia(operation.responses));
  return out;
}

function readParameters(parameters: Json | undefined, reading: OperationReading): JsonMap | undefined {
  const out = newMap();
  for (const one of Array.isArray(parameters) ? (parameters as readonly Json[]) : []) {
    const parameter = reading.resolve(one);
    if (!isMap(parameter) || isFollowing(parameter)) continue;
    const name = parameter['x-ninefold-name'] ?? parameter.name;
    const stated = readParameter(parameter, reading);
    if (isMap(stated)) out[String(name)] = withoutName(stated);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function withoutName(stated: JsonMap): JsonMap {
  const { name: _name, ...rest } = stated;
  return rest;
}

/** The media types stand in OpenAPI's own words; how they were written counts while these are the same. */
function readMedia(out: OpenMap, word: 'consumes' | 'produces', media: readonly string[]): void {
  const carried = out[word];
  const written = Array.isArray(carried) ? carried : carried === undefined ? [] : [carried];
  if (media.length === 0 || (carried !== undefined && written.join() === media.join())) return;
  const usual = media.every(
    (one) => one === 'application/json' || one === 'application/merge-patch+json' || one === 'application/problem+json',
  );
  if (usual && carried === undefined) return;
  if (usual && media[0] === 'application/json') delete out[word];
  else out[word] = media.length === 1 ? (media[0] ?? '') : media;
}

/** Whether a request may go without its body, as OpenAPI's own flag says. */
function readBodyFlag(out: OpenMap, body: Json | undefined): void {
  if (!isMap(body)) return;
  if (body.required !== true && out.body !== 'optional') out.body = 'optional';
  if (body.required === true && out.body === 'optional') delete out.body;
}

function firstSchema(content: Json | undefined): Json | undefined {
  const [body] = isMap(content) ? Object.values(content) : [];
  return isMap(body) ? (body.schema ?? {}) : undefined;
}
