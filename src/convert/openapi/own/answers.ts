import type { Json, JsonMap } from '../../../document/document.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { unionOf } from '../../../parts/shapes/branches.ts';
import { readStated, type SchemaReading } from './stated-schema.ts';
import { carriedWord, followingWords, formKey, isFollowing, statedKey } from './words.ts';

/** The stated answers of an operation by status; nothing where none is stated. */
export function readResponses(responses: Json | undefined, reading: SchemaReading): JsonMap | undefined {
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
    const data = header['x-ninefold-data'];
    const shape = followingWords(header).includes('schema') ? undefined : readStated(header.schema ?? {}, reading);
    const isExpression = header[formKey] !== 'full' && data !== undefined && shape === undefined;
    out[name] = isExpression ? data : { ...(shape !== undefined && { shape }), ...(data !== undefined && { data }) };
  }
  return Object.keys(out).length > 0 ? out : undefined;
}

/** Several answers under one status: the branches of the schema, each beside what is carried of it. */
function readBranches(schema: Json | undefined, answers: readonly Json[], reading: SchemaReading): Json {
  const refusable = isMap(schema) && schema[formKey] === 'or refused' ? unionOf(schema) : undefined;
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
export function producedMedia(responses: Json | undefined): readonly string[] {
  for (const [status, response] of isMap(responses) ? Object.entries(responses) : []) {
    if (!/^2/.test(status) || !isMap(response) || !isMap(response.content)) continue;
    return Object.entries(response.content).flatMap(([media, body]) => (isFollowing(body) ? [] : [media]));
  }
  return [];
}
