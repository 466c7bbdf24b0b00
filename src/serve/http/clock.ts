import { randomBytes, randomUUID } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { CryptoKey, JWK } from 'jose';

/** What tells the time, and wakes whoever waits for one. It is handed in, so that tests can move it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once the time has come; returns what takes that back. */
  at(ms: number, wake: () => void): () => void;
}

/** What identifiers and secrets are made of. It is handed in, so that tests can repeat themselves. */
export interface Entropy {
  /** That many random bytes. */
  bytes(length: number): Uint8Array;
  uuid(): string;
  /** Forty bits by chance; of one millisecond each number is larger than the one before it, by a step that nobody can tell. */
  rising?(nowMs: number): number;
}

/** What a service is given in place of the machine's own. */
export interface Surroundings {
  readonly clock: Clock;
  readonly chance: Entropy;
  /** Told of failures, which callers see as `internal` alone. */
  readonly onFailure: (failure: unknown, requestId: string) => void;
}

/**
 * A clock over what shows the time of day and what only ever goes on. It never goes back: where the day's time is set back, it goes
 * on at half its pace until the other has come up with it. Where it is set forward, whoever waits is woken within a second.
 */
export function steadyClock(dayMs: () => number = Date.now, elapsedMs: () => number = () => performance.now()): Clock {
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastElapsedMs = 0;
  const now = () => {
    const elapsed = elapsedMs();
    lastMs = Math.max(dayMs(), lastMs + (elapsed - lastElapsedMs) / 2);
    lastElapsedMs = elapsed;
    return Math.floor(lastMs);
  };
  return {
    now,
    at(ms, wake) {
      let timer: NodeJS.Timeout;
      const wait = () => {
        timer = setTimeout(() => (now() >= ms ? wake() : wait()), Math.min(Math.max(0, ms - now()), lookMs));
        timer.unref();
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}

/** A timer does not notice that the clock is set, so the clock is looked at this often. */
const lookMs = 500;

/** How long this process lets others wait: `takeSeconds` gives what 99 % waited less than since it was last asked. */
export function measureDelay(): { takeSeconds(): number; stop(): void } {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  return {
    takeSeconds() {
      const nanoseconds = delay.percentile(99);
      delay.reset();
      return nanoseconds / 1e9;
    },
    stop: () => void delay.disable(),
  };
}

/** The machine's own clock. */
export const systemClock: Clock = steadyClock();

/** The machine's own randomness. Small amounts are cut off a larger one, since asking for some costs as much as asking for many. */
export const systemChance: Entropy = {
  bytes(length) {
    if (length > 256) return randomBytes(length);
    if (taken + length > pool.length) {
      pool = randomBytes(8192);
      taken = 0;
    }
    taken += length;
    return pool.subarray(taken - length, taken);
  },
  uuid: () => randomUUID(),
  rising: risingChance((length) => systemChance.bytes(length)),
};

/**
 * Numbers of forty bits that rise within a millisecond by steps of up to 2^20: half a million fit, after which the next one is anywhere again.
 * Identifiers that rise as rows do are each put at the end of an index.
 */
export function risingChance(bytes: (length: number) => Uint8Array): (nowMs: number) => number {
  let lastMs = Number.NaN;
  let last = 0;
  return (nowMs) => {
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = bytes(5);
    const step = 1 + (((a << 16) | (b << 8) | c) & (2 ** 20 - 1));
    const isNext = nowMs === lastMs && last + step < 2 ** 40;
    lastMs = nowMs;
    // The first one leaves half of all numbers above it.
    last = isNext ? last + step : (a & 0x7f) * 2 ** 32 + (((b << 24) | (c << 16) | (d << 8) | e) >>> 0);
    return last;
  };
}

let pool = Buffer.alloc(0);
let taken = 0;

/** A new key pair for signatures of an algorithm (RFC 7518 section 3.1). */
export async function makeKeyPair(algorithm: string): Promise<{ readonly publicJwk: JWK; readonly privateKey: CryptoKey }> {
  const { exportJWK, generateKeyPair } = await import('jose');
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return { publicJwk: await exportJWK(publicKey), privateKey };
}

/** A clock that stands still until it is moved; moving it wakes what falls due, in order. */
export function movableClock(startMs: number): Clock & { set(ms: number): void; advance(ms: number): void } {
  let time = startMs;
  const waiting = new Set<{ readonly ms: number; readonly wake: () => void }>();
  const clock = {
    now: () => time,
    at(ms: number, wake: () => void) {
      const entry = { ms, wake };
      waiting.add(entry);
      return () => void waiting.delete(entry);
    },
    set(ms: number) {
      for (;;) {
        const due = [...waiting].filter((entry) => entry.ms <= ms).sort((a, b) => a.ms - b.ms)[0];
        if (!due) break;
        waiting.delete(due);
        time = Math.max(time, due.ms);
        due.wake();
      }
      time = Math.max(time, ms);
    },
    advance: (ms: number) => clock.set(time + ms),
  };
  return clock;
}

/** Milliseconds that go by, whatever the clock of the service says: for measuring. */
export function elapsedMs(): number {
  return performance.now();
}

/** A clock that can be set forward. What falls due meanwhile is woken in order, each at its own time. */
export interface SettableClock extends Clock {
  set(ms: number): void;
}

/** A clock that goes on with the machine's from wherever it was set to. */
export function settableClock(machine: Clock = systemClock): SettableClock {
  let aheadMs = 0;
  /** The time that it is for what is being woken. */
  let held: number | undefined;
  const waiting = new Set<Waiting>();
  const now = () => held ?? machine.now() + aheadMs;
  const arm = (entry: Waiting) => {
    entry.cancel = machine.at(entry.ms - aheadMs, () => {
      waiting.delete(entry);
      entry.wake();
    });
  };
  return {
    now,
    at(ms, wake) {
      const entry: Waiting = { ms, wake, cancel: () => {} };
      waiting.add(entry);
      arm(entry);
      return () => {
        waiting.delete(entry);
        entry.cancel();
      };
    },
    set(target) {
      for (;;) {
        const due = [...waiting].filter(({ ms }) => ms <= target).sort((one, other) => one.ms - other.ms)[0];
        if (!due) break;
        waiting.delete(due);
        due.cancel();
        held = Math.max(now(), due.ms);
        due.wake();
      }
      held = undefined;
      aheadMs = Math.max(aheadMs, target - machine.now());
      for (const entry of waiting) {
        entry.cancel();
        arm(entry);
      }
    },
  };
}

interface Waiting {
  readonly ms: number;
  readonly wake: () => void;
  cancel: () => void;
}
