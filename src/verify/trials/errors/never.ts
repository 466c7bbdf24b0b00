import { conditions, type ErrorCondition, isCondition, ownAnswer } from '../../../parts/conditions.ts';
import { isStated, statedValue } from '../../../parts/fact.ts';
import { asText } from '../../exchange/as-text.ts';
import { crashKind } from '../../exchange/claim.ts';
import { briefly, type TrialExchange } from '../../exchange/exchange.ts';
import type { Model } from '../../model/model.ts';
import type { Observer } from '../../session/observer.ts';

/** What is said never to arise never does: no answer has the status of such a condition, unless a stated code has it too. */
export const neverArising: Observer = {
  name: 'errors/never arising',
  *observe(exchange, model) {
    const { status } = exchange;
    if (status < 400 || exchange.sent.method === 'HEAD') return;
    for (const condition of neverOf(model)) {
      if (ownAnswer(condition).status !== status || isMeantOtherwise(model, condition, status)) continue;
      const judgement = { promised: `\`${condition}\` never arises`, seen: `${status}${briefly(exchange)}` };
      yield { fact: { kind: 'conditions', subject: condition }, reason: 'never', judgement };
    }
  },
};

function neverOf({ spec, refusals }: Model): ErrorCondition[] {
  return Object.keys(spec.errors.conditions)
    .filter(isCondition)
    .filter((condition) => refusals.standingOf(condition) === 'never');
}

/** Whether the status is that of another condition that may arise, or of a stated code or answer. */
function isMeantOtherwise(model: Model, condition: ErrorCondition, status: number): boolean {
  const { refusals, spec } = model;
  const isOfCode = refusals.all().some((one) => one.status === undefined || one.status === status);
  const isOfOther = others(condition).some((one) => refusals.standingOf(one) !== 'never');
  const isStated = model.endpoints.some(({ response }) =>
    (statedValue(response) ?? []).some((one) => one.status === 'default' || one.status[0] === asText(status)[0]),
  );
  return isOfCode || isOfOther || isStated || spec.errors.others !== undefined;
}

/** The conditions whose own status is the same. */
function others(condition: ErrorCondition): readonly ErrorCondition[] {
  const { status } = ownAnswer(condition);
  return conditions.filter((one) => one !== condition && ownAnswer(one).status === status);
}

/** No request makes the service fail: whatever was asked, and by whichever trial. */
export const crashes: Observer = {
  name: 'errors/crashes',
  *observe(exchange, model) {
    if (!isCrash(exchange, model)) return;
    const { endpoint, status, sent } = exchange;
    yield {
      fact: { kind: crashKind, subject: endpoint?.key ?? `${sent.method} of a path that is not stated` },
      reason: asText(status),
      judgement: { promised: 'an answer, or a refusal', seen: `${status}${briefly(exchange)}` },
    };
  },
};

/**
 * Whether an answer says that the service failed. 501 is how open facts are answered; what the document states of 502 and more, and a
 * code of its own for anything but a failure, is an answer like others. That 500 is listed says what a failure looks like, not that it is none.
 */
function isCrash(exchange: TrialExchange, model: Model): boolean {
  const { status, endpoint } = exchange;
  if (status < 500 || status === 501 || exchange.trouble) return false;
  const code = model.refusals.codeIn(exchange);
  const stated = code === undefined ? [] : model.refusals.all().filter((one) => one.code.name === code && one.status === status);
  if (stated.some(({ rule }) => !(statedValue(rule.when) ?? []).includes('internal'))) return false;
  const listed = endpoint && isStated(endpoint.response) ? endpoint.response.value : [];
  return status === 500 || listed.every((one) => one.status !== asText(status));
}
