import type { OrderWord } from '../parts/errors.ts';
import type { Reader, Transaction } from '../store/store.ts';
import type { Identified } from './callers/presented.ts';
import { after, afterFor, type PromiseOrValue } from './exchange/after.ts';
import {
  type Exchange,
  type Fields,
  type OperationRun,
  type Plan,
  type Reached,
  type Refusal,
  type Routed,
  refusalReply,
} from './exchange/exchange.ts';
import type { Call, Reply } from './http/call.ts';
import {
  type Act,
  type AnsweredOutcome,
  type Changing,
  type Found,
  type Hook,
  type Names,
  type Outcome,
  type Pause,
  pausedAt,
  type TakenRow,
  type Work,
} from './resources/act.ts';
import { withDerived } from './resources/derive.ts';
import type { RowModel } from './resources/model.ts';
import { type Drawn, RefusedSet } from './resources/setters.ts';
import type { FireTransition } from './resources/transition.ts';
import { compileStatedAsk } from './stated-order.ts';

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
    const unserved = routed.refusal && steps.version(routed); // 2. section 5 of the language, versioning
    if (unserved) return steps.finish(exchange, refusalReply(exchange, unserved));
    if (!steps.ratesOfAddress) return afterFor(exchange, steps.identify(exchange), identified);
    return afterFor(exchange, steps.ratesOfAddress(exchange), counted); // 3. RFC 6585 section 4
  }

  function counted(hurried: Refusal | undefined, exchange: Exchange): PromiseOrValue<Reply> {
    if (hurried) return steps.finish(exchange, refusalReply(exchange, hurried));
    return afterFor(exchange, steps.identify(exchange), identified);
  }

  /** A caller may be pinned to a version, in which its call leads elsewhere. */
  function identified(who: Identified, exchange: Exchange): PromiseOrValue<Reply> {
    const { call, routed } = exchange;
    if (!steps.pin) return enter(exchange, routed, who);
    return afterFor(exchange, steps.pin(call, routed, who), (pinned) =>
      isReached(pinned) ? enter(exchange, pinned, who) : steps.answerUnrouted(call, pinned),
    );
  }

  /** A trial may have an answer of its own, or a delay, once it is known who calls. */
  function enter(exchange: Exchange, routed: Reached, who: Identified): PromiseOrValue<Reply> {
    const refusal = steps.caller(exchange, routed, who); // 4. RFC 9110 section 15.5.2
    if (!steps.play) return ask(exchange, refusal);
    return after(steps.play(exchange), (played) => (played ? steps.finish(exchange, played) : ask(exchange, refusal)));
  }

  /** The steps over the caller, up to what was sent. */
  const ask = steps.order ? compileStatedAsk(steps, steps.order, carryOut) : askAsEver;

  function askAsEver(exchange: Exchange, unknown: Refusal | undefined): PromiseOrValue<Reply> {
    if (unknown) return steps.finish(exchange, refusalReply(exchange, unknown));
    return afterFor(exchange, steps.ratesOfCaller?.(exchange), askOn); // 5. RFC 6585 section 4
  }

  function askOn(hurried: Refusal | undefined, exchange: Exchange): PromiseOrValue<Reply> {
    const refusal =
      hurried ??
      exchange.plan.forbids(exchange) ?? //               6. RFC 9110 section 15.5.4
      steps.openFacts(exchange.plan) ?? //                7. RFC 9110 section 15.6.2
      steps.accept(exchange) ?? //                        8. RFC 9110 section 15.5.7
      (exchange.plan.input.takesBody ? undefined : steps.parameters(exchange)); // RFC 9110 section 15.5.1
    if (refusal) return steps.finish(exchange, refusalReply(exchange, refusal));
    return steps.inTime(exchange, exchange.plan.input.takesBody ? receive : carryOut);
  }

  /** Step 8 with a body: its type, its size, its form, and the parameters after it. */
  function receive(exchange: Exchange): PromiseOrValue<Reply> {
    return afterFor(exchange, steps.body(exchange), received);
  }

  function received(bytes: Buffer | 'too large', exchange: Exchange): PromiseOrValue<Reply> {
    const refusal = steps.take(bytes, exchange) ?? steps.parameters(exchange); // 8. RFC 9110 sections 15.5.14 and 15.5.16, and 15.5.1
    return refusal ? refusalReply(exchange, refusal) : carryOut(exchange);
  }

  /** What is asked of this very request at step 7 can be told by now; the others are the plan's. */
  function carryOut(exchange: Exchange): PromiseOrValue<Reply> {
    try {
      const refusal = steps.openFactsOf(exchange); //     7. RFC 9110 section 15.6.2
      return refusal ? refusalReply(exchange, refusal) : exchange.plan.run(exchange); // 9–15.
    } catch (failure) {
      return steps.failed(exchange, failure);
    }
  }

  return answer;
}

