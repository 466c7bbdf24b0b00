import type { Json } from '../../document/document.ts';
import { below } from '../../document/pointer.ts';
import { valueAt } from '../../document/source.ts';
import { isMap, isSame } from '../../document/values.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { membersOfViolations } from '../../parts/errors.ts';
import { type Expression, entriesOf, entryOf, isStated, type Named, statedValue } from '../../parts/fact.ts';
import type { Shape } from '../../parts/shape.ts';
import { asText } from '../exchange/as-text.ts';
import { type FactName, moot } from '../exchange/claim.ts';
import { briefly, type Sent, type TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';
import { isOneExpression } from '../model/refusals.ts';
import { tellsMoved } from '../model/refused-as.ts';
import type { Observed, Observer } from '../session/observer.ts';
import { headerSays, oneLine } from '../values/difference.ts';

/** Every refusal has the stated payload, a stated code under one of its statuses, and tells nothing of the inside. */
export const refusals: Observer = {
  name: 'errors/refusals',
  *observe(exchange, model) {
    if (
      (exchange.status < 400 && !tellsMoved(model, exchange)) ||
      model.refusals.isOpen(exchange) ||
      isLeftOpen(exchange, model) ||
      exchange.sent.method === 'HEAD'
    )
      return;
    yield* observePayload(exchange, model);
    yield* observeCode(exchange, model);
    yield* observeStatedHeaders(exchange, model);
    const isOurs = exchange.endpoint === undefined || model.isHeld('what a refusal tells of the inside', exchange.endpoint);
    if (isOurs) yield observeLeak(exchange);
  },
};

/** What HTTP answers with under a status, where that is for nothing else. */
const conditionsByStatus: Readonly<Record<number, ErrorCondition>> = {
  405: 'method.unsupported',
  406: 'request.accept',
  408: 'limit.time',
  413: 'limit.size',
  414: 'limit.size',
  415: 'request.media',
  431: 'limit.size',
  500: 'internal',
  503: 'service.unavailable',
};

/** Whether a refusal is for what is left to the implementation, as far as that can be known without a code. */
function isLeftOpen(exchange: TrialExchange, model: Model): boolean {
  const condition = conditionsByStatus[exchange.status] ?? conditionOf(exchange, model);
  if (condition === undefined || model.refusals.codeIn(exchange) !== undefined) return false;
  return model.refusals.standingOf(condition) === 'left open';
}

/** What somebody is refused for who shows no credential where one is asked for, or asks for what there is not. */
function conditionOf({ endpoint, sent, status }: TrialExchange, model: Model): ErrorCondition | undefined {
  if (!endpoint) return status === 404 ? 'route.unknown' : undefined;
  if ((status !== 401 && status !== 403) || showsCredential(model, sent)) return undefined;
  return model.access.allows(model.operationOf(endpoint), undefined) === 'no' ? 'caller.unknown.missing' : undefined;
}

/** Whether a request has something where any of the schemes has its credential, whatever it is. */
function showsCredential({ spec }: Model, { headers, query }: Sent): boolean {
  return entriesOf(spec.authentication.schemes).some(([, scheme]) => {
    const carrier = statedValue(scheme.carrier) ?? '';
    if (scheme.in === 'query') return Object.hasOwn(query, carrier);
    return Object.hasOwn(headers, scheme.in === 'cookie' ? 'cookie' : carrier.toLowerCase());
  });
}

const payloadFact = { kind: 'error payload shapes', subject: 'service' } as const;

function* observePayload(exchange: TrialExchange, model: Model): Iterable<Observed> {
  const payload = statedValue(model.spec.errors.payload);
  // What was only read off the refusals of operations says nothing of requests to none.
  const isElsewhere = exchange.endpoint === undefined && model.spec.errors.payload.standing === 'inferred';
  if (payload === undefined || isElsewhere || hasItsOwn(exchange)) return;
  const shape = payload === 'problem' ? problem : statedValue(payload.shape);
  const wrong = exchange.body === undefined ? 'no JSON' : shape && model.schemas.of(shape, 'shown')(exchange.body)[0];
  const seen = `${exchange.status}${briefly(exchange) || ' without a body'}`;
  const flaw = wrong && {
    promised: typeof wrong === 'string' ? 'a refusal has a JSON body' : `/${wrong.path.join('/')} ${wrong.message}`,
    seen,
  };
  yield { fact: payloadFact, reason: 'shape', judgement: flaw || undefined };
  for (const name of membersOfViolations(payload)) yield* observeNoneTold(exchange, name);
  if (payload !== 'problem' && !isOneExpression(payload.data)) yield* observeMembers(exchange, model, payload.data);
  if (payload !== 'problem') yield* observeStatus(exchange, model);
  if (payload !== 'problem' || !isMap(exchange.body)) return;
  const type = exchange.headers['content-type'] ?? '';
  const isTyped = /^application\/problem\+json\b/i.test(type);
  yield {
    fact: payloadFact,
    reason: 'media type',
    judgement: isTyped ? undefined : { promised: 'application/problem+json', seen: type || 'no Content-Type' },
  };
  const isSame = exchange.body.status === exchange.status;
  const flawed = { promised: `status: ${exchange.status}, as the answer has it`, seen: oneLine(exchange.body.status) };
  yield { fact: payloadFact, reason: 'status', judgement: isSame ? undefined : flawed };
}

/** What is wrong with a request is told where there is something, and there is no member for it where there is nothing. */
function* observeNoneTold({ body }: TrialExchange, name: string): Iterable<Observed> {
  const told = isMap(body) ? body[name] : undefined;
  if (!Array.isArray(told) || told.length > 0) return;
  yield { fact: payloadFact, reason: name, judgement: { promised: `no ${name} where there is nothing to tell`, seen: '[]' } };
}

/** The header fields of every refusal, and of the code that it shows. */
function* observeStatedHeaders(exchange: TrialExchange, model: Model): Iterable<Observed> {
  const { errors } = model.spec;
  const code = model.refusals.codeIn(exchange);
  const own = code === undefined ? undefined : entryOf(errors.codes, code);
  const context = { ...own?.constants, status: exchange.status, ...(code !== undefined && { code }) };
  const stated = { ...errors.headers, ...own?.headers };
  yield* observeMadeHeaders(exchange, model, { stated, context, fact: payloadFact });
}

/** The members of an own payload are what they are stated to be made of, as far as an answer itself shows that: its status and its code. */
function* observeMembers(exchange: TrialExchange, model: Model, data: Readonly<Record<string, Expression>>): Iterable<Observed> {
  const code = model.refusals.codeIn(exchange);
  const context = { status: exchange.status, ...(code !== undefined && { code }) };
  for (const [name, expression] of Object.entries(data)) {
    const meant = model.expressions.evaluate(expression, undefined, { context });
    if (typeof meant === 'string') continue;
    const seen = isMap(exchange.body) ? exchange.body[name] : undefined;
    const promised = `${name}: ${oneLine(meant.value)}, which is ${expression.source}`;
    const judgement = isSame(seen ?? null, meant.value) ? undefined : { promised, seen: oneLine(seen) };
    yield { fact: payloadFact, reason: `member ${name}`, judgement };
  }
}

/** A payload that is one expression, or a member of it, has the status within. */
function* observeStatus(exchange: TrialExchange, { refusals: { statusAt } }: Model): Iterable<Observed> {
  if (statusAt === undefined || statusAt.length < 2 || exchange.body === undefined) return;
  const seen = valueAt(exchange.body, statusAt.reduce(below, ''));
  const promised = `/${statusAt.join('/')}: ${exchange.status}, as the answer has it`;
  const judgement = seen === exchange.status ? undefined : { promised, seen: oneLine(seen) };
  yield { fact: payloadFact, reason: 'status within', judgement };
}

/** Whether the operation states itself what it is refused with under this status. */
function hasItsOwn({ endpoint, status }: TrialExchange): boolean {
  return (
    endpoint !== undefined && isStated(endpoint.response) && endpoint.response.value.some((one) => isFor(one.status, status))
  );
}

function isFor(stated: string, status: number): boolean {
  return stated === 'default' || /^[45]XX$/i.test(stated) ? stated[0] === asText(status)[0] : stated === asText(status);
}

/** RFC 9457 section 3.1, with the extension members of the language. */
const problem: Shape = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string' },
    request_id: { type: 'string' },
    violations: { type: 'array', items: { type: 'object', properties: { in: { type: 'string' }, path: { type: 'string' } } } },
  },
  required: ['type', 'title', 'status'],
};

