import type { Json } from '../../../document/document.ts';
import { isMap } from '../../../document/values.ts';
import type { Answer } from '../../../parts/answers.ts';
import type { Endpoint } from '../../../parts/endpoints.ts';
import { isStated } from '../../../parts/fact.ts';
import type { Shape } from '../../../parts/shape.ts';
import { briefly, type TrialExchange } from '../../exchange/exchange.ts';
import { isJsonType } from '../../exchange/parse-body.ts';
import type { Model } from '../../model/model.ts';
import { isByRule } from '../../model/promises.ts';
import { choosesFields } from '../../model/row-shown.ts';
import type { Misfit } from '../../model/schemas.ts';
import type { Observed } from '../../session/observer.ts';
import { computedHeaderFlaw } from './computed.ts';
import { headerFlaw } from './header-values.ts';

/** Whether a stated status, a range or `default` is that of an answer. */
export function fits(stated: string, status: number): boolean {
  return stated === 'default' || narrowness(stated, status) > 0;
}

function narrowness(stated: string, status: number): number {
  if (stated === String(status)) return 2;
  return /^\dXX$/i.test(stated) && stated[0] === String(status)[0] ? 1 : 0;
}

/** The answers that are stated for a status: those of the status itself before those of its range, and these before `default`. */
function answersFor(answers: readonly Answer[], status: number): readonly Answer[] {
  const fitting = answers.filter((one) => fits(one.status, status));
  const most = Math.max(...fitting.map((one) => narrowness(one.status, status)));
  return fitting.filter((one) => narrowness(one.status, status) === most);
}

/** A stated answer has the media type, the shape and the header fields of its status; of several, of one. */
export function* observeStated(
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
export function mediaType({ headers }: TrialExchange, { key }: Endpoint, produced: readonly string[]): Observed {
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
      return !(keyword === 'type' && isObject && (endpoint.expand !== undefined || model.isExpanded(String(name))));
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
export function* observeRefusal(exchange: TrialExchange, endpoint: Endpoint, model: Model): Iterable<Observed> {
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
