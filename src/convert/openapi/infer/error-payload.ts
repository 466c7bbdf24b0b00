import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import { madeOrNew } from '../made.ts';
import { type Context, endpointOf, type InferenceRule, placeOfEndpoint, shapeOfAnswer } from './context.ts';
import { celOf } from './list-envelope.ts';
import { wordsOf } from './written.ts';

/** What a refusal looks like is what most refusals look like; its fields are filled by what they are called. */
export const errorPayload: InferenceRule = {
  name: 'error-payload',
  says: 'The shape that most answers of failure have is that of errors; its fields for message, code, status and request are known by name.',
  infer(context) {
    const refusals = refusalsOf(context);
    const groups = new Map<string, Refusal[]>();
    for (const refusal of refusals) {
      const properties = context.written.propertiesOf(refusal.shape);
      const key = JSON.stringify([Object.keys(properties?.all ?? {}).sort(), [...(properties?.required ?? [])].sort()]);
      groups.set(key, [...(groups.get(key) ?? []), refusal]);
    }
    const [group = []] = [...groups.values()].sort((a, b) => b.length - a.length);
    const [first] = group;
    if (first === undefined) return;
    const most = { shape: commonShape(context, group), at: first.at, count: group.length };
    const from = context.trail.origin(most.at) ?? '';
    const payload: OpenMap = newMap();
    payload.shape = most.shape;
    context.trail.from('/errors/payload/shape', from);
    const data = dataOf(context, most.shape);
    if (data !== undefined) payload.data = data;
    if (data !== undefined) context.trail.infer('/errors/payload/data', errorPayload.name, from, 0.8);
    const share = most.count / refusals.length;
    context.trail.infer('/errors/payload', errorPayload.name, from, Math.round(share * 90) / 100);
    context.tree.errors = { ...madeOrNew(context.tree.errors), payload };
  },
};

/** The one shape of several; where they differ in nothing but listed words and descriptions, the one that has the words of all. */
function commonShape(context: Context, group: readonly Refusal[]): Json {
  const [first] = group;
  const texts = new Set(group.map(({ shape }) => JSON.stringify(shape)));
  const own = context.written.propertiesOf(first?.shape);
  if (first === undefined || texts.size === 1 || own === undefined) return first?.shape ?? {};
  const properties: OpenMap = newMap();
  for (const [name, inner] of Object.entries(own.all)) {
    const allowed = group.flatMap(({ shape }) => {
      const { enum: words } = context.written.expand(context.written.propertiesOf(shape)?.all[name]);
      return Array.isArray(words) ? words : [];
    });
    properties[name] = isMap(inner) && Array.isArray(inner.enum) ? { ...inner, enum: [...new Set(allowed)] } : inner;
  }
  return { type: 'object', properties, ...(own.required.length > 0 && { required: [...own.required] }) };
}

interface Refusal {
  readonly status: string;
  readonly shape: Json;
  readonly at: Pointer;
}

/** Every answer of failure that has a body in JSON: those of 4xx and 5xx, and `default` where another tells of success. */
export function refusalsOf(context: Context): Refusal[] {
  return context.operations.flatMap((operation) => {
    const endpoint = endpointOf(context, operation);
    const statuses = isMap(endpoint.response) ? Object.keys(endpoint.response) : [];
    const failing = statuses.filter((status) => /^[45]/.test(status) || (status === 'default' && statuses.length > 1));
    return failing.flatMap((status): Refusal[] => {
      const shape = shapeOfAnswer(endpoint, status);
      if (shape === undefined || context.written.propertiesOf(shape) === undefined) return [];
      const at = below(below(placeOfEndpoint(operation), 'response'), status);
      return [{ status, shape, at: below(at, 'shape') }];
    });
  });
}

function dataOf(context: Context, shape: Json): OpenMap | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const data: OpenMap = newMap();
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = expressionOf(context, name, inner) ?? nested(context, inner);
    if (expression !== undefined) data[name] = expression;
    else if (properties.required.includes(name)) return undefined;
  }
  return Object.keys(data).length > 0 ? data : undefined;
}

