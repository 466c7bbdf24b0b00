/** The clock of a reference service: the machine's, moved forward by whoever holds its door. */

export interface Clock {
  now(): number;
  /** Runs something once the time has come, in the order of their times; what is given back calls it off. */
  at(ms: number, run: () => void | Promise<void>): () => void;
  /** Moves the clock and waits until what has become due is done. */
  advance(ms: number): Promise<void>;
  close(): void;
}

interface Due {
  readonly ms: number;
  readonly run: () => void | Promise<void>;
}

/** Timers of Node take no more than this. */
const timerMsMax = 2 ** 31 - 1;

export function startClock(): Clock {
  const waiting = new Set<Due>();
  let movedMs = 0;
  let timer: NodeJS.Timeout | undefined;
  let armedMs = Number.POSITIVE_INFINITY;
  const now = (): number => Date.now() + movedMs;

  function arm(): void {
    armedMs = Number.POSITIVE_INFINITY;
    for (const { ms } of waiting) armedMs = Math.min(armedMs, ms);
    set();
  }

  function set(): void {
    clearTimeout(timer);
    if (armedMs === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(() => void runDue(), Math.min(timerMsMax, Math.max(0, armedMs - now())));
    timer.unref();
  }

  async function runDue(): Promise<void> {
    const due = [...waiting].filter(({ ms }) => ms <= now()).sort((one, other) => one.ms - other.ms);
    for (const one of due) {
      // One that ran before may have called it off.
      if (waiting.delete(one)) await one.run();
    }
    arm();
  }

  return {
    now,
    at(ms, run) {
      const due = { ms, run };
      waiting.add(due);
      if (ms < armedMs) {
        armedMs = ms;
        set();
      }
      return () => waiting.delete(due);
    },
    async advance(ms) {
      movedMs += ms;
      await runDue();
    },
    close() {
      waiting.clear();
      clearTimeout(timer);
    },
  };
}
