import { entryOf, statedValue } from '../../../parts/fact.ts';
import { resourceOfEffect } from '../../../parts/operations.ts';
import { sortKeyOf } from '../../../parts/sorting.ts';
import { type Judgement, moot } from '../../exchange/claim.ts';
import { isDone, type TrialExchange } from '../../exchange/exchange.ts';
import { isByRule } from '../../model/promises.ts';
import { pathFits } from '../../model/set-to-fit.ts';
import type { Session } from '../../session/session.ts';

/** Whether a request was taken, as far as its parameters go. */
export function takenAsValid(session: Session, exchange: TrialExchange, what = 'what is valid'): Judgement {
  const { model } = session;
  if (isDone(exchange)) return undefined;
  if (goesByUnseen(session, exchange)) return moot('nobody asks by what it does not see');
  if (!pathFits(model, exchange)) return moot('the row is called what no row may be called');
  const operation = exchange.endpoint && model.operationOf(exchange.endpoint);
  if (model.refusals.mayBeOwn(exchange, operation)) return moot('it may be an error of its own, which shows no code');
  const code = model.refusals.codeIn(exchange);
  const parameter = model.refusals.of('request.parameter', operation)?.code.name;
  const isRefused = code === undefined ? exchange.status === 400 : code === parameter;
  const isFailure = exchange.status === 500 && exchange.endpoint !== undefined && isByRule(exchange.endpoint);
  if (!isRefused && !isFailure) return moot('something else stood in its way');
  return { promised: `${what} is taken`, seen: `${exchange.status} ${exchange.text}` };
}

/** Whether a list is asked to go by a field that its caller does not see, or not of every row. */
function goesByUnseen({ model }: Session, { endpoint, sent, caller }: TrialExchange): boolean {
  const effect = endpoint && statedValue(endpoint.does);
  const unseen = effect?.verb === 'list' ? model.unseenBy(resourceOfEffect(effect) ?? '', caller) : new Set<string>();
  if (!endpoint || unseen.size === 0) return false;
  return Object.entries(sent.query).some(([name, value]) => {
    const parameter = entryOf(endpoint.parameters, name);
    if (!parameter) return false;
    const sorted = parameter.sorts ? String(value).split(',') : [];
    return unseen.has(parameter.filters ?? '') || sorted.some((word) => unseen.has(sortKeyOf(parameter, word.trim()).field));
  });
}
