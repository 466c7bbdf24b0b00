import { pathFits } from '../model/path-fits.ts';
import { isByRule } from '../model/promises.ts';
import type { Judgement } from '../script/claim.ts';
import { moot } from '../script/claim.ts';
import { isDone, type TrialExchange } from '../script/exchange.ts';
import type { Session } from '../script/session.ts';

/** Whether a request was taken, as far as its parameters go. */
export function takenAsValid(session: Session, exchange: TrialExchange, what = 'what is valid'): Judgement {
  const { model } = session;
  if (isDone(exchange)) return undefined;
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