/** `{ error: { message, type, code } }`: the same one step deeper, with and without a code. */
function nested(context: Context, shape: Json): string | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const members: (readonly [string, string])[] = [];
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = expressionOf(context, name, inner);
    if (expression !== undefined) members.push([name, expression]);
    else if (properties.required.includes(name)) return undefined;
  }
  if (!members.some(([, expression]) => expression === 'message')) return undefined;
  const always = members.filter(([, expression]) => expression !== bareCode);
  const written = (list: readonly (readonly [string, string])[]) =>
    `{${list.map(([name, cel]) => `${celOf(name)}: ${cel}`).join(', ')}}`;
  return always.length === members.length ? written(members) : `code == null ? ${written(always)} : ${written(members)}`;
}

const bareCode = 'code';

function expressionOf(context: Context, name: string, shape: Json): string | undefined {
  const { written } = context;
  const constant = written.constantOf(shape);
  if (constant !== undefined) return celOf(constant.value);
  const type = written.typeOf(shape);
  const word = name.replaceAll(/[^\p{L}]/gu, '').toLowerCase();
  if (type === 'integer' && /^(?:status|statuscode|httpstatus|httpcode|code)$/.test(word)) return 'status';
  if (type !== 'string') return undefined;
  if (/^(?:requestid|traceid|correlationid)$/.test(word)) return 'request_id';
  const words = wordsAllowed(written.expand(shape));
  if (words !== undefined) return /^(?:code|error|errorcode|type|name|reason|kind)$/.test(word) ? wordByStatus(words) : undefined;
  if (/^(?:message|detail|errormessage|errordescription|description|msg)$/.test(word)) return 'message';
  if (word === 'title') return 'message';
  if (/^(?:code|errorcode|error|name)$/.test(word)) return bareCode;
  return undefined;
}

function wordsAllowed({ enum: allowed }: JsonMap): readonly string[] | undefined {
  const words = wordsOf(allowed);
  return Array.isArray(allowed) && words.length === allowed.length ? words : undefined;
}

/** One of the listed words: the one that is named after the status, else one for faults of the service and one for those of requests. */
function wordByStatus(words: readonly string[]): string | undefined {
  const find = (pattern: RegExp) => words.find((word) => pattern.test(word));
  const known = statusWords.flatMap(([status, pattern]) => {
    const word = find(pattern);
    return word === undefined ? [] : [[status, word] as const];
  });
  const own = find(/internal|server_?error|^api_error|fatal|unexpected|unknown_error/i);
  const theirs = find(/bad_?request|^invalid(?:_request(?:_error)?)?$|validation|invalid_arg|invalid/i);
  if (own === undefined && theirs === undefined && known.length === 0) return undefined;
  const rest = theirs ?? own ?? known[0]?.[1] ?? words[0];
  const chain = known.map(([status, word]) => `status == ${status} ? ${celOf(word)} : `).join('');
  const failing = own === undefined ? '' : `status >= 500 ? ${celOf(own)} : `;
  const chosen = `${chain}${failing}${celOf(rest ?? '')}`;
  return words.length > 4 ? `code == null ? (${chosen}) : code` : chosen;
}

/** Statuses with the words by which lists of error codes call them. */
const statusWords: readonly (readonly [number, RegExp])[] = [
  [401, /^(?:unauthorized|unauthenticated|not_authed|authentication(?:_error|_failed)?|invalid_auth)$/i],
  [403, /^(?:forbidden|access_denied|permission_denied|not_allowed)$/i],
  [404, /^(?:not_found|resource_not_found|missing)$/i],
  [405, /^method_not_allowed$/i],
  [409, /^(?:conflict|already_exists)$/i],
  [412, /^precondition_failed$/i],
  [429, /^(?:too_many_requests|rate_?limit(?:ed|_exceeded)?)$/i],
  [503, /^(?:service_unavailable|unavailable)$/i],
];
