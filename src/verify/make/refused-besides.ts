/** What else may refuse what is imagined for one condition. */
import type { Endpoint } from '../../parts/endpoints.ts';
import type { Read } from '../../parts/expressions/compile.ts';
import { type Expression, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import { basesOf } from '../model/derived.ts';
import type { Known } from '../model/expressions.ts';
import { isSendable } from '../model/own-body.ts';
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
    (rule) => rule.if !== condition && isImagined(session, rule.if, undefined, slots, { isFollowed: false }),
  );
  if (rules.length === 0) return () => true;
  return ({ values }) => {
    const next = { ...(effect?.verb === 'update' && values.get('row')), ...body?.defaults, ...values.get('body') };
    const told = rules.map((rule) => model.expressions.evaluate(rule.if, undefined, { context: { next } }));
    return !told.some((one) => typeof one === 'object' && one.value === true);
  };
}

/**
 * Whether another error of the service's own refuses a scene: where the condition holds, one that is tried before it, unless it is to hold alone; where it does
 * not, any. Those alone that read nothing but what is imagined.
 */
export function otherErrors(
  session: Session,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  condition: Expression,
): (context: Known['context'], isSo: boolean, isAlone: boolean) => boolean {
  const { model } = session;
  const rules = ownRulesAt(model, endpoint).flatMap(({ rule }) => rule.if ?? []);
  const own = rules.indexOf(condition);
  const others = rules.filter(
    (one) => one !== condition && isImagined(session, one, endpoint.operation, slots, { isFollowed: true }),
  );
  return (context, isSo, isAlone) =>
    others.some((one) => {
      if (isSo && !isAlone && own >= 0 && rules.indexOf(one) > own) return false;
      const told = model.expressions.evaluate(one, endpoint.operation, { context });
      return typeof told === 'object' && told.value === true;
    });
}

/**
 * What other errors of the service's own read of the rows that a condition leads to, and of the bodies and rows beside them: where that is
 * imagined as well, what they refuse is kept out of the way. Nothing of an error that reads rows that the condition does not lead to.
 */
export function readsBeside(
  session: Session,
  endpoint: Endpoint,
  slots: readonly ConditionSubject[],
  condition: Expression,
): Read[] {
  const { model } = session;
  const resource = resourceOfEffect(statedValue(endpoint.does)) ?? '';
  const others = ownRulesAt(model, endpoint).flatMap(({ rule }) => (rule.if && rule.if !== condition ? [rule.if] : []));
  return others.flatMap((one) => {
    const reads = model.expressions.readsOf(one, endpoint.operation);
    const isLedTo = ({ path: [field = '', ...more], follows }: Read) =>
      more.length === 0 && follows?.length === 1 && slots.some(({ key }) => key === field);
    const isSaid = ({ root, path: [name = ''], follows }: Read) =>
      !follows && (root === 'now' || root === 'caller' || root === 'operation' || isSendable(model, resource, name));
    return reads.some((read) => isLedTo(read)) && reads.every((read) => isLedTo(read) || isSaid(read)) ? reads : [];
  });
}

/** Whether all that a condition reads of bodies and rows is imagined; `isFollowed`: what they refer to as well. */
function isImagined(
  { model }: Session,
  condition: Expression,
  operation: string | undefined,
  slots: readonly ConditionSubject[],
  { isFollowed }: { readonly isFollowed: boolean },
): boolean {
  const slotOf = (key: string) => slots.find((one) => one.key === key);
  return model.expressions.readsOf(condition, operation).every(({ root, path: [name = ''], follows }) => {
    if (root === 'now' || root === 'caller' || root === 'operation') return true;
    if (!follows) return slotOf(root === 'resource' ? 'row' : 'body')?.reads.has(name) ?? false;
    const led = isFollowed && follows.length === 1 ? slotOf(name) : undefined;
    return led !== undefined && basesOf(model.spec, led.resource, follows[0] ?? '').every((base) => led.reads.has(base));
  });
}
