import { after, type PromiseOrValue } from './after.ts';
import type { Call, Reply } from './call.ts';
import {
  type Exchange,
  type Identified,
  isReached,
  type Plan,
  type Reached,
  type Refusal,
  type Routed,
  type Run,
  refused,
} from './exchange.ts';

/** Answers calls: the nine parts, met in the order of refusals (section 6 of the language). */
export type AnswerCall = (call: Call) => PromiseOrValue<Reply>;

/**
 * The road of every request: fifteen steps from top to bottom, of which the first that refuses answers. The order is here alone;
 * what a step does is compiled once for the document (`steps.ts`) or for the endpoint (`plans.ts`).
 */
export function compileRoad(steps: Steps): AnswerCall {
  /** The steps before it is known who calls. */
  function answer(call: Call): PromiseOrValue<Reply> {
    const large = steps.sizes(call); //                   1. RFC 9110 section 15.5.15, RFC 6585 section 5
    if (large) return steps.refuseCall(call, large);
    const routed = steps.route(call); //                  2. RFC 9110 sections 15.5.5 and 15.5.6
    if (!isReached(routed)) return steps.answerUnrouted(call, routed);
    const exchange = steps.start(call, routed);
    const refusal =
      steps.version(routed) ?? //                         2. section 5 of the language, versioning
      steps.ratesOfAddress(exchange); //                  3. RFC 6585 section 4
    if (refusal) return steps.finish(exchange, refused(exchange, refusal));
    return after(steps.identify(exchange), (who) => enter(exchange, routed, who));
  }

  /** The steps over the caller, up to what was sent. */
  function enter(exchange: Exchange, asked: Routed, who: Identified): PromiseOrValue<Reply> {
    const routed = steps.pin(exchange.call, asked, who);
    if (!isReached(routed)) return steps.answerUnrouted(exchange.call, routed);
    const refusal =
      steps.caller(exchange, routed, who) ?? //           4. RFC 9110 section 15.5.2
      steps.ratesOfCaller(exchange) ?? //                 5. RFC 6585 section 4
      exchange.plan.forbids(exchange) ?? //               6. RFC 9110 section 15.5.4
      steps.openFacts(exchange.plan) ?? //                7. RFC 9110 section 15.6.2
      steps.accept(exchange) ?? //                        8. RFC 9110 section 15.5.7
      (exchange.plan.input.takesBody ? undefined : steps.parameters(exchange)); // RFC 9110 section 15.5.1
    if (refusal) return steps.finish(exchange, refused(exchange, refusal));
    return steps.inTime(exchange, exchange.plan.input.takesBody ? receive : carryOut);
  }

  /** Step 8 with a body: its type, its size, its form, and the parameters after it. */
  function receive(exchange: Exchange): PromiseOrValue<Reply> {
    return after(steps.body(exchange), (bad) => {
      const refusal =
        bad ?? //                                         8. RFC 9110 sections 15.5.14 and 15.5.16
        steps.parameters(exchange); //                       RFC 9110 section 15.5.1
      return refusal ? refused(exchange, refusal) : carryOut(exchange);
    });
  }

  /** What is asked of this very request at step 7 can be told by now; the others are the plan's. */
  function carryOut(exchange: Exchange): PromiseOrValue<Reply> {
    try {
      const refusal = steps.openFactsOf(exchange); //     7. RFC 9110 section 15.6.2
      return refusal ? refused(exchange, refusal) : exchange.plan.run(exchange); // 9–15.
    } catch (failure) {
      return steps.failed(exchange, failure);
    }
  }

  return answer;
}

/** What the steps ask, compiled for a document; nothing is what lets a request go on. */
export interface Steps {
  /** The sizes of URL and headers. */
  readonly sizes: (call: Call) => Refusal | undefined;
  /** The version that a call asks for, and the endpoint of that version that it reaches. */
  readonly route: (call: Call) => Routed;
  /** What has no endpoint: the service's own addresses, another method's path, an open list, nothing. */
  readonly answerUnrouted: (call: Call, routed: Routed) => PromiseOrValue<Reply>;
  readonly refuseCall: (call: Call, refusal: Refusal) => Reply;
  /** An exchange with nobody yet, at the endpoint that was reached. */
  readonly start: (call: Call, reached: Reached) => Exchange;
  /** A version that is not listed, or gone. */
  readonly version: (routed: Routed) => Refusal | undefined;
  /** Rates per address and for everyone, failed logins included. */
  readonly ratesOfAddress: (exchange: Exchange) => Refusal | undefined;
  readonly identify: (exchange: Exchange) => PromiseOrValue<Identified>;
  /** Where a call leads in the version that its caller is pinned to. */
  readonly pin: (call: Call, routed: Routed, who: Identified) => Routed;
  /** Lets a caller in, at the endpoint of its version. */
  readonly caller: (exchange: Exchange, reached: Reached, who: Identified) => Refusal | undefined;
  readonly ratesOfCaller: (exchange: Exchange) => Refusal | undefined;
  /** Facts without which nothing can be done at this endpoint, and handlers that are missing. */
  readonly openFacts: (plan: Plan) => Refusal | undefined;
  /** What the answer may be. */
  readonly accept: (exchange: Exchange) => Refusal | undefined;
  readonly parameters: (exchange: Exchange) => Refusal | undefined;
  readonly body: (exchange: Exchange) => PromiseOrValue<Refusal | undefined>;
  /** Facts that this very request needs. */
  readonly openFactsOf: (exchange: Exchange) => Refusal | undefined;
  /** Carries out the rest in the time that a request has, and finishes its answer. */
  readonly inTime: (exchange: Exchange, carryOut: Run) => PromiseOrValue<Reply>;
  readonly failed: (exchange: Exchange, failure: unknown) => Reply;
  /** Adds to an answer what does not come from the answer itself, and notes it down. */
  readonly finish: (exchange: Exchange, reply: Reply) => Reply;
}
