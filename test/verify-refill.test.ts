import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../src/verify/exchange/client.ts';
import type { ServiceClock } from '../src/verify/exchange/clock.ts';
import { Refill } from '../src/verify/refill.ts';

/** What is due until so long a window is over, and how often that was waited for. */
function due() {
  let owed: number | undefined = 86_400_000;
  const waited: number[] = [];
  const client = {
    get owedMs() {
      return owed;
    },
    forgiveOwed: () => (owed = undefined),
  };
  const clock = { advance: async () => {}, toService: () => 0, wait: async (ms: number) => void waited.push(ms) };
  // The casts hold: nothing else of either is asked.
  const refill = new Refill(client as unknown as Client, clock as unknown as ServiceClock, () => true);
  return { refill, waited, owe: (ms: number) => (owed = ms) };
}

test('a long window goes by once what is under way has ended, and before what comes next is begun', async () => {
  const { refill, waited, owe } = due();
  const order: string[] = [];
  let end = () => {};
  await refill.around(async () => void order.push('first'));
  const going = refill.around(() => new Promise<void>((resolve) => (end = resolve)));
  await Promise.resolve();
  owe(3_600_000);
  const next = refill.around(async () => void order.push('next'));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([waited, order], [[86_400_000], ['first']]);
  end();
  await Promise.all([going, next]);
  assert.deepEqual(
    [waited, order],
    [
      [86_400_000, 3_600_000],
      ['first', 'next'],
    ],
  );
});

test('what waits for the machine for many seconds keeps nobody waiting: the window goes by meanwhile', async () => {
  const { refill, waited, owe } = due();
  await refill.around(async () => {});
  let end = () => {};
  const slow = refill.around(() => new Promise<void>((resolve) => (end = resolve)), undefined, true);
  await Promise.resolve();
  owe(60_000);
  await refill.around(async () => {});
  assert.deepEqual(waited, [86_400_000, 60_000]);
  end();
  await slow;
});
