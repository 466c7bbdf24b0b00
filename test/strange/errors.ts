/** Part 7 of strange documents: payloads of other forms, more codes, and errors of the service's own. */
import type { Json, JsonMap } from '../../src/document/document.ts';
import { type Draw, pick } from '../serving/generated-values.ts';
import { type Draft, laid, mapAt, oneIn, operationsOf } from './layers.ts';

const more: Readonly<Record<string, JsonMap>> = {
  unknown: { status: 401, when: 'caller.unknown' },
  forbidden: { status: 403, when: 'caller.forbidden' },
  no_method: { status: 405, when: 'method.unsupported' },
  media: { status: 415, when: 'request.media' },
  accept: { status: 406, when: 'request.accept' },
  bad_parameter: { status: 400, when: 'request.parameter' },
  bad_page: { status: 400, when: 'limit.page' },
  stale: { status: 412, when: 'precondition.failed' },
  tagless: { status: 428, when: 'precondition.required' },
  reused: { status: 422, when: 'idempotency.reused' },
  slow: { status: 429, when: 'limit.rate' },
  spent: { status: 429, when: 'limit.quota' },
  large: { status: 413, when: 'limit.size' },
  left_out: { status: 422, when: 'request.invalid.missing', message: '{name} is missing' },
  not_so: { status: 409, when: 'transition.illegal.condition' },
  long_gone: { status: 410, when: 'resource.gone' },
};

const payloads: readonly (readonly [string, Json])[] = [
  ['payload problem', 'problem'],
  ['payload problem', 'problem'],
  [
    'payload nested',
    {
      shape: {
        type: 'object',
        properties: { error: { type: 'object', properties: { code: 'string', message: 'string' }, required: ['message'] } },
        required: ['error'],
      },
      data: { error: "{'code': code, 'message': message}" },
    },
  ],
  [
    'payload with the row',
    {
      shape: {
        type: 'object',
        properties: { code: 'string', message: 'string', row: { type: 'object?' } },
        required: ['message'],
      },
      data: { code: 'code', message: 'message', row: 'result' },
    },
  ],
  [
    'payload flat',
    {
      shape: {
        type: 'object',
        properties: { code: 'string', status: 'integer', message: 'string', at: 'string' },
        required: ['status', 'message'],
      },
      data: { code: 'code', status: 'status', message: 'message', at: 'path' },
    },
  ],
];

/** Orders in which a service may look at what is wrong with a request. */
const orders: readonly Json[] = [
  'any',
  ['parameters', 'body'],
  ['accept', 'parameters', 'body'],
  ['caller', 'row', 'user'],
  ['parameters', 'body', 'caller', 'row', 'user', 'state', 'request'],
  ['request', 'precondition'],
  ['state', 'request'],
  ['body', 'caller'],
];

/** States how refusals look, and which there are, and now and then which of several comes first. */
export function layErrors(draw: Draw, draft: Draft): Draft {
  const [told, payload] = pick(draw, payloads);
  const chosen = Object.fromEntries(Object.entries(more).filter(() => !oneIn(draw, 3)));
  const own = ownOf(draw, draft);
  const names = Object.keys(own);
  const paths = pick<JsonMap>(draw, [{}, {}, { paths: 'dotted' }, { paths: 'bracketed' }]);
  const where = 'paths' in paths ? [`paths ${String(paths.paths)}`] : [];
  const order = oneIn(draw, 3) ? pick(draw, orders) : undefined;
  const errors = { payload, ...paths, ...(order !== undefined && { order }), codes: { ...chosen, ...own } };
  const ordered = order === undefined ? [] : [`order ${String(order)}`];
  return laid(draft, { errors }, told, ...where, ...ordered, ...names.map((name) => `own error ${name}`));
}

function ownOf(draw: Draw, { document, resources }: Draft): JsonMap {
  const own: Record<string, JsonMap> = {};
  const operations = new Set(operationsOf(document).map(({ name }) => name));
  for (const { name } of resources) {
    const fields = mapAt(document, 'resources', name, 'fields');
    if (oneIn(draw, 4) && operations.has(`update ${name}`))
      own.worn_out = { status: 409, on: [`update ${name}`], if: 'resource.count > 2', message: 'Three times is enough.' };
    if ('flag' in fields && oneIn(draw, 2) && operations.has(`create ${name}`))
      own.flagged = { status: 422, on: [`create ${name}`], if: 'has(next.flag) && next.flag' };
    if ('small' in fields && oneIn(draw, 2))
      own.too_much = { status: 422, on: [`create ${name}`, `update ${name}`], if: 'has(next.small) && next.small > 1000' };
  }
  return own;
}
