import type { Endpoint } from '../../parts/endpoints.ts';
import type { TrialCaller } from '../exchange/callers.ts';
import { isDone, type TrialExchange } from '../exchange/exchange.ts';
import type { Done } from '../exchange/step.ts';
import type { Model } from '../model/model.ts';

/** How often somebody was let in at an endpoint that makes rows, and how often not. */
interface LetIn {
  done: number;
  forbidden: number;
}

const known = new WeakMap<Model, Map<string, LetIn>>();

/** So often somebody is refused before others come first. */
const refusedMost = 2;

const keyOf = ({ key }: Endpoint, caller: TrialCaller | undefined) => `${key}\n${caller?.name ?? ''}`;

/** Notes whether somebody was let in to make a row with a body that ought to be right; gives what was answered. */
export function noteLetIn(model: Model, made: Done<TrialExchange>): Done<TrialExchange> {
  const exchange = made.value;
  const { endpoint, caller } = exchange;
  if (!endpoint) return made;
  const all = known.get(model) ?? new Map<string, LetIn>();
  known.set(model, all);
  const own = all.get(keyOf(endpoint, caller)) ?? { done: 0, forbidden: 0 };
  all.set(keyOf(endpoint, caller), own);
  const code = isDone(exchange) ? undefined : model.refusals.codeIn(exchange);
  const forbidden = model.refusals.codesFor('caller.forbidden', model.operationOf(endpoint));
  if (isDone(exchange)) own.done += 1;
  else if (code !== undefined && forbidden.includes(code)) own.forbidden += 1;
  return made;
}

/**
 * Whether somebody was kept from making rows again and again, whatever was sent: a rule asks for what nobody has brought about, such as a membership,
 * and others come first.
 */
export function isKeptOut(model: Model, endpoint: Endpoint, caller: TrialCaller | undefined): boolean {
  const own = known.get(model)?.get(keyOf(endpoint, caller));
  return own !== undefined && own.done === 0 && own.forbidden >= refusedMost;
}
