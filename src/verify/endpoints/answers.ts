import type { Json } from '../../document/document.ts';
import { isMap } from '../../document/values.ts';
import type { Answer } from '../../parts/answers.ts';
import type { Endpoint } from '../../parts/endpoints.ts';
import { isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Shape } from '../../parts/shape.ts';
import { isJsonType } from '../client/parse-body.ts';
import type { Model } from '../model/model.ts';
import { itemsOf } from '../model/row-shown.ts';
import type { Misfit } from '../model/schemas.ts';
import type { Observed, Observer } from '../observer.ts';
import { bodyFields, briefly, isDone, type TrialExchange } from '../script/exchange.ts';
import { oneLine } from '../values/difference.ts';

/** Every answer of an operation that succeeded has a stated status, media type, header fields and body. */
export const answers: Observer = {
  name: 'endpoints/answers',
  *observe(exchange, model) {
    const { endpoint, status } = exchange;
    if (!endpoint) return;
    const fact = { kind: 'response payload shapes', subject: endpoint.key };
    if (exchange.trouble) {
      yield { fact, reason: 'answers', judgement: { promised: 'an answer', seen: exchange.trouble.message } };
      return;
    }
    yield { fact, reason: 'answers', judgement: undefined };
    if (status >= 400 || status === 304) return;
    const statuses = statusesOf(endpoint);
    if (statuses === undefined) return;
    const isStatedStatus = statuses.some((one) => fits(one, status));
    const flaw = { promised: `status ${statuses.join(' or ')}`, seen: `${status}${briefly(exchange)}` };
    yield { fact, reason: 'status', judgement: isStatedStatus ? undefined : flaw };
    if (isStatedStatus && isDone(exchange)) yield* observeContent(exchange, endpoint, model);
  },
};

/** The statuses that an operation may succeed with; nothing where they are open. */
function statusesOf(endpoint: Endpoint): readonly string[] | undefined {
  if (isStated(endpoint.response)) return endpoint.response.value.map(({ status }) => status);
  const verb = statedValue(endpoint.does)?.verb;
  if (endpoint.response.standing !== 'open' || endpoint.response.question !== undefined || verb === undefined) return undefined;
  if (verb === 'create') return ['201'];
  if (verb === 'delete') return ['204'];
  if (verb === 'upsert') return ['200', '201'];
  return verb === 'handler' || verb === 'reply' ? undefined : ['200'];
}

function fits(stated: string, status: number): boolean {
  if (stated === 'default') return true;
  return /^\dXX$/i.test(stated) ? stated[0] === String(status)[0] : stated === String(status);
}

function* observeContent(exchange: TrialExchange, endpoint: Endpoint, model: Model): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  const { status, headers, text, sent } = exchange;
  const isBare = status === 204 || sent.method === 'HEAD';
  if (isBare) {
    yield { fact, reason: 'bare', judgement: text === '' ? undefined : { promised: 'no body', seen: oneLine(text) } };
    return;
  }
  const produced = endpoint.produces ?? ['application/json'];
  const type = headers['content-type'];
  const isProduced = produced.some((one) => isWithin(type, one));
  if (text !== '' || !isStated(endpoint.response)) {
    yield {
      fact,
      reason: 'media type',
      judgement: isProduced ? undefined : { promised: produced.join(' or '), seen: type ?? 'no Content-Type' },
    };
  }
  if (isStated(endpoint.response)) yield* observeStated(exchange, endpoint, endpoint.response.value, model);
  else yield* observeByRule(exchange, endpoint, model);
}

/** What does not fit a stated shape; a reference that is expanded is no misfit. */
function misfitsOf({ body }: TrialExchange, endpoint: Endpoint, shape: Shape, model: Model): readonly Misfit[] {
  if (body === undefined) return [];
  return model.schemas
    .of(
      shape,
      'shown',
    )(body)
    .filter(({ path, keyword }) => {
      const name = path.findLast((key) => Number.isNaN(Number(key)));
      const isObject = isMap(path.reduce<Json | undefined>((at, key) => memberOf(at, key), body));
      return !(keyword === 'type' && isObject && (endpoint.expand !== undefined || model.isExpanded(String(name))));
    });
}

