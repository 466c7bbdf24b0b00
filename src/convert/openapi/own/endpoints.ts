import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { pushKinds } from '../../../kinds/deliveries/all.ts';
import { unionOf } from '../../../parts/shapes/branches.ts';
import {
  carriedWord,
  followingWords,
  formKey,
  isDeprecating,
  isFollowing,
  orRefused,
  payloadKey,
  readStated,
  type SchemaReading,
  statedKey,
} from './stated-schema.ts';

/** One endpoint that was read back, with the pointer of its operation. */
interface ReadEndpoint {
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
export function readOwnEndpoints(paths: Json | undefined, reading: OperationReading): ReadEndpoint[] {
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

/** The stated answers of an operation by status; nothing where none is stated. */
function readResponses(responses: Json | undefined, reading: SchemaReading): JsonMap | undefined {
  const out = newMap();
  for (const [status, response] of isMap(responses) ? Object.entries(responses) : []) {
    if (isMap(response) && !isFollowing(response) && response.$ref === undefined) out[status] = readResponse(response, reading);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

function readResponse(response: JsonMap, reading: SchemaReading): Json {
  const whole = response[statedKey];
  if (whole !== undefined) return whole;
  const body = firstBody(response.content);
  const schema = body?.schema;
  const answers = response['x-ninefold-answers'];
  if (Array.isArray(answers)) return readBranches(schema, answers, reading);
  const words: OpenMap = newMap();
  for (const [key, value] of Object.entries(response)) {
    const word = carriedWord(key);
    if (word !== undefined && word !== 'follows' && word !== 'form') words[word] = value;
  }
  const headers = readHeaders(response.headers, reading);
  if (headers) words.headers = headers;
  if (body && !followingWords(body).includes('example') && body.example !== undefined) words.example = body.example;
  const examples = newMap();
  for (const [name, one] of isMap(body?.examples) ? Object.entries(body.examples) : [])
    if (isMap(one) && one.value !== undefined) examples[name] = one.value;
  if (Object.keys(examples).length > 0) words.examples = examples;
  if (schema !== undefined && !isFollowing(schema)) {
    const shape = readStated(schema, reading);
    if (Object.keys(words).length === 0 && response[formKey] !== 'full') return shape;
    words.shape = shape;
  }
  return words;
}

/** The headers that are stated of an answer; those that follow are references. */
function readHeaders(headers: Json | undefined, reading: SchemaReading): JsonMap | undefined {
  const out = newMap();
  for (const [name, header] of isMap(headers) ? Object.entries(headers) : []) {
    if (!isMap(header) || header.$ref !== undefined || isFollowing(header)) continue;
    const { 'x-ninefold-data': data, 'x-ninefold-required': required } = header;
    const shape = followingWords(header).includes('schema') ? undefined : readStated(header.schema ?? {}, reading);
    const isExpression = header[formKey] !== 'full' && data !== undefined && shape === undefined;
    const beside = { ...(data !== undefined && { data }), ...(required !== undefined && { required }) };
    out[name] = isExpression ? data : { ...(shape !== undefined && { shape }), ...beside };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** Several answers under one status: the branches of the schema, each beside what is carried of it. */
function readBranches(schema: Json | undefined, answers: readonly Json[], reading: SchemaReading): Json {
  const refusable = isMap(schema) && schema[formKey] === orRefused ? unionOf(schema) : undefined;
  const whole = refusable ? refusable.branches[0] : schema;
  const { branches = [] } = (isMap(whole) && unionOf(whole)) || {};
  return branches.map((branch, index): Json => {
    const carried = answers[index];
    const words: JsonMap = isMap(carried) ? carried : newMap();
    if (isFollowing(branch)) return words;
    const shape = readStated(branch, reading);
    return isMap(carried) ? { shape, ...words } : shape;
  });
}

/** The first body that is no refusal's. */
function firstBody(content: Json | undefined): JsonMap | undefined {
  const bodies = isMap(content) ? Object.values(content) : [];
  return bodies.find((body): body is JsonMap => isMap(body) && !isFollowing(body));
}

/** The media types of the answers of success. */
function producedMedia(responses: Json | undefined): readonly string[] {
  for (const [status, response] of isMap(responses) ? Object.entries(responses) : []) {
    if (!/^2/.test(status) || !isMap(response) || !isMap(response.content)) continue;
    return Object.entries(response.content).flatMap(([media, body]) => (isFollowing(body) ? [] : [media]));
  }
  return [];
}

/** Reads one stated parameter back. */
function readParameter(parameter: JsonMap, reading: SchemaReading): Json {
  const out = newMap();
  const follows = followingWords(parameter);
  if (!follows.includes('in') && parameter.in !== undefined) out.in = parameter.in;
  for (const [key, value] of Object.entries(parameter)) {
    const word = carriedWord(key);
    if (word === 'required' && parameter.required === true) continue;
    if (word !== undefined && word !== 'follows') out[word] = value;
  }
  if (parameter.required === true && parameter.in !== 'path') out.required = true;
  for (const word of ['description', 'style', 'explode', 'deprecated'] as const) {
    if (parameter[word] !== undefined && out[word] === undefined && !follows.includes(word)) out[word] = parameter[word];
  }
  if (out.deprecated !== undefined && isDeprecating(out.deprecated) && parameter.deprecated !== true) delete out.deprecated;
  if (!follows.includes('schema')) takeSchema(out, readStated(parameter.schema ?? {}, reading));
  return out;
}

function takeSchema(out: OpenMap, schema: Json): void {
  if (isMap(schema)) for (const [word, value] of Object.entries(schema)) out[word] ??= value;
  else if (Array.isArray(schema)) Object.assign(out, { type: 'array', items: schema[0] ?? {} });
  else if (typeof schema === 'string') out.type = schema;
}

/** Reads the webhooks of our own export back as the kinds of event. */
export function readKinds(webhooks: Json | undefined, reading: OperationReading): JsonMap | undefined {
  const out = newMap();
  for (const [name, item] of Object.entries(isMap(webhooks) ? webhooks : {})) {
    const sent = isMap(item) ? item[methodOf(item)] : undefined;
    if (isMap(sent) && !isFollowing(sent)) out[name] = readKind(sent, reading);
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** The method by which an event is sent, as it stands in its path item. */
export function methodOf(item: Json | undefined): string {
  const methods = pushKinds.map(({ method }) => method.toLowerCase());
  return methods.find((method) => isMap(item) && isMap(item[method])) ?? '';
}

function readKind(sent: JsonMap, reading: OperationReading): Json {
  const whole = sent[statedKey];
  if (whole !== undefined) return whole;
  const out = newMap();
  for (const [key, value] of Object.entries(sent)) {
    const word = carriedWord(key);
    if (word !== undefined && word !== 'follows') out[word] = value;
  }
  const payload = payloadIn(sent.requestBody, reading);
  if (payload) out.payload = readStated(payload, reading);
  return out;
}

/** What an event carries, alone or inside its envelope: what says so of itself. */
function payloadIn(body: Json | undefined, reading: OperationReading): JsonMap | undefined {
  const content = isMap(body) ? body.content : undefined;
  const [[type, first] = []] = isMap(content) ? Object.entries(content) : [];
  const sent = isMap(first) && first.schema !== undefined ? reading.resolve(first.schema) : undefined;
  const isForm = pushKinds.some(({ mediaType, read }) => read && mediaType === type);
  const inForm = isForm && isMap(sent) && isMap(sent.properties) ? sent.properties.payload : undefined;
  const schema = inForm === undefined ? sent : reading.resolve(inForm);
  const properties = isMap(schema) && isMap(schema.properties) ? Object.values(schema.properties) : [];
  const isPayload = (one: Json | undefined) => isMap(one) && one['x-ninefold-payload'] !== undefined;
  const found = isPayload(schema) ? schema : properties.find(isPayload);
  if (!isMap(found)) return undefined;
  const { [payloadKey]: _mark, ...payload } = found;
  return payload;
}
