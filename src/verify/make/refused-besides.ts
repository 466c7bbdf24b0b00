/** What else may refuse what is imagined for one condition. */
import type { Endpoint } from '../../parts/endpoints.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Known } from '../model/expressions.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import type { Session } from '../session/session.ts';
import type { ConditionSubject, Scene } from './scene.ts';

/** Whether what is sent in a scene keeps the rules over several fields, but the one that is imagined, that read nothing but what is: what breaks one is refused for that. */
export function keepingRules(
  session: Session,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  condition: Expression,
): (scene: Scene) => boolean {
  const { model } = session;
  const effect = statedValue(endpoint.does);
  const resource = model.resource(resourceOfEffect(effect) ?? '');
  const body = slots.find(({ key }) => key === 'body');
  const rules = Object.values(resource?.rules ?? {}).filter(
    (rule) => rule.if !== condition && isImagined(session, rule.if, undefined, slots),
  );
  if (rules.length === 0) return () => true;
  return ({ values }) => {
    const next = { ...(effect?.verb === 'update' && values.get('row')), ...body?.defaults, ...values.get('body') };
    const told = rules.map((rule) => model.expressions.evaluate(rule.if, undefined, { context: { next } }));
    return !told.some((one) => typeof one === 'object' && one.value === true);
  };
}

/**
 * Whether another error of the service's own refuses a scene: where the condition holds, one that is tried before it; where it does not, any. Those alone that
 * read nothing but what is imagined.
 */
export function otherErrors(
  session: Session,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  condition: Expression,
): (context: Known['context'], isSo: boolean) => boolean {
  const { model } = session;
  const rules = ownRulesAt(model, endpoint).flatMap(({ rule }) => rule.if ?? []);
  const own = rules.indexOf(condition);
  const others = rules.filter((one) => one !== condition && isImagined(session, one, endpoint.operation, slots));
  return (context, isSo) =>
    others.some((one) => {
      if (isSo && own >= 0 && rules.indexOf(one) > own) return false;
      const told = model.expressions.evaluate(one, endpoint.operation, { context });
      return typeof told === 'object' && told.value === true;
    });
}

/** Whether all that a condition reads of bodies and rows is imagined. */
function isImagined(
  { model }: Session,
  condition: Expression,
  operation: string | undefined,
  slots: readonly ConditionSubject[],
): boolean {
  const readsIn = (key: string) => slots.find((one) => one.key === key)?.reads;
  return model.expressions.readsOf(condition, operation).every(({ root, path: [name = ''], follows }) => {
    if (root === 'now' || root === 'caller' || root === 'operation') return true;
    const isOfRow = root === 'resource';
    return !follows && (readsIn(isOfRow ? 'row' : 'body')?.has(name) ?? false);
  });
}
