import { conditions, type ErrorCondition, isCondition, ownAnswer } from '../../../parts/conditions.ts';
import { statedValue } from '../../../parts/fact.ts';
import { briefly } from '../../exchange/exchange.ts';
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
    (statedValue(response) ?? []).some((one) => one.status === 'default' || one.status[0] === String(status)[0]),
  );
  return isOfCode || isOfOther || isStated || spec.errors.others !== undefined;
}

/** The conditions whose own status is the same. */
function others(condition: ErrorCondition): readonly ErrorCondition[] {
  const { status } = ownAnswer(condition);
  return conditions.filter((one) => one !== condition && ownAnswer(one).status === status);
}
