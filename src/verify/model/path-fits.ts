import { entriesOf, isStated } from '../../parts/fact.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from './model.ts';

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
