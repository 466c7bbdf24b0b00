import type { Clock } from '../clock.ts';
import { ClientGone } from '../doors/client-gone.ts';
import type { Exchange, Refusal, Reply } from '../exchange.ts';
import type { Within } from '../hooks.ts';
import { Deadline, TimedOut } from './deadline.ts';

interface Waiting {
  readonly atMs: number;
  readonly deadline: Deadline;
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
    const deadline = new Deadline(() => answerLate(refuse(exchange, lateness(exchange, readsBody))));
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