function memberOf(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return isMap(value) ? value[key] : undefined;
}

function isWithin(type: string | undefined, produced: string): boolean {
  const [own = ''] = (type ?? '').split(';');
  const [want = ''] = produced.split(';');
  if (own.trim().toLowerCase() === want.trim().toLowerCase()) return true;
  return want.trim() === '*/*' || (want.endsWith('/*') && own.trim().toLowerCase().startsWith(want.slice(0, -1).toLowerCase()));
}

/** A stated answer has the shape of its status; of several, of one. */
function* observeStated(
  exchange: TrialExchange,
  endpoint: Endpoint,
  answers: readonly Answer[],
  model: Model,
): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  const own = answers.filter(({ status }) => fits(status, exchange.status));
  const shapes = own.flatMap(({ shape }) => (isStated(shape) ? [shape.value] : []));
  if (shapes.length === own.length && own.length > 0 && isJsonType(exchange.headers['content-type'])) {
    const misfits = shapes.map((shape) =>
      exchange.body === undefined ? undefined : misfitsOf(exchange, endpoint, shape, model),
    );
    const isFitting = misfits.some((list) => list?.length === 0);
    const [first] = misfits[0] ?? [];
    const promised = first === undefined ? 'JSON of the stated shape' : `/${first.path.join('/')} ${first.message}`;
    yield { fact, reason: 'shape', judgement: isFitting ? undefined : { promised, seen: briefly(exchange) || 'no body' } };
  }
  if (own.length !== 1) return;
  for (const name of Object.keys(own[0]?.headers ?? {})) {
    const isThere = exchange.headers[name.toLowerCase()] !== undefined;
    yield { fact, reason: `header ${name}`, judgement: isThere ? undefined : { promised: `a header ${name}`, seen: 'none' } };
  }
}

/** What follows by rule: a row, with its address where it was created, or a page. */
function* observeByRule(exchange: TrialExchange, endpoint: Endpoint, model: Model): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  const verb = statedValue(endpoint.does)?.verb;
  if (verb === 'list') {
    const isPage = itemsOf(model, exchange) !== undefined;
    yield {
      fact,
      reason: 'shape',
      judgement: isPage ? undefined : { promised: 'a page of rows in its envelope', seen: briefly(exchange) },
    };
    return;
  }
  yield {
    fact,
    reason: 'shape',
    judgement: bodyFields(exchange) ? undefined : { promised: 'the row', seen: briefly(exchange) || 'no body' },
  };
  const resource = resourceOfEffect(statedValue(endpoint.does));
  const hasAddress = resource !== undefined && model.endpointsThat('read', resource).some(({ identity }) => !identity);
  if (verb === 'create' && exchange.status === 201 && hasAddress) {
    const { location } = exchange.headers;
    yield { fact, reason: 'Location', judgement: location === undefined ? { promised: 'a Location', seen: 'none' } : undefined };
  }
  if (endpoint.etag !== undefined) {
    const { etag } = exchange.headers;
    const isGood = etag !== undefined && (endpoint.etag === 'weak') === etag.startsWith('W/') && /^(?:W\/)?"[^"]*"$/.test(etag);
    yield { fact, reason: 'ETag', judgement: isGood ? undefined : { promised: `a ${endpoint.etag} ETag`, seen: etag ?? 'none' } };
  }
  if (endpoint.cache !== undefined) {
    const { 'cache-control': cache } = exchange.headers;
    const isSame = directives(cache) === directives(endpoint.cache);
    yield { fact, reason: 'Cache-Control', judgement: isSame ? undefined : { promised: endpoint.cache, seen: cache ?? 'none' } };
  }
}

function directives(value: string | undefined): string {
  return (value ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .sort()
    .join(',');
}
