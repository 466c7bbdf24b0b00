import type { Json } from '../../document/document.ts';
import type { Expression, Named } from '../../parts/fact.ts';
import { moot } from '../exchange/claim.ts';
import type { TrialExchange } from '../exchange/exchange.ts';
import type { FactName } from '../exchange/facts.ts';
import type { Model } from '../model/model.ts';
import { headerSays } from '../values/header-text.ts';
import type { Observed } from './observer.ts';

/** Holds an answer to header fields that expressions make, as far as what they read can be known from outside. */
export function* observeMadeHeaders(
  { headers, status }: Pick<TrialExchange, 'headers' | 'status'>,
  model: Model,
  { stated, context, fact, operation }: MadeHeaders,
): Iterable<Observed> {
  for (const [name, expression] of Object.entries(stated)) {
    const meant = model.expressions.evaluate(expression, operation, { context });
    const seen = headers[name.toLowerCase()];
    const reason = `header ${name}`;
    if (typeof meant === 'string' && seen === undefined && comesToSomething(model, expression, { context, operation })) {
      const promised = `a ${name}, which is ${expression.source}, whatever that is`;
      yield { fact, reason, judgement: isAtTheDoor(status, model) ? undefined : { promised, seen: 'none' } };
      continue;
    }
    if (typeof meant === 'string' || meant.value === null) {
      if (seen !== undefined) yield { fact, reason, judgement: undefined };
      continue;
    }
    const value = typeof meant.value === 'object' ? JSON.stringify(meant.value) : String(meant.value);
    const promised = `${name}: ${value}, which is ${expression.source}`;
    const isSaid = headerSays(seen, value);
    const flaw = isSaid ? undefined : { promised, seen: seen ?? `no ${name}` };
    yield { fact, reason, judgement: isSaid === 'unknown' ? moot('how a header has such a text is not said') : flaw };
  }
}

/** Whether a field has a value whatever identifier the service gives the request, which nobody else knows. */
function comesToSomething(
  { expressions }: Model,
  expression: Expression,
  { context, operation }: Pick<MadeHeaders, 'context' | 'operation'>,
): boolean {
  const meant = expressions.evaluate(expression, operation, { context: { ...context, request_id: 'nf-request' } });
  return typeof meant === 'object' && meant.value !== null;
}

/** What a server answers before it has read what a request is about, such as that its head is too large, knows nothing of fields. */
function isAtTheDoor(status: number, { refusals }: Model): boolean {
  return status === 408 || status === 431 || refusals.of('limit.size', undefined)?.status === status;
}

interface MadeHeaders {
  readonly stated: Named<Expression>;
  /** What is known of what they read. */
  readonly context: Readonly<Record<string, Json>>;
  readonly fact: FactName;
  readonly operation?: string | undefined;
}
