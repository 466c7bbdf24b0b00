import { isMap } from '../../document/values.ts';
import { entriesOf, isStated, statedValue } from '../../parts/fact.ts';
import { resourceOfEffect } from '../../parts/operations.ts';
import type { Field } from '../../parts/resources.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';

/**
 * Whether what a request has the service set is sure to fit: what an expression makes of the rows that a new one refers to may be beyond the bounds
 * of its field, and then the request is refused for it.
 */
export function isSetToFit(model: Model, exchange: TrialExchange): boolean {
  const { endpoint, sent } = exchange;
  const resource = endpoint && model.resource(resourceOfEffect(statedValue(endpoint.does)) ?? '');
  const own = isMap(sent.json) ? sent.json : {};
  return (resource ? entriesOf(resource.fields) : []).every(
    ([name, field]) => Object.hasOwn(own, name) || !isBounded(field) || !readsOthers(model, endpoint?.operation, field),
  );
}

/** Whether there are values of its type that a field does not take. */
function isBounded({ shape }: Field): boolean {
  const stated = statedValue(shape) ?? {};
  return bounds.some((word) => word in stated);
}

const bounds = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
] as const;

/** Whether an expression sets it to what it reads of rows that are referred to. */
function readsOthers({ expressions }: Model, operation: string | undefined, { set, readOnly }: Field): boolean {
  return (
    !readOnly &&
    Object.values(set).some((one) => expressions.readsOf(one, operation).some(({ follows = [] }) => follows.length > 0))
  );
}

/** Whether the values in a path are such as its parameters are stated to be; else nothing is said of what comes of them. */
export function pathFits(model: Model, { endpoint, sent }: Pick<TrialExchange, 'endpoint' | 'sent'>): boolean {
  if (!endpoint) return true;
  return entriesOf(endpoint.parameters).every(([name, parameter]) => {
    const value = sent.path[name];
    if (parameter.in !== 'path') return true;
    if (value === undefined) return false;
    if (!isStated(parameter.shape)) return true;
    const fits = model.schemas.of(parameter.shape.value, 'sent');
    // In a path everything is text, and a text of digits may mean a number.
    const text = typeof value === 'object' ? undefined : String(value);
    const read = text === undefined ? [value] : [value, text, ...(/^-?\d+$/.test(text) ? [Number(text)] : [])];
    return read.some((one) => fits(one).length === 0);
  });
}
