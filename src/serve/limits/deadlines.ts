import type { PromiseOrValue } from '../exchange/after.ts';
import type { Deadline, Exchange, OperationRun, Refusal } from '../exchange/exchange.ts';
import type { Reply } from '../http/call.ts';
import type { Clock } from '../http/clock.ts';
import { ClientGone } from '../http/disconnect.ts';

/** Carries out a request in the time that it has; an answer that is there at once is never late. */
export type Within = (exchange: Exchange, carryOut: OperationRun, readsBody: boolean) => PromiseOrValue<Reply>;

interface Waiting {
  readonly atMs: number;
  readonly deadline: RunningDeadline;
}

/**
 * Compiles `timeout.request`. All requests have the same time, so they fall due in the order in which they came, and one
 * timer is enough for all of them.
 */
export function compileDeadlines(
  requestMs: number,
  clock: Clock,
  refuse: (exchange: Exchange, refusal: Refusal) => Reply,
  onFailure: (failure: unknown, requestId: string) => void,
): Within {
  let waiting: Waiting[] = [];
  let first = 0;
  let isSet = false;

  function wait(entry: Waiting): void {
    waiting.push(entry);
    if (!isSet) set(entry.atMs);
  }

  function set(atMs: number): void {
    isSet = true;
    clock.at(atMs, wake);
  }

  function wake(): void {
    isSet = false;
    const nowMs = clock.now();
    for (; first < waiting.length; first++) {
      const { atMs, deadline } = waiting[first]!;
      if (deadline.isDone) continue;
      if (atMs > nowMs) break;
      deadline.expire();
    }
    waiting = waiting.slice(first);
    first = 0;
    if (waiting[0]) set(waiting[0].atMs);
  }

  return (exchange, carryOut, readsBody) => {
    let answerLate: (reply: Reply) => void = () => {};
    const deadline = new RunningDeadline(() => answerLate(refuse(exchange, lateness(exchange, readsBody))));
    exchange.deadline = deadline;
    const reply = carryOut(exchange);
    if (!(reply instanceof Promise)) return reply;
    return new Promise((resolve, reject) => {
      answerLate = resolve;
      wait({ atMs: exchange.nowMs + requestMs, deadline });
      reply.then(
        (made) => {
          deadline.done();
          resolve(made);
        },
        (failure: unknown) => {
          if (!deadline.isOver) reject(failure);
          else if (!(failure instanceof TimedOut || failure instanceof ClientGone)) onFailure(failure, exchange.requestId());
          deadline.done();
        },
      );
    });
  };
}

/** A body that does not arrive is the client's own slowness (RFC 9110 section 15.5.9). */
function lateness({ bytes }: Exchange, readsBody: boolean): Refusal {
  return readsBody && bytes === undefined ? { when: 'limit.time', status: 408 } : { when: 'limit.time' };
}

/** Thrown where something would be stored for a request that was answered with `limit.time` already. */
export class TimedOut {}

/**
 * How long one request has. Once it is over the request is answered, and nothing that it still does is stored; a change that is
 * being stored when the time comes is let through, and answered as usual.
 */
export class RunningDeadline implements Deadline {
  #state: 'open' | 'applying' | 'over' | 'done' = 'open';
  #isDue = false;
  readonly #answer: () => void;
  readonly #freed: (() => void)[] = [];

  constructor(answer: () => void) {
    this.#answer = answer;
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  get isDone(): boolean {
    return this.#state === 'done' || this.#state === 'over';
  }

  apply(): void {
    if (this.#state === 'over') throw new TimedOut();
    if (this.#state === 'open') this.#state = 'applying';
  }

  release(): void {
    if (this.#state !== 'applying') return;
    this.#state = 'open';
    if (this.#isDue) this.expire();
  }

  /** The request is answered. */
  done(): void {
    if (this.#state !== 'over') this.#state = 'done';
  }

  whenOver(free: () => void): void {
    this.#freed.push(free);
  }

  /** The time has come. */
  expire(): void {
    this.#isDue = true;
    if (this.#state !== 'open') return;
    this.#state = 'over';
    for (const free of this.#freed) free();
    this.#answer();
  }
}
