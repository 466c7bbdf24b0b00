import { valueAt } from '../../document/place.ts';
import { below } from '../../document/pointer.ts';
import type { Chance } from '../clock.ts';
import { webhookOf } from './kinds.ts';
import type { Posted } from './posting.ts';
import type { EventsSetting } from './setting.ts';

/** When a delivery is tried again, how long a try may take, and when a subscriber is given up. */
export interface Schedule {
  readonly timeoutMs: number;
  readonly disableAfterMs: number | undefined;
  /** When to try again after so many tries; nothing = no more. */
  next(tries: number, posted: Posted, nowMs: number, chance: Chance): number | undefined;
}

const hourMs = 3_600_000;

/** Where a document does not say: the example of Standard Webhooks 1.0.0. */
const usualRetryMs: readonly number[] = [5_000, 300_000, 1_800_000, 2, 5, 10, 14, 20, 24].map((wait) =>
  wait < 100 ? wait * hourMs : wait,
);
const usualTimeoutMs = 15_000;
/** How far a wait is moved by chance, either way. */
const jitter = 0.2;
/** The longest that a receiver can ask to be left alone. */
const retryAfterMaxMs = 24 * hourMs;

export function compileSchedule(engine: EventsSetting): Schedule {
  const webhook = webhookOf(engine);
  const written = webhook && valueAt(engine.compilation.spec.document.tree, below(webhook.at, 'retry'));
  const waits = webhook && written !== undefined ? webhook.retryMs : usualRetryMs;
  return {
    timeoutMs: webhook?.timeoutMs ?? usualTimeoutMs,
    disableAfterMs: webhook?.disableAfterMs,
    next(tries, posted, nowMs, chance) {
      const wait = waits[tries - 1];
      if (wait === undefined) return undefined;
      const [a = 0, b = 0] = chance.bytes(2);
      const moved = wait * (1 - jitter + (2 * jitter * (a * 256 + b)) / 65_535);
      return nowMs + Math.round(Math.max(moved, Math.min(retryAfterMaxMs, retryAfterMs(posted, nowMs))));
    },
  };
}

/** What a receiver asks for, in seconds or as a date (RFC 9110 section 10.2.3). */
export function retryAfterMs({ retryAfter }: Posted, nowMs: number): number {
  if (retryAfter === undefined) return 0;
  if (/^\d{1,9}$/.test(retryAfter.trim())) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs);
}
