import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startBudget } from '../src/verify/exchange/budget.ts';
import { Client } from '../src/verify/exchange/client.ts';
import type { ServiceClock } from '../src/verify/exchange/clock.ts';

const outgoing = { method: 'GET', target: '/', headers: {} };
const windowMs = 60_000;

/** A service that refuses so often before it lets a request through, and says that five seconds are enough. */
async function refusing(times: number) {
  let left = times;
  const server = createServer((_request, response) => {
    const isRefused = left-- > 0;
    response.writeHead(isRefused ? 429 : 204, isRefused ? { 'retry-after': '5' } : {}).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const moves: number[] = [];
  const advance = async (ms: number) => void moves.push(ms);
  const clock: ServiceClock = {
    toService: (ms) => ms,
    latest: (ms) => ms,
    toleranceMs: 0,
    wait: advance,
    advance,
    learn: () => {},
  };
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const budget = startBudget(1_000, 300_000);
  const client = new Client({ origin, connections: 1, timeoutMs: 60_000, budget, clock, rateWindowMs: windowMs });
  const close = async () => {
    await client.close();
    server.close();
  };
  return { client, moves, close };
}

test('beside others the whole window of a rate goes by at once, as often as what is told of it is waited for', async () => {
  const { client, moves, close } = await refusing(4);
  try {
    const { status } = await client.send(outgoing, { pausing: (wait) => wait });
    assert.equal(status, 204);
    assert.deepEqual(moves, [windowMs, windowMs, windowMs, windowMs]);
  } finally {
    await close();
  }
});

test('alone no more goes by than what is told', async () => {
  const { client, moves, close } = await refusing(2);
  try {
    const { status } = await client.send(outgoing);
    assert.equal(status, 204);
    assert.ok(moves.length === 2 && moves.every((ms) => ms >= 5_000 && ms < 6_000), `${moves}`);
  } finally {
    await close();
  }
});
