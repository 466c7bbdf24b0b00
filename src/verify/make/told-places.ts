import type { Json } from '../../document/document.ts';
import { pointerOf } from '../../document/pointer.ts';
import { isMap } from '../../document/values.ts';
import type { ErrorCondition } from '../../parts/conditions.ts';
import { asText } from '../exchange/as-text.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { Model } from '../model/model.ts';

/** The places of what is wrong that a refusal tells. */
export function placesTold(
  model: Model,
  { body }: TrialExchange,
  condition: ErrorCondition = 'request.invalid',
): (Json | undefined)[] {
  const steps = model.refusals.placeAt(condition) ?? [];
  const told = steps.reduce<(Json | undefined)[]>((at, step) => at.flatMap((one) => among(one, step)), [body]);
  return told.filter((one) => typeof one === 'string' && one !== '');
}

/** Places are written here once more, and not by what writes them in a service of ours. */
export function placeWrittenAs([first = '', ...rest]: readonly string[], way: Model['spec']['errors']['paths']): string {
  if (way === 'dotted') return [first, ...rest].join('.');
  if (way === 'bracketed') return `${first}${rest.map((step) => `[${step}]`).join('')}`;
  return pointerOf([first, ...rest]);
}

/** What stands there: of a list whichever it is of them. */
function among(at: Json | undefined, step: string | number): readonly (Json | undefined)[] {
  return Array.isArray(at) ? at : [standingAt(at, step)];
}

/** What stands at a step below a value. */
export function standingAt(at: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(at)) return (at as readonly Json[])[Number(step)];
  return isMap(at) ? at[asText(step)] : undefined;
}
