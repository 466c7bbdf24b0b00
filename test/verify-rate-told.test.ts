import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { startBudget } from '../src/verify/exchange/budget.ts';
import { Client } from '../src/verify/exchange/client.ts';
import { ownClock } from '../src/verify/exchange/clock.ts';
import { isNothingLeft, refillMs, type ToldNames } from '../src/verify/exchange/lanes.ts';

const toMs = Date.parse('2026-06-01T09:00:00Z');
const ownReset = (as: 'seconds' | 'unix' | 'http-date'): ToldNames => ({ remaining: 'X-Left', reset: { name: 'X-Reset', as } });

/** What an answer says, and what that is: in how many milliseconds more can be used, and whether nothing is left. */
const said: readonly (readonly [
  says: string,
  headers: Record<string, string>,
  names: ToldNames,
  ms: number | undefined,
  isOut: boolean | undefined,
])[] = [
  ['nothing', {}, {}, undefined, undefined],
  ['how long to wait', { 'retry-after': '3', ratelimit: '"a";r=0;t=9' }, {}, 3000, true],
  ['of several rates the one of which nothing is left', { ratelimit: '"a";r=5;t=90, "b";r=0;t=7' }, {}, 7000, true],
  ['that something is left', { ratelimit: '"a";r=5;t=90' }, {}, undefined, false],
  ['it as drafts did before', { ratelimit: 'limit=10, remaining=0, reset=30' }, {}, 30_000, true],
  ['it in several fields', { 'ratelimit-remaining': '0', 'ratelimit-reset': '12' }, {}, 12_000, true],
  ['it in seconds under names of its own', { 'x-left': '0', 'x-reset': '12' }, ownReset('seconds'), 12_000, true],
  ['the time since 1970', { 'x-left': '1', 'x-reset': String(toMs / 1000 + 5) }, ownReset('unix'), 5000, false],
  ['a date', { 'x-reset': 'Mon, 01 Jun 2026 09:00:08 GMT' }, ownReset('http-date'), 8000, undefined],
  ['what is no time', { 'x-left': 'none', 'x-reset': 'soon' }, ownReset('seconds'), undefined, undefined],
];

for (const [says, headers, names, ms, isOut] of said) {
  test(`an answer that says ${says} is read so`, () => {
    assert.deepEqual([refillMs({ headers, toMs }, names), isNothingLeft({ headers }, names)], [ms, isOut]);
  });
}

test('where an answer says that nothing is left, nothing is sent until there is', async () => {
  let [left, refused, sinceMs] = [2, 0, Number.POSITIVE_INFINITY];
  const server = createServer((_request, response) => {
    if (Date.now() - sinceMs >= 1000) left = 2;
    if (left === 2) sinceMs = Date.now();
    const isLet = left > 0;
    if (isLet) left -= 1;
    else refused += 1;
    response.writeHead(isLet ? 200 : 429, { ratelimit: `"all";r=${left};t=1` });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The cast holds: a server that listens on a port has an address with one.
  const { port } = server.address() as AddressInfo;
  const budget = startBudget(100, 60_000);
  const client = new Client({
    origin: `http://127.0.0.1:${port}`,
    connections: 1,
    timeoutMs: 5_000,
    budget,
    clock: ownClock(budget, new AbortController().signal),
  });
  try {
    // The limit that is stated is not the one that there is.
    const lanes = [{ key: 'all', limit: 50, windowMs: 5_000 }];
    for (let sent = 0; sent < 5; sent++)
      assert.equal((await client.send({ method: 'GET', target: '/', headers: {} }, { lanes })).status, 200);
    assert.equal(refused, 0);
  } finally {
    await client.close();
    server.close();
  }
});
