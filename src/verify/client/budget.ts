/** How much may be asked of the service. */
export interface Budget {
  /** Counts one request. @throws {Spent} where there are no more. */
  take(): Promise<void>;
  /** Whether so much time is left. */
  hasTime(ms: number): boolean;
  readonly requests: number;
  readonly isSpent: boolean;
  /** Lets replays and cleaning up go on, which are bounded by themselves. */
  lift(): void;
}

/** The requests or the time that were given are used up. */
export class Spent extends Error {
  override readonly name = 'Spent';
}

export function startBudget(requestsMax: number, timeMs: number): Budget {
  const endMs = Date.now() + timeMs;
  let requests = 0;
  let lifted = false;
  const isSpent = () => !lifted && (requests >= requestsMax || Date.now() >= endMs);
  return {
    async take() {
      if (isSpent()) throw new Spent(requests >= requestsMax ? `all ${requestsMax} requests are used up` : 'the time is used up');
      requests += 1;
    },
    hasTime: (ms) => lifted || Date.now() + ms < endMs,
    get requests() {
      return requests;
    },
    get isSpent() {
      return isSpent();
    },
    lift() {
      lifted = true;
    },
  };
}
