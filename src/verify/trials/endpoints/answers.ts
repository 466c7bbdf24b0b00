import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { mayBeUntold } from '../../../parts/left-out.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { bodyFields, briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { observeMadeHeaders } from '../../make/refusals.ts';
import type { Model } from '../../model/model.ts';
import { tellsMoved } from '../../model/refused-as.ts';
import { itemsOf } from '../../model/row-shown.ts';
import type { Observed, Observer } from '../../session/observer.ts';
import { oneLine } from '../../values/difference.ts';
import { fits, mediaType, observeRefusal, observeStated } from './stated-answers.ts';

/** Every answer of an operation has a stated status, media type, header fields and body; one that refuses, where the operation lists what it refuses with. */
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
    if (status === 304) return;
    const context = { status, operation: endpoint.operation };
    yield* observeMadeHeaders(exchange, model, { stated: endpoint.headers, context, fact, operation: endpoint.operation });
    if (tellsMoved(model, exchange)) return;
    if (status >= 400) {
      yield* observeRefusal(exchange, endpoint, model);
      return;
    }
    const statuses = statusesOf(endpoint, model);
    if (statuses === undefined) return;
    const isStatedStatus = statuses.some((one) => fits(one, status));
    const flaw = { promised: `status ${statuses.join(' or ')}`, seen: `${status}${briefly(exchange)}` };
    yield { fact, reason: 'status', judgement: isStatedStatus ? undefined : flaw };
    if (isStatedStatus && isDone(exchange)) yield* observeContent(exchange, endpoint, model);
  },
};

/** The statuses that an operation may succeed with; nothing where they are open. */
function statusesOf(endpoint: Endpoint, { spec }: Model): readonly string[] | undefined {
  if (isStated(endpoint.response)) return endpoint.response.value.map(({ status }) => status);
  const verb = statedValue(endpoint.does)?.verb;
  if (endpoint.response.standing !== 'open' || endpoint.response.question !== undefined || verb === undefined) return undefined;
  if (verb === 'create') return endpoint.exists ? ['200', '201'] : ['201'];
  if (verb === 'delete') return ['204'];
  const told = mayBeUntold(spec, endpoint) ? ['200', '204'] : ['200'];
  if (verb === 'upsert') return [...told, '201'];
  return verb === 'handler' || verb === 'reply' ? undefined : told;
}

function* observeContent(exchange: TrialExchange, endpoint: Endpoint, model: Model): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  const { status, text, sent } = exchange;
  const isBare = status === 204 || sent.method === 'HEAD';
  if (isBare) yield { fact, reason: 'bare', judgement: text === '' ? undefined : { promised: 'no body', seen: oneLine(text) } };
  if (isStated(endpoint.response)) yield* observeStated(exchange, endpoint, endpoint.response.value, model);
  if (isBare || isStated(endpoint.response)) return;
  yield mediaType(exchange, endpoint, endpoint.produces ?? ['application/json']);
  yield* observeByRule(exchange, endpoint, model);
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
