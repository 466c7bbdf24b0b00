import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { mayBeUntold } from '../../../parts/left-out.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import type { Shape } from '../../../parts/shape.ts';
import { asText } from '../../exchange/as-text.ts';
import type { Flaw } from '../../exchange/claim.ts';
import { bodyFields, briefly, isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { isJsonType } from '../../exchange/parse-body.ts';
import { observeMadeHeaders } from '../../make/refusals.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import { tellsMoved } from '../../model/refused-as.ts';
import { choosesFields, itemsOf } from '../../model/row-shown.ts';
import type { Misfit } from '../../model/schemas.ts';
import type { Observed, Observer } from '../../session/observer.ts';
import { oneLine } from '../../values/difference.ts';
import { computedHeaderFlaw } from './computed.ts';
import { observeEnvelope } from './page-members.ts';

/** Whether a stated status, a range or `default` is that of an answer. */
function fits(stated: string, status: number): boolean {
  return stated === 'default' || narrowness(stated, status) > 0;
}

function narrowness(stated: string, status: number): number {
  if (stated === asText(status)) return 2;
  return /^\dXX$/i.test(stated) && stated[0] === asText(status)[0] ? 1 : 0;
}

/** The answers that are stated for a status: those of the status itself before those of its range, and these before `default`. */
function answersFor(answers: readonly Answer[], status: number): readonly Answer[] {
  const fitting = answers.filter((one) => fits(one.status, status));
  const most = Math.max(...fitting.map((one) => narrowness(one.status, status)));
  return fitting.filter((one) => narrowness(one.status, status) === most);
}

/** A stated answer has the media type, the shape and the header fields of its status; of several, of one. */
function* observeStated(
  exchange: TrialExchange,
  endpoint: Endpoint,
  answers: readonly Answer[],
  model: Model,
): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  const own = answersFor(answers, exchange.status);
  const shapes = own.flatMap(({ shape }) => (isStated(shape) ? [shape.value] : []));
  const types = own.flatMap((one) => one.produces ?? mediaTypesOf(endpoint, exchange.status));
  const hasBody = exchange.status !== 204 && exchange.sent.method !== 'HEAD';
  if (shapes.length > 0 && types.length > 0 && hasBody) yield mediaType(exchange, endpoint, types);
  if (shapes.length === own.length && own.length > 0 && hasBody && isJsonType(exchange.headers['content-type'])) {
    const misfits = shapes.map((shape) =>
      exchange.body === undefined ? undefined : misfitsOf(exchange, endpoint, shape, model),
    );
    const isFitting = misfits.some((list) => list?.length === 0);
    const [first] = misfits[0] ?? [];
    const promised = first === undefined ? 'JSON of the stated shape' : `/${first.path.join('/')} ${first.message}`;
    yield {
      fact,
      reason: shapeReason(exchange),
      judgement: isFitting ? undefined : { promised, seen: briefly(exchange) || 'no body' },
    };
  }
  const [only] = own;
  if (own.length === 1 && only) yield* observeHeaders(exchange, endpoint, only, model);
}

/** Answers of success are one, and each refusal is told by its status. */
function shapeReason({ status }: TrialExchange): string {
  return status < 400 ? 'shape' : `shape of ${status}`;
}

/** The media types of a status for which none are stated of its own; nothing where it is not known. */
function mediaTypesOf(endpoint: Endpoint, status: number): readonly string[] {
  if (status < 400) return endpoint.produces ?? ['application/json'];
  // What refusals by rule come as, their payload says.
  return isByRule(endpoint) ? [] : ['application/json'];
}

/** That an answer comes in one of some media types. */
function mediaType({ headers }: TrialExchange, { key }: Endpoint, produced: readonly string[]): Observed {
  const type = headers['content-type'];
  const isProduced = produced.some((one) => isWithin(type, one));
  return {
    fact: { kind: 'response payload shapes', subject: key },
    reason: 'media type',
    judgement: isProduced ? undefined : { promised: produced.join(' or '), seen: type ?? 'no Content-Type' },
  };
}

function isWithin(type: string | undefined, produced: string): boolean {
  const [own = ''] = (type ?? '').split(';');
  const [want = ''] = produced.split(';');
  if (own.trim().toLowerCase() === want.trim().toLowerCase()) return true;
  return want.trim() === '*/*' || (want.endsWith('/*') && own.trim().toLowerCase().startsWith(want.slice(0, -1).toLowerCase()));
}

