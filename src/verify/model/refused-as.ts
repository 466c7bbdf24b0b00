import { type ErrorCondition, generalCondition, isCondition } from '../../parts/conditions.ts';
import { type OrderWord, wholeOrder } from '../../parts/errors.ts';
import { statedValue } from '../../parts/fact.ts';
import type { Operation } from '../../parts/operations.ts';
import type { FactName } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';

/** What a refusal has to look like, as far as the document says. */
export interface RefusalForm {
  readonly code: string;
  readonly status: number | undefined;
  /** Those of the narrower conditions below it. */
  readonly narrower?: readonly RefusalForm[];
}

/** The fact that a condition is answered with its code at an operation; none where no code is stated for it, or none is shown. */
export function conditionFacts(model: Model, when: ErrorCondition, operation?: Operation): FactName[] {
  const refusal = refusalFor(model, when, operation);
  return refusal && model.refusals.tells(refusal.code) ? [{ kind: 'conditions', subject: refusal.code }] : [];
}

type Answer = Pick<TrialExchange, 'status' | 'body'>;

/** The refusal for a condition at an operation; nothing where no code is stated for it. */
export function refusalFor(model: Model, when: ErrorCondition, operation?: Operation): RefusalForm | undefined {
  const [stated, ...narrower] = model.refusals.among(when, operation).map(({ code, status }) => ({ code: code.name, status }));
  return stated && (narrower.length === 0 ? stated : { ...stated, narrower });
}

/** Whether an answer is that refusal, or a narrower one: by its status and, where refusals show their codes, by its code. */
export function isRefusal(model: Model, answer: Answer, { status, code, narrower = [] }: RefusalForm): boolean {
  if (narrower.some((one) => isRefusal(model, answer, one))) return true;
  if ((status ?? answer.status) !== answer.status) return false;
  const shown = model.refusals.codeIn(answer);
  return shown === undefined ? isRefused(model, answer) : shown === code;
}

/** Whether an answer is a refusal of whatever kind: errors may come with a status of success where a document says so. */
export function isRefused(model: Model, answer: Answer): boolean {
  const code = model.refusals.codeIn(answer);
  return answer.status >= 400 || (code !== undefined && model.refusals.all().some((one) => one.code.name === code));
}

/** Whether a code stands for nothing but a condition and what is narrower: else another one may have been meant. */
export function standsForAlone({ spec }: Model, { code }: RefusalForm, condition: ErrorCondition): boolean {
  const stated = statedValue(spec.errors.codes)?.[code];
  return (stated?.rules ?? []).every(
    (rule) =>
      !rule.if &&
      (statedValue(rule.when) ?? []).every((when) => isCondition(when) && generalCondition(when) === generalCondition(condition)),
  );
}

/** Whether an answer shows the code of a condition, and of nothing besides. */
export function saysAlone(model: Model, answer: TrialExchange, condition: ErrorCondition): boolean {
  const refusal = refusalFor(model, condition, answer.endpoint && model.operationOf(answer.endpoint));
  return refusal !== undefined && model.refusals.codeIn(answer) === refusal.code && standsForAlone(model, refusal, condition);
}

/** Whether somebody was refused for a credential that is not taken: whatever is sent with it is. */
export function isOfNobody(model: Model, seen: TrialExchange, operation: Operation): boolean {
  const refusal = refusalFor(model, 'caller.unknown', operation);
  return seen.caller !== undefined && (seen.status === 401 || (refusal !== undefined && isRefusal(model, seen, refusal)));
}

/** Whether something that needs a credential was asked for without one: it is refused for that, whatever else is wrong with it. */
export function isAskedByNobody(model: Model, { caller, endpoint, status }: TrialExchange): boolean {
  if (caller || !endpoint || status < 400) return false;
  return model.access.allows(model.operationOf(endpoint), undefined) === 'no';
}

/** Whether an answer tells that a row is at another address: no success, and no refusal of what was asked. */
export function tellsMoved(model: Model, exchange: TrialExchange): boolean {
  const { endpoint, status } = exchange;
  if (!endpoint?.moved || status < 300 || status > 399 || status === 304) return false;
  const refusal = refusalFor(model, 'resource.moved', model.operationOf(endpoint));
  return refusal === undefined || (refusal.status ?? status) === status;
}

/** The steps of the stated order of refusals; nothing where none is promised. */
export function statedOrder({ spec }: Model): readonly OrderWord[] | undefined {
  const named = statedValue(spec.errors.order);
  return named && wholeOrder(named);
}

/**
 * Whether a request in which more than one thing is wrong may have been refused for another one than for what this step asks: no order is
 * promised, or something that a request about nothing in particular has wrong comes before it.
 */
export function mayBeRefusedBefore(model: Model, step: 'caller' | 'user', { status }: Pick<TrialExchange, 'status'>): boolean {
  if (status < 400 || status >= 500) return false;
  const order = statedOrder(model);
  return order === undefined || order.slice(0, order.indexOf(step)).some((word) => aboutWhatIsSent.has(word));
}

const aboutWhatIsSent: ReadonlySet<OrderWord> = new Set<OrderWord>(['accept', 'body', 'parameters', 'row']);