function* observeCode(exchange: TrialExchange, model: Model): Iterable<Observed> {
  const { errors } = model.spec;
  if (!model.refusals.showsCodes || !isStated(errors.codes) || errors.others) return;
  const code = model.refusals.codeIn(exchange);
  const stated = code === undefined ? undefined : model.refusals.all().filter((one) => one.code.name === code);
  const isKnown = code === undefined ? !everyConditionHasCode(model) : (stated?.length ?? 0) > 0;
  const seen = code === undefined ? `${exchange.status} without a code` : code;
  const fact = code === undefined ? payloadFact : { kind: 'error codes', subject: 'service' };
  yield {
    fact,
    reason: 'stated',
    judgement: isKnown ? undefined : { promised: 'a stated code', seen },
  };
  if (!stated || stated.length === 0 || stated.some(({ status }) => status === undefined)) return;
  const isItsOwn = stated.some(({ status }) => status === exchange.status);
  const statuses = [...new Set(stated.map(({ status }) => status))].join(' or ');
  const flaw = { promised: `${code} comes with ${statuses}`, seen: asText(exchange.status) };
  const first = stated[0];
  const statusFact = {
    kind: 'status codes',
    subject: code ?? '',
    ...(stated.length === 1 && first && { at: first.rule.status.at }),
  };
  yield { fact: statusFact, reason: 'its status', judgement: isItsOwn ? undefined : flaw };
}

