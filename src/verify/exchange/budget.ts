/** What a request is sent for: a trial, a second look at what looked broken, or taking away what was made. */
export type Errand = 'trial' | 'again' | 'last';

/** How much may be asked of the service, and until when. What is sent for whatever purpose counts, and nothing is sent beyond it. */
export interface Budget {
  /** Counts one request. @throws {Spent} where there are no more for this purpose, or no time is left. */
  take(errand: Errand): void;
  /** How much time is left for a purpose, in milliseconds. */
  leftMs(errand: Errand): number;
  /** What is owed to the service: as many requests are kept back for taking away what was made. */
  owes(count: () => number): void;
  /** How many breaches are to be run once more: for each, more of the time is kept back than for what may still look broken. */
  looksAgainAt(count: () => number): void;
  /** Everything that was sent. */
  readonly requests: number;
  /** How much of what trials have is used: 0 at the beginning, 1 in the end. */
  readonly used: number;
  /** Why no trial may send anything more; nothing where one may. */
  readonly spent: string | undefined;
  /** What of the two is used up first, for what was left for the sake of what comes last. */
  readonly scarce: string;
}

/** The requests or the time that were given are used up. */
export class Spent extends Error {
  override readonly name = 'Spent';
}

/** What is kept of the time for looking again and for cleaning up: these shares of it, and no more than this. */
const againShare = { of: 1 / 6, mostMs: 10_000 };
/** Where nothing looks broken so much of that is kept, and for each breach so much more. */
const againKept = { atFirst: 1 / 3, forEach: 1 / 6 };
const lastShare = { of: 1 / 12, mostMs: 5_000 };
/** What is kept of the requests for looking again, and for cleaning up beside what is owed. */
const againRequests = { of: 1 / 8, most: 1_000 };
const lastRequests = { of: 1 / 20, most: 200 };

export function startBudget(requestsMax: number, timeMs: number): Budget {
  const startMs = Date.now();
  const endMs = startMs + timeMs;
  const lastMs = Math.min(timeMs * lastShare.of, lastShare.mostMs);
  const againMs = Math.min(timeMs * againShare.of, againShare.mostMs);
  let breaches = () => 0;
  const trialEndMs = () => endMs - lastMs - againMs * Math.min(1, againKept.atFirst + againKept.forEach * breaches());
  const endOf = (errand: Errand): number => (errand === 'trial' ? trialEndMs() : errand === 'again' ? endMs - lastMs : endMs);
  const keptForAgain = Math.min(Math.floor(requestsMax * againRequests.of), againRequests.most);
  const keptForLast = Math.min(Math.floor(requestsMax * lastRequests.of), lastRequests.most);
  let requests = 0;
  let owed = () => 0;
  const most = (errand: Errand) => {
    if (errand === 'last') return requestsMax;
    // Not all is kept for what was made: else who makes much could look at nothing of it again.
    const kept = keptForLast + Math.min(owed(), Math.floor(requestsMax / 4));
    return requestsMax - kept - (errand === 'again' ? 0 : keptForAgain);
  };
  const [noTime, noRequests] = ['the time is used up', `the ${requestsMax} requests are used up`] as const;
  const spent = (errand: Errand) => {
    if (Date.now() >= endOf(errand)) return noTime;
    // Who has little asks at least once: one request is never kept back alone.
    return requests >= Math.max(Math.min(1, requestsMax), most(errand)) ? noRequests : undefined;
  };
  const timeUsed = () => {
    const untilMs = trialEndMs();
    return 1 - (untilMs - Date.now()) / Math.max(1, untilMs - startMs);
  };
  const requestsUsed = () => requests / Math.max(1, most('trial'));
  return {
    take(errand) {
      const why = spent(errand);
      if (why !== undefined) throw new Spent(why);
      requests += 1;
    },
    leftMs: (errand) => endOf(errand) - Date.now(),
    owes(count) {
      owed = count;
    },
    looksAgainAt(count) {
      breaches = count;
    },
    get requests() {
      return requests;
    },
    get used() {
      return Math.min(1, Math.max(0, timeUsed(), requestsUsed()));
    },
    get scarce() {
      return timeUsed() < requestsUsed() ? noRequests : noTime;
    },
    get spent() {
      return spent('trial');
    },
  };
}
