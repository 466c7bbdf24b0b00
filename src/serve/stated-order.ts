import type { OrderWord } from '../parts/errors.ts';
import { after, afterFor, type PromiseOrValue } from './exchange/after.ts';
import { type Exchange, type OperationRun, type Plan, type Refusal, refusalReply } from './exchange/exchange.ts';
import type { Reply } from './http/call.ts';

/** What stands before the transaction of an exchange. */
interface Asking {
  readonly ratesOfCaller: ((exchange: Exchange) => PromiseOrValue<Refusal | undefined>) | undefined;
  readonly openFacts: (plan: Plan) => Refusal | undefined;
  readonly accept: (exchange: Exchange) => Refusal | undefined;
  readonly parameters: (exchange: Exchange) => Refusal | undefined;
  readonly body: (exchange: Exchange) => PromiseOrValue<Buffer | 'too large'>;
  readonly take: (bytes: Buffer | 'too large', exchange: Exchange) => Refusal | undefined;
  readonly inTime: (exchange: Exchange, carryOut: OperationRun) => PromiseOrValue<Reply>;
}

/**
 * The steps over the caller and what was sent, in an order that a document states. Where the row comes before something else, it is
 * looked for once that has refused: what is let through is carried out as ever.
 */
export function compileStatedAsk(
  steps: Asking,
  order: readonly OrderWord[],
  carryOut: (exchange: Exchange) => PromiseOrValue<Reply>,
): (exchange: Exchange, unknown: Refusal | undefined) => PromiseOrValue<Reply> {
  const row = order.indexOf('row');
  const asked = order.flatMap((word, at) => (word in stepsBy ? [{ word, isAfterRow: at > row }] : []));

  function from(at: number, exchange: Exchange, unknown: Refusal | undefined): PromiseOrValue<Reply> {
    for (let index = at; index < asked.length; index++) {
      const { word, isAfterRow } = asked[index]!;
      const refusal = stepsBy[word as AskedWord](steps, exchange, unknown);
      if (refusal instanceof Promise)
        return refusal.then((late) => (late ? refuse(exchange, late, word, isAfterRow) : from(index + 1, exchange, unknown)));
      if (refusal) return refuse(exchange, refusal, word, isAfterRow);
    }
    const open = steps.openFacts(exchange.plan);
    return open ? refusalReply(exchange, open) : carryOut(exchange);
  }

  function refuse(exchange: Exchange, refusal: Refusal, word: OrderWord, isAfterRow: boolean): PromiseOrValue<Reply> {
    const earlier = isAfterRow ? exchange.plan.earlierRow?.(exchange, word) : undefined;
    return after(earlier, (missing) => refusalReply(exchange, missing ?? refusal));
  }

  return (exchange, unknown) => steps.inTime(exchange, (one) => from(0, one, unknown));
}

type AskedWord = 'caller' | 'rates' | 'user' | 'accept' | 'body' | 'parameters';
type AskStep = (steps: Asking, exchange: Exchange, unknown: Refusal | undefined) => PromiseOrValue<Refusal | undefined>;

/** What each word asks. */
const stepsBy: Readonly<Record<AskedWord, AskStep>> = {
  caller: (_steps, _exchange, unknown) => unknown,
  rates: (steps, exchange) => steps.ratesOfCaller?.(exchange),
  user: (_steps, exchange) => exchange.plan.forbids(exchange),
  accept: (steps, exchange) => steps.accept(exchange),
  body: (steps, exchange) => (exchange.plan.input.takesBody ? afterFor(exchange, steps.body(exchange), steps.take) : undefined),
  parameters: (steps, exchange) => steps.parameters(exchange),
};