/** What does not fit a stated shape; a reference that is expanded is no misfit. */
function misfitsOf(exchange: TrialExchange, endpoint: Endpoint, shape: Shape, model: Model): readonly Misfit[] {
  const { body } = exchange;
  if (body === undefined || choosesFields(exchange)) return [];
  return model.schemas
    .of(
      shape,
      'shown',
    )(body)
    .filter(({ path, keyword }) => {
      const name = path.findLast((key) => Number.isNaN(Number(key)));
      const isObject = isMap(path.reduce<Json | undefined>((at, key) => memberOf(at, key), body));
      return !(keyword === 'type' && isObject && (endpoint.expand !== undefined || model.isExpanded(asText(name))));
    });
}

function memberOf(value: Json | undefined, key: string | number): Json | undefined {
  if (Array.isArray(value)) return value[Number(key)];
  return isMap(value) ? value[key] : undefined;
}

/** A header that is stated by its shape is there, unless it may be missing, and has the shape. */
function* observeHeaders(exchange: TrialExchange, endpoint: Endpoint, answer: Answer, model: Model): Iterable<Observed> {
  const fact = { kind: 'response payload shapes', subject: endpoint.key };
  for (const [name, expression] of Object.entries(answer.headers)) {
    const flaw = exchange.status < 400 ? computedHeaderFlaw(model, exchange, endpoint, { name, answer, expression }) : undefined;
    if (exchange.headers[name.toLowerCase()] !== undefined || flaw) yield { fact, reason: `header ${name}`, judgement: flaw };
  }
  for (const [name, shape] of Object.entries(answer.headerShapes)) {
    const value = exchange.headers[name.toLowerCase()];
    // One that an expression makes is there where that comes to something.
    const mayLack = answer.optionalHeaders.includes(name) || answer.headers[name] !== undefined;
    const flaw =
      value === undefined
        ? mayLack
          ? undefined
          : { promised: `a header ${name}`, seen: 'none' }
        : headerFlaw(model, name, shape, value);
    if (value !== undefined || flaw) yield { fact, reason: `header ${name}, its shape`, judgement: flaw };
  }
}

/** A refusal that the operation lists is as it is listed; one that it does not list, and could have known of, is no answer of it. */
function* observeRefusal(exchange: TrialExchange, endpoint: Endpoint, model: Model): Iterable<Observed> {
  const { status } = exchange;
  if (!isStated(endpoint.response) || model.refusals.isOpen(exchange)) return;
  const answers = endpoint.response.value;
  if (answers.some((one) => fits(one.status, status))) {
    if (!isByRule(endpoint)) yield* observeStated(exchange, endpoint, answers, model);
    return;
  }
  if (status >= 500) return;
  const listed = answers.filter((one) => /^4\d\d$/.test(one.status)).map((one) => one.status);
  const isElsewhere = isSeldomListed(exchange, endpoint, model);
  const rule = isElsewhere ? 'missing, under a status that is not listed' : 'refused under a status that is not listed';
  if (!model.isHeld(rule, endpoint) || (listed.length === 0 && !model.conventions)) return;
  const promised = `refused with ${listed.join(' or ') || 'nothing'}`;
  yield {
    fact: { kind: 'response payload shapes', subject: endpoint.key },
    reason: `${status} is not listed`,
    judgement: { promised, seen: `${status}${briefly(exchange)}` },
  };
}

/** What HTTP answers before an operation is come to, and what many operations answer alike. */
const beforehand: ReadonlySet<number> = new Set([405, 406, 408, 411, 413, 414, 415, 416, 417, 421, 425, 426, 428, 429, 431, 451]);

function isSeldomListed({ status, sent }: TrialExchange, endpoint: Endpoint, model: Model): boolean {
  if (beforehand.has(status)) return true;
  if (status === 401 || status === 403) return !model.access.isPublic(model.operationOf(endpoint));
  if (status === 404) return endpoint.path.includes('{');
  // A body that cannot be read has not come to the operation.
  return status === 400 && sent.text !== undefined && sent.json === undefined;
}

/** What is wrong with the value of a header that is stated by its shape; nothing where one reading of the text fits. */
function headerFlaw(model: Model, name: string, shape: Shape, text: string): Flaw | undefined {
  const fits = model.schemas.of(shape, 'shown');
  const misfits = readings(text).map((value) => fits(value));
  if (misfits.some((list) => list.length === 0)) return undefined;
  const said = misfits.flatMap(([first]) => (first ? [first.message] : []));
  return { promised: `a header ${name} that ${said.at(-1) ?? 'fits its shape'}`, seen: text };
}

/** What a header may mean: the text, the number or word that it is written like, and a list by commas (RFC 9110 section 5.6.1). */
function readings(text: string): Json[] {
  const list = text.split(',').map((item) => item.trim());
  return [list, list.map(scalar), text, scalar(text)];
}

function scalar(text: string): Json {
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text);
  return text === 'true' ? true : text === 'false' ? false : text === 'null' ? null : text;
}

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
    if (isPage) yield* observeEnvelope(exchange, endpoint, model);
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
