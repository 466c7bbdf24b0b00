import { createServer } from 'node:http';
import { durationOf } from './keeping/clock.js';

/**
 * A door for tests, opened by `--clock-port` alone: GET tells the service's time; a POST or PUT moves it forward, by
 * `{ "advance": "2h" }` (also `by`, `ms`, `seconds`) or to `{ "now": "2027-01-01T00:00:00Z" }` (also `to`, `at`).
 */
export function openDoor(clock, port) {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    if (['POST', 'PUT', 'PATCH'].includes(request.method)) {
      const query = Object.fromEntries(new URL(request.url, 'http://door').searchParams);
      const ms = forward(text === '' ? query : readable(text), clock);
      if (ms === undefined || Number.isNaN(ms)) return response.writeHead(400).end();
      if (ms > 0) await clock.move(ms);
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ now: clock.iso() }));
  });
  return server.listen(port, '127.0.0.1');
}

function readable(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function forward(told, clock) {
  if (typeof told === 'number') return told;
  if (typeof told === 'string') return durationOf(told) ?? Date.parse(told) - clock.now();
  const { now, to = now, at = to, time = at, ms, seconds, advance, by = advance } = told ?? {};
  if (time !== undefined) return (typeof time === 'number' ? time : Date.parse(time)) - clock.now();
  if (ms !== undefined) return Number(ms);
  if (seconds !== undefined) return Number(seconds) * 1000;
  return by === undefined ? undefined : durationOf(by);
}
