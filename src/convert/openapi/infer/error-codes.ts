import { below } from '../../../document/pointer.ts';
import { isMap, newMap, type OpenMap } from '../../../document/values.ts';
import type { ErrorCondition } from '../../../parts/errors.ts';
import { madeOrNew } from '../made.ts';
import { type Context, endpointOf, type InferenceRule, shapeOfAnswer, successOf } from './context.ts';
import { refusalsOf } from './error-payload.ts';
import { wordsOf } from './written.ts';

/** A listed word such as `not_found`, or a status that answers state, says which condition it is for. */
export const errorCodes: InferenceRule = {
  name: 'error-codes',
  says: 'Words of a listed error code, and stated statuses of failure, stand for the conditions that HTTP and custom know by them.',
  infer(context) {
    const refusals = refusalsOf(context);
    const listed = listedWords(context);
    const statuses = new Map(
      refusals.filter(({ status }) => /^\d{3}$/.test(status)).map(({ status, at }) => [Number(status), at]),
    );
    const isHidden = failsWith200(context, refusals.length);
    const codes: OpenMap = newMap();
    for (const { when, status, word: pattern, name } of conditions) {
      const word = listed?.words.find((one) => pattern.test(one)) ?? listed?.words.find((one) => narrower(name).test(one));
      const at = statuses.get(status);
      if (word === undefined && at === undefined) continue;
      const chosen = word ?? name;
      const answer = isHidden ? 200 : status;
      const known = codes[chosen];
      codes[chosen] = { status: answer, when: [...(isMap(known) ? wordsOf(known.when) : []), ...when] };
      context.trail.infer(
        below('/errors/codes', chosen),
        errorCodes.name,
        context.trail.origin(word === undefined ? (at ?? '') : (listed?.at ?? '')) ?? '',
        word === undefined ? 0.6 : 0.7,
      );
    }
    if (Object.keys(codes).length === 0) return;
    codes.others = { $open: 'Which other errors are there, and when is each of them given?' };
    context.trail.infer('/errors/codes', errorCodes.name, refusals[0] ? (context.trail.origin(refusals[0].at) ?? '') : '', 0.5);
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
  known(
    ['request.malformed', 'request.parameter'],
    400,
    /^(?:bad_request|invalid_request|invalid_arguments|invalid_arg_name)$/i,
    'bad_request',
  ),
  known(['limit.rate'], 429, /^(?:too_many_requests|rate_?limit(?:ed|_exceeded)?)$/i, 'too_many_requests'),
  known(['internal'], 500, /^(?:internal_server_error|internal_error|server_error|fatal_error)$/i, 'internal_server_error'),
  known(['service.unavailable'], 503, /^(?:service_unavailable|unavailable)$/i, 'service_unavailable'),
];

function known(when: readonly ErrorCondition[], status: number, word: RegExp, name: string): Known {
  return { when, status, word, name };
}

/** The words that the code of errors may be, and where they stand. */
function listedWords(context: Context): { readonly words: readonly string[]; readonly at: string } | undefined {
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
  return undefined;
}

/** Failures that only a `default` shows, where every success says `ok: true`, are told with the status of success. */
function failsWith200(context: Context, refusals: number): boolean {
  const flags = context.operations.filter((operation) => {
    const endpoint = endpointOf(context, operation);
    const ok = context.written.propertiesOf(shapeOfAnswer(endpoint, successOf(endpoint)))?.all.ok;
    return ok !== undefined && context.written.constantOf(ok)?.value === true;
  });
  return refusals > 0 && flags.length > context.operations.length / 2;
}