/** Whether a refusal without a code can have no reason: every condition that can arise is answered by one. */
function everyConditionHasCode(model: Model): boolean {
  return model.ledger.facts.every(({ kind, standing }) => kind !== 'conditions' || standing !== 'open');
}

/** What is looked for stands near the beginning, and every repeat ends: no text takes long to be looked through. */
const leaks: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a stack trace', /\n\s{1,40}at .{1,400}[:(]\d|\bat [\w.<>$ ]{1,200} \((?:node:)?[\w:/\\.-]{1,200}:\d{1,7}:\d{1,7}\)/],
  ['a Python traceback', /Traceback \(most recent call last\)/],
  ['a place in the source', /\b[\w/\\.-]{1,200}\.(?:js|ts|mjs|py|rb|php|go|java|rs):\d/],
  ['a database error', /SQLITE_[A-Z]|SQLSTATE|syntax error at or near|ORA-\d{5}|\bSELECT .{1,100} FROM .{1,100} WHERE\b/],
  ['a path of the machine', /(?:\/(?:home|usr|var|srv|opt|root|Users)\/[\w./-]|[A-Z]:\\\\?[\w\\.-])/],
];
const leakLengthMost = 65_536;

function observeLeak(exchange: TrialExchange): Observed {
  const told = unquoted(exchange).slice(0, leakLengthMost);
  const [what] = leaks.find(([, pattern]) => pattern.test(told)) ?? [];
  const flaw =
    what === undefined ? undefined : { promised: 'a refusal tells nothing of the inside', seen: `${what}${briefly(exchange)}` };
  return { fact: payloadFact, reason: 'leak', judgement: flaw };
}

/** What the refusal says of its own accord: what the request sent may come back in it. */
function unquoted({ body, text, sent }: TrialExchange): string {
  const strings: string[] = [];
  const collect = (value: Json | undefined): void => {
    if (typeof value === 'string') strings.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (isMap(value)) Object.values(value).forEach(collect);
  };
  collect(body);
  const said = body === undefined ? [text] : strings;
  const target = decodeURIComponent(sent.target.replaceAll(/%(?![\da-f]{2})/gi, '%25').replaceAll(/%(?:[89a-f][\da-f])/gi, '?'));
  return said.filter((one) => !(sent.text ?? '').includes(one) && !target.includes(one)).join('\n');
}

/** Holds an answer to header fields that expressions make, as far as what they read can be known from outside. */
export function* observeMadeHeaders(
  { headers, status }: Pick<TrialExchange, 'headers' | 'status'>,
  model: Model,
  { stated, context, fact, operation }: MadeHeaders,
): Iterable<Observed> {
  for (const [name, expression] of Object.entries(stated)) {
    const meant = model.expressions.evaluate(expression, operation, { context });
    const seen = headers[name.toLowerCase()];
    const reason = `header ${name}`;
    if (typeof meant === 'string' && seen === undefined && comesToSomething(model, expression, { context, operation })) {
      const promised = `a ${name}, which is ${expression.source}, whatever that is`;
      yield { fact, reason, judgement: isAtTheDoor(status, model) ? undefined : { promised, seen: 'none' } };
      continue;
    }
    if (typeof meant === 'string' || meant.value === null) {
      if (seen !== undefined) yield { fact, reason, judgement: undefined };
      continue;
    }
    const value = typeof meant.value === 'object' ? JSON.stringify(meant.value) : asText(meant.value);
    const promised = `${name}: ${value}, which is ${expression.source}`;
    const isSaid = headerSays(seen, value);
    const flaw = isSaid ? undefined : { promised, seen: seen ?? `no ${name}` };
    yield { fact, reason, judgement: isSaid === 'unknown' ? moot('how a header has such a text is not said') : flaw };
  }
}

/** Whether a field has a value whatever identifier the service gives the request, which nobody else knows. */
function comesToSomething(
  { expressions }: Model,
  expression: Expression,
  { context, operation }: Pick<MadeHeaders, 'context' | 'operation'>,
): boolean {
  const meant = expressions.evaluate(expression, operation, { context: { ...context, request_id: 'nf-request' } });
  return typeof meant === 'object' && meant.value !== null;
}

/** What a server answers before it has read what a request is about, such as that its head is too large, knows nothing of fields. */
function isAtTheDoor(status: number, { refusals }: Model): boolean {
  const sizes = ['limit.size', 'limit.size.url', 'limit.size.headers'] as const;
  return status === 408 || status === 431 || sizes.some((when) => refusals.of(when, undefined)?.status === status);
}

interface MadeHeaders {
  readonly stated: Named<Expression>;
  /** What is known of what they read. */
  readonly context: Readonly<Record<string, Json>>;
  readonly fact: FactName;
  readonly operation?: string | undefined;
}
