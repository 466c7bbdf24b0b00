import type { Json, JsonMap, Pointer } from '../../../document/document.ts';
import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { ErrorCondition } from '../../../parts/conditions.ts';
import { madeOrNew } from '../read/reader.ts';
import { endpointOf, type InferenceContext, type InferenceRule, placeOfEndpoint, shapeOfAnswer, successOf } from './context.ts';
import { codesBeside, errorOfComponents, isInCapitals, wordByStatus } from './error-components.ts';
import { celOf } from './list-data.ts';
import { type ShapeProperties, wordsOf } from './shapes.ts';

/** What a refusal looks like is what most refusals look like; its fields are filled by what they are called. */
export const errorPayloadRule: InferenceRule = {
  name: 'error-payload',
  says: 'The shape that most answers of failure have is that of errors; where none states one, a list `errors` in most answers, or a component that is called an error and says little else. Its fields for message, code, status and request are known by name.',
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
    if (first === undefined) {
      takeComponent(context);
      return;
    }
    const most = { shape: commonShape(context, group), at: first.at, count: group.length };
    const from = context.trail.origin(most.at) ?? '';
    const payload: OpenMap = newMap();
    payload.shape = most.shape;
    context.trail.from('/errors/payload/shape', from);
    const data = dataOf(context, most.shape);
    if (data !== undefined) payload.data = data;
    if (data !== undefined) context.trail.infer('/errors/payload/data', errorPayloadRule.name, from, 0.8);
    const share = most.count / refusals.length;
    context.trail.infer('/errors/payload', errorPayloadRule.name, from, Math.round(share * 90) / 100);
    context.tree.errors = { ...madeOrNew(context.tree.errors), payload };
  },
};

/** Where no operation says how it fails, a component may. */
function takeComponent(context: InferenceContext): void {
  const component = errorOfComponents(context);
  if (component === undefined) return;
  const from = context.trail.origin(component.at) ?? '';
  const data = dataOf(context, component.shape);
  context.trail.from('/errors/payload/shape', from);
  context.trail.infer('/errors/payload', errorPayloadRule.name, from, 0.6);
  if (data !== undefined) context.trail.infer('/errors/payload/data', errorPayloadRule.name, from, 0.6);
  const payload = data === undefined ? { shape: component.shape } : { shape: component.shape, data };
  context.tree.errors = { ...madeOrNew(context.tree.errors), payload };
}

