/** How much may be asked of the service, and until when. */
export interface Budget {
  /** Counts one request. What is looked at again, and cleaning up, comes on top. @throws {Spent} where there are no more, or no time is left. */
  take(isOnTop: boolean): void;
  /** How much time is left, in milliseconds. */
  leftMs(isOnTop: boolean): number;
  /** What comes from here on is cleaning up, which has a little time of its own. */
  beginLast(): void;
  readonly requests: number;
  readonly isSpent: boolean;
}

/** The requests or the time that were given are used up. */
export class Spent extends Error {
  override readonly name = 'Spent';
}

/** How long what was seen may be looked at again after the time is used up, and how long after that may be cleaned up. */
const againMs = 10_000;
const lastMs = 5_000;

export function startBudget(requestsMax: number, timeMs: number): Budget {
  const endMs = Date.now() + timeMs;
  let requests = 0;
  let onTop = 0;
  let onTopEndMs = endMs + againMs;
  const isSpent = () => requests >= requestsMax || Date.now() >= endMs;
  return {
    take(isOnTop) {
      if (isOnTop) {
        if (Date.now() >= onTopEndMs) throw new Spent('the time is used up');
        onTop += 1;
        return;
      }
      if (isSpent()) throw new Spent(requests >= requestsMax ? `all ${requestsMax} requests are used up` : 'the time is used up');
      requests += 1;
    },
    leftMs: (isOnTop) => (isOnTop ? onTopEndMs : endMs) - Date.now(),
    beginLast() {
      onTopEndMs = endMs + againMs + lastMs;
    },
    get requests() {
      return requests + onTop;
    },
    get isSpent() {
      return isSpent();
    },
  };
}
