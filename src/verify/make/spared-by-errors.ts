import type { Expression } from '../../parts/fact.ts';
import type { Transition } from '../../parts/states.ts';
import type { Model } from '../model/model.ts';
import { ownRulesAt } from '../model/own-condition.ts';
import type { Session } from '../session/session.ts';

const known = new WeakMap<Model, Map<Transition, Transition>>();

/**
 * A transition as it is open where none of the service's own errors refuses it either: a flight is launched once its day is open, which an error
 * of the launch asks for, and no condition of its own.
 */
export function sparedByErrors({ model }: Session, resource: string, transition: Transition): Transition {
  const own = known.get(model) ?? new Map<Transition, Transition>();
  known.set(model, own);
  const found = own.get(transition) ?? spared(model, resource, transition);
  own.set(transition, found);
  return found;
}

function spared(model: Model, resource: string, transition: Transition): Transition {
  const errors = errorsOfRow(model, resource, transition);
  const [first] = errors;
  if (!first) return transition;
  const sources = [...errors.map(({ source }) => `!(${source})`), ...(transition.if ? [`(${transition.if.source})`] : [])];
  return { ...transition, if: model.expressions.composed(first, sources.join(' && ')) };
}

/** The service's own errors that refuse a transition for what its row is; what is sent with it is drawn so that none of them refuses it. */
export function errorsOfRow(model: Model, resource: string, { name }: Transition): readonly Expression[] {
  const endpoint = model.endpointOfTransition(resource, name);
  return (endpoint ? ownRulesAt(model, endpoint) : []).flatMap(({ rule }): Expression[] => {
    const reads = rule.if && endpoint ? model.expressions.readsOf(rule.if, endpoint.operation) : [];
    const isOfRow = reads.some(({ root }) => root === 'resource') && !reads.some(({ root }) => root === 'request');
    return rule.if && isOfRow ? [rule.if] : [];
  });
}