/** The one shape of several; where they differ in nothing but listed words and descriptions, the one that has the words of all. */
function commonShape(context: InferenceContext, group: readonly Refusal[]): Json {
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
function refusalsOf(context: InferenceContext): Refusal[] {
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

function dataOf(context: InferenceContext, shape: Json): OpenMap | undefined {
  const properties = context.written.propertiesOf(shape);
  if (properties === undefined) return undefined;
  const data: OpenMap = newMap();
  for (const [name, inner] of Object.entries(properties.all)) {
    const expression = expressionOf(context, name, inner) ?? nested(context, inner);
    if (expression !== undefined) data[name] = expression;
    else if (properties.required.includes(name)) return undefined;
  }
  tellMessage(context, properties.all, data);
  return Object.keys(data).length > 0 ? data : undefined;
}

/** `{ error }`, `{ status_code, status_reason }`: where no member is called a message, the first of these that is any text has it. */
function tellMessage({ written }: InferenceContext, all: ShapeProperties['all'], data: OpenMap): void {
  if (Object.values(data).includes('message') || Object.values(all).some((inner) => written.propertiesOf(inner) !== undefined))
    return;
  const names = Object.keys(all).filter(
    (name) => written.typeOf(all[name]) === 'string' && written.listedOf(all[name]) === undefined,
  );
  const word = (name: string): string => name.replaceAll(/[^\p{L}]/gu, '').toLowerCase();
  const told = asMessage.flatMap((wanted) => names.find((name) => word(name) === wanted) ?? [])[0];
  if (told !== undefined) data[told] = 'message';
}

const asMessage = ['errmsg', 'errormsg', 'reason', 'statusreason', 'errorreason', 'error'];

/** `{ error: { message, type, code } }`: the same one step deeper, with and without a code. */
function nested(context: InferenceContext, shape: Json): string | undefined {
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

function expressionOf(context: InferenceContext, name: string, shape: Json): string | undefined {
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

/** A listed word such as `not_found`, or a status that answers state, says which condition it is for. */
export const errorCodesRule: InferenceRule = {
  name: 'error-codes',
  says: 'Words of a listed error code, and stated statuses of failure, stand for the conditions that HTTP and custom know by them; in capitals where the words of nearly all lists of the source are.',
  infer(context) {
    const refusals = refusalsOf(context);
    const listed = listedWords(context);
    const statuses = new Map(
      refusals.filter(({ status }) => /^\d{3}$/.test(status)).map(({ status, at }) => [Number(status), at]),
    );
    const isHidden = failsWith200(context, refusals.length);
    const areCapitals = isInCapitals(context);
    const codes: OpenMap = newMap();
    for (const { when, status, word: pattern, name } of conditions) {
      const word = listed?.words.find((one) => pattern.test(one)) ?? listed?.words.find((one) => narrower(name).test(one));
      const at = statuses.get(status);
      if (word === undefined && at === undefined) continue;
      // Where nothing is answered with 422, what is wrong with a request is a bad one.
      if (status === 422 && at === undefined && listed?.words.some((one) => badRequest.word.test(one))) continue;
      const chosen = word ?? (areCapitals ? name.toUpperCase() : name);
      const answer = isHidden ? 200 : status;
      const known = codes[chosen];
      const also: readonly ErrorCondition[] =
        status === 400 && !statuses.has(422) && word !== undefined ? ['request.invalid'] : [];
      codes[chosen] = { status: answer, when: [...(isMap(known) ? wordsOf(known.when) : []), ...when, ...also] };
      context.trail.infer(
        below('/errors/codes', chosen),
        errorCodesRule.name,
        context.trail.origin(word === undefined ? (at ?? '') : (listed?.at ?? '')) ?? '',
        word === undefined ? 0.6 : 0.7,
      );
    }
    if (Object.keys(codes).length === 0) return;
    codes.others = { $open: 'Which other errors are there, and when is each of them given?' };
    context.trail.infer(
      '/errors/codes',
      errorCodesRule.name,
      refusals[0] ? (context.trail.origin(refusals[0].at) ?? '') : '',
      0.5,
    );
    context.tree.errors = { ...madeOrNew(context.tree.errors), codes };
  },
};

/** `channel_not_found` where there is no `not_found`. */
function narrower(name: string): RegExp {
  return new RegExp(`_${name}$`, 'i');
}

interface Known {
  readonly when: readonly ErrorCondition[];
  readonly status: number;
  readonly word: RegExp;
  /** The code where only the status is stated. */
  readonly name: string;
}

const badRequest = known(
  ['request.malformed', 'request.parameter'],
  400,
  /^(?:bad_request|invalid_request|invalid_arguments|invalid_arg_name)$/i,
  'bad_request',
);

/** Conditions with the status of HTTP for them and the words that lists of codes have. */
const conditions: readonly Known[] = [
  known(
    ['caller.unknown'],
    401,
    /^(?:unauthorized|unauthenticated|not_authed|invalid_auth|authentication_(?:error|failed|required)|invalid_api_key)$/i,
    'unauthorized',
  ),
  known(
    ['caller.forbidden'],
    403,
    /^(?:forbidden|access_denied|permission_denied|missing_scope|no_permission|insufficient_scope)$/i,
    'forbidden',
  ),
  known(['resource.missing'], 404, /^(?:not_found|resource_not_found|resource_missing|missing)$/i, 'not_found'),
  known(['method.unsupported'], 405, /^(?:method_not_allowed|method_not_supported)$/i, 'method_not_allowed'),
  known(['resource.exists'], 409, /^(?:conflict|already_exists|resource_exists)$/i, 'conflict'),
  known(['precondition.failed'], 412, /^precondition_failed$/i, 'precondition_failed'),
  known(['request.media'], 415, /^unsupported_media_type$/i, 'unsupported_media_type'),
  known(['request.invalid'], 422, /^(?:unprocessable_entity|validation_error|invalid)$/i, 'unprocessable_entity'),
  badRequest,
  known(['limit.rate'], 429, /^(?:too_many_requests|rate_?limit(?:ed|_exceeded)?)$/i, 'too_many_requests'),
  known(['internal'], 500, /^(?:internal_server_error|internal_error|server_error|fatal_error)$/i, 'internal_server_error'),
  known(['service.unavailable'], 503, /^(?:service_unavailable|unavailable)$/i, 'service_unavailable'),
];

function known(when: readonly ErrorCondition[], status: number, word: RegExp, name: string): Known {
  return { when, status, word, name };
}

/** The words that the code of errors may be, and where they stand. */
function listedWords(context: InferenceContext): { readonly words: readonly string[]; readonly at: string } | undefined {
  const { errors } = context.tree;
  const payload = isMap(errors) ? errors.payload : undefined;
  const shape = isMap(payload) ? payload.shape : undefined;
  const outer = context.written.propertiesOf(shape)?.all ?? {};
  const inner = Object.values(outer).flatMap((one) => Object.entries(context.written.propertiesOf(one)?.all ?? {}));
  for (const [name, one] of [...Object.entries(outer), ...inner]) {
    const { enum: allowed } = context.written.expand(one);
    if (!/^(?:code|error|error_?code)$/i.test(name) || !Array.isArray(allowed) || allowed.length < 3) continue;
    return { words: allowed.filter((word): word is string => typeof word === 'string'), at: '/errors/payload/shape' };
  }
  const named = [shape, ...Object.values(outer).flatMap((one) => [one, context.written.itemsOf(one)])];
  for (const one of named) {
    const name = context.written.resourceOf(one);
    const words = codesBeside(context, name);
    if (words) return { words, at: below('/resources', `${name}Code`) };
  }
  return undefined;
}

/** Failures that only a `default` shows, where every success says `ok: true`, are told with the status of success. */
function failsWith200(context: InferenceContext, refusals: number): boolean {
  const flags = context.operations.filter((operation) => {
    const endpoint = endpointOf(context, operation);
    const ok = context.written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all.ok;
    return ok !== undefined && context.written.constantOf(ok)?.value === true;
  });
  return refusals > 0 && flags.length > context.operations.length / 2;
}