function isReached(routed: Routed): routed is Reached {
  return routed.found.kind === 'found';
}

/** Steps 9 to 15 of an operation that changes rows: one transaction with the record of its idempotency key. */
export function changeRows(
  rows: Transaction,
  exchange: Exchange,
  steps: ChangeSteps,
  draw: Drawn,
  hook: Hook | undefined,
): Reply | Pause {
  const replayed = steps.replay?.(rows, exchange); //     9. draft-ietf-httpapi-idempotency-key-header-07
  if (replayed) return replayed;
  const work = steps.workFor(rows, exchange, draw);
  const outcome = actOn(work, exchange, steps.act, hook); // 10–15.
  if ('paused' in outcome) return outcome;
  if ('refusal' in outcome) return steps.refuse(rows, exchange, outcome.refusal);
  return steps.answer(work, exchange, outcome); //        15. RFC 9110 section 15.3
}

/** Steps 10 to 12: what is there, and what would become of it. */
function actOn(work: Work, exchange: Exchange, act: Act, hook: Hook | undefined): Outcome | Pause {
  const found = act.find(work, exchange); //              10. RFC 9110 sections 15.5.4 and 15.5.5
  if ('refusal' in found) return found;
  const first = act.order && refusedFirst(work, exchange, act, found, act.order);
  if (first) return { refusal: found.pass.conceal(first) };
  const failed = act.precondition?.(work, exchange, found); // 11. RFC 9110 section 13.2.2
  if (failed) return { refusal: found.pass.conceal(failed) };
  const taken = act.take(work, exchange, found); //       12. RFC 9110 section 15.5.21
  if ('refusal' in taken) return { refusal: found.pass.conceal(taken.refusal) };
  return carryThrough(work, (!found.row && act.making) || act.change, found, taken, hook);
}

/** Steps 11 to 13 in an order that the document states: which of them refuses first, as far as that can be told before what would be stored. */
function refusedFirst(
  work: Work,
  exchange: Exchange,
  { precondition, take, change, illegal }: Act,
  found: Found,
  order: readonly OrderWord[],
): Refusal | undefined {
  for (const word of order) {
    const refusal =
      word === 'precondition'
        ? precondition?.(work, exchange, found)
        : word === 'state'
          ? found.row && (change.illegalIn?.(found) ?? illegal?.(work, found))
          : refusalOf(take(work, exchange, found));
    if (refusal) return refusal;
  }
  return undefined;
}

function refusalOf(taken: TakenRow | { readonly refusal: Refusal }): Refusal | undefined {
  return 'refusal' in taken ? taken.refusal : undefined;
}

/** Steps 12 to 15, from where it is known what would be stored; a transition that nobody calls begins here. */
export function carryThrough(work: Work, change: Changing, found: Found, taken: TakenRow, hook?: Hook): Outcome | Pause {
  const { asStored } = change;
  const { inner, derived: stated } = change.model;
  const derived = (fields: Fields, isWhole: boolean) =>
    stated.fields.length === 0 ? fields : withDerived(work.rows, change.model, found.row?.id, fields, isWhole);
  const sent = hook?.next ?? taken.next;
  const next = derived(inner ? inner(work, found.fields, sent) : sent, false);
  const names = namesFor(work, found, next);
  const refusal =
    found.pass.settle(asStored && (() => derived(asStored(names, next, taken), false))) ?? // 12. RFC 9110 section 15.5.4
    change.illegalIn?.(found) ?? //                       13. RFC 9110 section 15.5.10
    taken.illegal;
  if (refusal) return { refusal };
  // Here a `before` handler has its say, outside the transaction; the steps from 9 on then run again with what it made.
  if (hook && !hook.next) return pausedAt(change.model, found, taken.next);
  const set = settled(() => change.set(work, found, taken, names, next));
  const fields = derived(set instanceof RefusedSet ? set.next : set, true);
  const own = change.ownErrors?.(namesFor(work, found, fields), taken); // 14. section 5 of the language, errors
  if (own) return { refusal: own };
  if (set instanceof RefusedSet) return set;
  const since = work.stored.length;
  const outcome = change.store(work, found, taken, fields); // 15. RFC 9110 section 15.5.10
  const done = work.models.follow ? followed(work, change.model, since, outcome) : outcome;
  return taken.answer === undefined || 'refusal' in done ? done : { ...done, answer: taken.answer };
}

