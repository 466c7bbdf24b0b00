import { setTimeout as pause } from 'node:timers/promises';
import { asText } from './as-text.ts';
import { type Budget, Spent } from './budget.ts';
import { Untestable } from './untestable.ts';

/** The service's clock, as far as it is known from here. */
export interface ServiceClock {
  /** What the service's clock shows when ours shows this. */
  toService(ms: number): number;
  /** The same at the latest, where the clock is just being moved. */
  latest(ms: number): number;
  /** How far off it may be. */
  readonly toleranceMs: number;
  /** Lets so much time go by, on the service's clock where it can be moved. */
  wait(ms: number): Promise<void>;
  /** Moves the service's clock. Absent = it cannot be moved. */
  readonly advance?: (ms: number) => Promise<void>;
  /** Asks what time it is at a service that was started anew. */
  readonly renew?: () => Promise<void>;
  /** Learns from an answer's `Date` how far the clocks are apart. */
  learn(date: string | undefined, fromMs: number, toMs: number): void;
}

/**
 * A clock that goes by itself: what is known of it comes from the `Date` of answers, which has whole seconds. Nobody waits for longer
 * than there is time, nor after `ended`.
 */
export function ownClock({ leftMs }: Pick<Budget, 'leftMs'>, ended: AbortSignal): ServiceClock {
  let offsetMs = 0;
  let known = false;
  return {
    toService: (ms) => ms + offsetMs,
    latest: (ms) => ms + offsetMs,
    toleranceMs: 2_000,
    async wait(ms) {
      if (ms >= leftMs('again')) throw new Untestable(`it takes ${Math.ceil(ms / 1000)} s, and so much time is not left`);
      await pause(ms, undefined, { signal: ended });
    },
    learn(date, fromMs, toMs) {
      const shown = Date.parse(date ?? '');
      if (known || !Number.isFinite(shown)) return;
      known = true;
      const off = shown + 500 - (fromMs + toMs) / 2;
      offsetMs = Math.abs(off) <= 2_000 ? 0 : off;
    },
  };
}

/**
 * A clock that can be moved over HTTP (docs/verify-clock.md): GET gives `{ "now": "2026-06-01T09:00:00.000Z" }`, POST of
 * `{ "advance": "PT60S" }` moves it on and gives the same once what became due is done. It may go on by itself in between.
 */
export async function movedClock(url: string, answerMs: number, budget: Budget): Promise<ServiceClock> {
  const tell = (advanceMs?: number) => {
    budget.take('again');
    return told(url, Math.max(1, Math.min(answerMs, budget.leftMs('last'))), advanceMs);
  };
  let offsetMs = (await tell()) - Date.now();
  let movingMs = 0;
  const advance = async (ms: number) => {
    movingMs += ms;
    try {
      offsetMs = Math.max(offsetMs, (await tell(ms)) - Date.now());
    } catch (error) {
      if (error instanceof Spent) throw error;
      throw new Untestable(`the clock was not moved: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      movingMs -= ms;
    }
  };
  return {
    toService: (ms) => ms + offsetMs,
    latest: (ms) => ms + offsetMs + movingMs,
    toleranceMs: 2_000,
    wait: advance,
    advance,
    async renew() {
      offsetMs = (await tell()) - Date.now();
    },
    learn: () => {},
  };
}

async function told(url: string, answerMs: number, advanceMs?: number): Promise<number> {
  const moving = advanceMs !== undefined && {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ advance: `PT${advanceMs / 1000}S` }),
  };
  const ask = () => fetch(url, { ...moving, redirect: 'error', signal: AbortSignal.timeout(answerMs) });
  // A connection that was kept may have been ended meanwhile; what moves nothing can be asked again.
  const response = await (moving ? ask() : ask().catch(ask));
  const body: unknown = JSON.parse(await readBounded(response, answerLengthMax));
  const now = typeof body === 'object' && body !== null && 'now' in body ? Date.parse(asText(body.now)) : Number.NaN;
  if (!response.ok || !Number.isFinite(now)) throw new Error(`the clock at ${url} does not say what time it is`);
  return now;
}

/** What a clock says is short. */
const answerLengthMax = 65_536;

/** The text of an answer, which is refused where it is longer than this. */
async function readBounded({ body }: Response, most: number): Promise<string> {
  let text = '';
  // The cast holds: a body is a stream of bytes.
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += Buffer.from(piece).toString('latin1');
    if (text.length > most) throw new Error('it says more than any clock has to');
  }
  return text;
}
