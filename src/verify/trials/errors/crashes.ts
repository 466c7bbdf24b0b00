import { isStated, statedValue } from '../../../parts/fact.ts';
import { briefly, type TrialExchange } from '../../exchange/exchange.ts';
import { crashKind } from '../../exchange/facts.ts';
import type { Model } from '../../model/model.ts';
import type { Observer } from '../../session/observer.ts';

/** No request makes the service fail: whatever was asked, and by whichever trial. */
export const crashes: Observer = {
  name: 'errors/crashes',
  *observe(exchange, model) {
    if (!isCrash(exchange, model)) return;
    const { endpoint, status, sent } = exchange;
    yield {
      fact: { kind: crashKind, subject: endpoint?.key ?? `${sent.method} of a path that is not stated` },
      reason: String(status),
      judgement: { promised: 'an answer, or a refusal', seen: `${status}${briefly(exchange)}` },
    };
  },
};

/**
 * Whether an answer says that the service failed. 501 is how open facts are answered; what the document states of 502 and more, and a
 * code of its own for anything but a failure, is an answer like others. That 500 is listed says what a failure looks like, not that it is none.
 */
function isCrash(exchange: TrialExchange, model: Model): boolean {
  const { status, endpoint } = exchange;
  if (status < 500 || status === 501 || exchange.trouble) return false;
  const code = model.refusals.codeIn(exchange);
  const stated = code === undefined ? [] : model.refusals.all().filter((one) => one.code.name === code && one.status === status);
  if (stated.some(({ rule }) => !(statedValue(rule.when) ?? []).includes('internal'))) return false;
  const listed = endpoint && isStated(endpoint.response) ? endpoint.response.value : [];
  return status === 500 || listed.every((one) => one.status !== String(status));
}