/** What was set; or why it cannot stay so, which the errors of the service's own may say in their words. @throws {Refused} */
function settled(set: () => Fields): Fields | RefusedSet {
  try {
    return set();
  } catch (failure) {
    if (failure instanceof RefusedSet) return failure;
    throw failure;
  }
}

/** What follows from a change is carried out with it, and may change its row once more, or what is derived in it. */
function followed(work: Work, model: RowModel, since: number, outcome: Outcome): Outcome {
  const until = work.stored.length;
  work.models.follow?.(work, since);
  if ('refusal' in outcome || work.stored.length === until) return outcome;
  const now = work.rows.get(model.name, outcome.row.id);
  return now && now.rev !== outcome.row.rev ? { ...outcome, row: now, fields: model.parse(now) } : outcome;
}

/** Fires a transition on a row that is there, whoever fires it. */
export function fire(work: Work, { change, take }: FireTransition, found: Found): Outcome | Pause {
  return carryThrough(work, change, found, take(work, found));
}

function namesFor(work: Work, { fields }: Found, next: Fields): Names {
  return fields ? { ...work.scope, resource: fields, next } : { ...work.scope, next };
}

/** What the steps ask, compiled for a document; nothing is what lets a request go on. */
export interface Steps {
  /** The order that the document states for what stands before the transaction; nothing where it is that of section 6. */
  readonly order: readonly OrderWord[] | undefined;
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
  /** Rates that count failed logins too: per address, and for everyone where it is stated so. */
  readonly ratesOfAddress: ((exchange: Exchange) => PromiseOrValue<Refusal | undefined>) | undefined;
  readonly identify: (exchange: Exchange) => PromiseOrValue<Identified>;
  /** Where a call leads in the version that its caller is pinned to; nothing where nobody is. */
  readonly pin: ((call: Call, routed: Routed, who: Identified) => PromiseOrValue<Routed>) | undefined;
  /** Lets a caller in, at the endpoint of its version. */
  readonly caller: (exchange: Exchange, reached: Reached, who: Identified) => Refusal | undefined;
  /** What is played in a trial: an answer, or nothing where the service goes on. */
  readonly play: ((exchange: Exchange) => PromiseOrValue<Reply | undefined>) | undefined;
  readonly ratesOfCaller: ((exchange: Exchange) => PromiseOrValue<Refusal | undefined>) | undefined;
  /** Facts without which nothing can be done at this endpoint, and handlers that are missing. */
  readonly openFacts: (plan: Plan) => Refusal | undefined;
  /** What the answer may be. */
  readonly accept: (exchange: Exchange) => Refusal | undefined;
  readonly parameters: (exchange: Exchange) => Refusal | undefined;
  /** The bytes of a body, as they arrive. */
  readonly body: (exchange: Exchange) => PromiseOrValue<Buffer | 'too large'>;
  /** What they say. */
  readonly take: (bytes: Buffer | 'too large', exchange: Exchange) => Refusal | undefined;
  /** Facts that this very request needs. */
  readonly openFactsOf: (exchange: Exchange) => Refusal | undefined;
  /** Carries out the rest in the time that a request has, and finishes its answer. */
  readonly inTime: (exchange: Exchange, carryOut: OperationRun) => PromiseOrValue<Reply>;
  readonly failed: (exchange: Exchange, failure: unknown) => Reply;
  /** Adds to an answer what does not come from the answer itself, and notes it down. */
  readonly finish: (exchange: Exchange, reply: Reply) => Reply;
}

/** What the steps in a change ask, compiled for an endpoint. */
export interface ChangeSteps {
  readonly act: Act;
  /** The answer that was given to this key before; nothing where no key is taken. */
  readonly replay: ((rows: Reader, exchange: Exchange) => Reply | undefined) | undefined;
  readonly workFor: (rows: Transaction, exchange: Exchange, draw: Drawn) => Work;
  /** A refusal in the change: the service's own errors are kept like answers. */
  readonly refuse: (rows: Transaction, exchange: Exchange, refusal: Refusal) => Reply;
  /** The quota that the answer uses, the answer itself, the events, and the record of its key. */
  readonly answer: (work: Work, exchange: Exchange, outcome: AnsweredOutcome) => Reply;
}
