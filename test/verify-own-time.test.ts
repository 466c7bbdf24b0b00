import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { afterOwnTime } from '../src/verify/trials/limits/times.ts';

test('time in which the machine held everything up counts for nobody, and what is called off does not come', async () => {
  const came: string[] = [];
  afterOwnTime(300, () => came.push('after its own time'));
  const stop = afterOwnTime(100, () => came.push('called off'));
  stop();
  const heldUpUntil = Date.now() + 700;
  while (Date.now() < heldUpUntil);
  await delay(20);
  assert.deepEqual(came, []);
  while (came.length === 0) await delay(20);
  assert.deepEqual(came, ['after its own time']);
});
