/** The door that moves the clock of a service, and how long its work is waited for. */

import type { Json } from '../../document/document.ts';
import { isOnLoopback } from '../callers/origin.ts';
import type { Call, Reply } from '../http/call.ts';
import type { SettableClock } from '../http/clock.ts';
import { doorReply } from '../http/send.ts';
import { listen } from '../http/socket.ts';
import { targetOf } from './admin/workbench.ts';

/** What a clock door needs of the service whose clock it moves. */
export interface Moved {
  readonly clock: SettableClock;
  /** Resolves once what is due by the clock is done. */
  settled(): Promise<void>;
}

/**
 * Opens a door on a loopback address by which the clock of a service is read and set forward, for trials and never in
 * production. What is under way is finished before, and what has fallen due is done before it answers; a web hook whose receiver does not
 * answer is on its way. docs/verify-clock.md is its page.
 */
export async function openClock(moved: Moved, port: number): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { url, close } = await listen((call) => answer(call, moved), { port, host: '127.0.0.1' });
  return { url, close };
}

async function answer(call: Call, moved: Moved): Promise<Reply> {
  // No page of a browser has any business here.
  if (!isOnLoopback(call) || call.headers.origin !== undefined)
    return doorReply(403, { error: 'This door is for this machine alone.' });
  const { clock } = moved;
  if (call.method === 'GET') return doorReply(200, timeOf(clock));
  if (call.method !== 'POST')
    return { ...doorReply(405, { error: 'GET tells the time, POST moves it.' }), headers: { allow: 'GET, POST' } };
  const bytes = await call.body(1024);
  const target = bytes === 'too large' ? undefined : targetOf(inputIn(bytes), clock.now());
  if (target === undefined)
    return doorReply(400, { error: 'Write { "now": "2026-06-01T09:00:00Z" } or { "advance": "PT1H" }, an ISO 8601 duration.' });
  if (target < clock.now()) return doorReply(422, { error: `The clock goes forward alone; it is ${timeOf(clock).now}.` });
  await settledSoon(moved);
  clock.set(target);
  await settledSoon(moved);
  return doorReply(200, timeOf(clock));
}

function timeOf(clock: SettableClock): { readonly now: string } {
  return { now: new Date(clock.now()).toISOString() };
}

function inputIn(bytes: Buffer): Json | undefined {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Waits until what is due is done, but not for receivers of web hooks that do not answer. */
export function settledSoon(moved: { settled(): Promise<void> }): Promise<void> {
  return new Promise((resolve, reject) => {
    const enough = setTimeout(resolve, 300);
    moved
      .settled()
      .then(resolve, reject)
      .finally(() => clearTimeout(enough));
  });
}
