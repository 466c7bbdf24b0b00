/** The door through which the clock of a service is moved, as `docs/verify-clock.md` says. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { Clock } from './clock.ts';

export interface ClockDoor {
  readonly url: string;
  close(): Promise<void>;
}

export async function openClockDoor(clock: Clock): Promise<ClockDoor> {
  const server = createServer((request, response) => {
    void answer(clock, request).then((status) => {
      const body = status === 200 ? JSON.stringify({ now: new Date(clock.now()).toISOString() }) : undefined;
      response.writeHead(status, body === undefined ? {} : { 'Content-Type': 'application/json' }).end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The clock listens on no port.');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function answer(clock: Clock, request: IncomingMessage): Promise<number> {
  if (request.method === 'GET') return 200;
  if (request.method !== 'POST') return 400;
  const ms = targetMs(clock.now(), await textOf(request));
  if (ms === undefined) return 400;
  const waitMs = ms - clock.now();
  if (waitMs < 0) return 422;
  await clock.advance(waitMs);
  return 200;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** The time that is asked for: at once, or after a while. */
function targetMs(nowMs: number, text: string): number | undefined {
  const sent = parsed(text);
  if (typeof sent.now === 'string') {
    const ms = Date.parse(sent.now);
    return Number.isNaN(ms) ? undefined : ms;
  }
  return typeof sent.advance === 'string' ? later(nowMs, sent.advance) : undefined;
}

function parsed(text: string): { readonly now?: unknown; readonly advance?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

const duration = /^P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** A moment and an ISO 8601 duration, months and years by the calendar. */
function later(nowMs: number, text: string): number | undefined {
  const found = duration.exec(text);
  if (!found || text.endsWith('P') || text.endsWith('T')) return undefined;
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((part) => Number(part ?? 0));
  const at = new Date(nowMs);
  at.setUTCFullYear(at.getUTCFullYear() + years, at.getUTCMonth() + months);
  return at.getTime() + (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000;
}
