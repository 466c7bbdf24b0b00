/** How much may be asked of the service. */
export interface Budget {
  /** Counts one request. What is looked at again, and cleaning up, comes on top. @throws {Spent} where there are no more. */
  take(isOnTop: boolean): void;
  /** Whether so much time is left. */
  hasTime(ms: number, isOnTop: boolean): boolean;
  readonly requests: number;
  readonly isSpent: boolean;
}

/** The requests or the time that were given are used up. */
export class Spent extends Error {
  override readonly name = 'Spent';
}

/** How long replays and cleaning up may go on after the time is used up. */
const onTopMs = 60_000;

export function startBudget(requestsMax: number, timeMs: number): Budget {
  const endMs = Date.now() + timeMs;
  let requests = 0;
  let onTop = 0;
  const isSpent = () => requests >= requestsMax || Date.now() >= endMs;
  return {
    take(isOnTop) {
      if (isOnTop) {
        onTop += 1;
        return;
      }
      if (isSpent()) throw new Spent(requests >= requestsMax ? `all ${requestsMax} requests are used up` : 'the time is used up');
      requests += 1;
    },
    hasTime: (ms, isOnTop) => Date.now() + ms < endMs + (isOnTop ? onTopMs : 0),
    get requests() {
      return requests + onTop;
    },
    get isSpent() {
      return isSpent();
    },
  };
}
