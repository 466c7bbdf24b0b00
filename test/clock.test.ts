import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steadyClock } from '../src/serve/http/clock.ts';
import { targetOf } from '../src/serve/service/admin/workbench.ts';

test('a clock that is set back goes on at half its pace, and comes to the time of day again', () => {
  let day = 1_000_000;
  let elapsed = 500;
  const clock = steadyClock(
    () => day,
    () => elapsed,
  );
  const pass = (ms: number, set = 0) => {
    day += ms + set;
    elapsed += ms;
    return clock.now();
  };
  assert.equal(clock.now(), 1_000_000);
  assert.equal(pass(10), 1_000_010);
  assert.equal(pass(5, -60_000), 1_000_012);
  assert.equal(pass(5), 1_000_015);
  // Twice as long as it was set back by, and it shows the time of day; until then it only goes on.
  assert.equal(pass(60_000), 1_030_015);
  assert.equal(pass(59_980), 1_060_005);
  assert.equal(pass(10), 1_060_010);
  assert.equal(pass(10), day);
  // Set forward, it is there at once.
  assert.equal(pass(10, 3_600_000), day);
});

test('who waits for a time is woken where the clock is set forward meanwhile', async () => {
  let day = 1_000_000;
  const clock = steadyClock(() => day);
  const held = setInterval(() => {}, 1000);
  const woken = new Promise<void>((resolve) => clock.at(day + 3_600_000, resolve));
  day += 7_200_000;
  await woken;
  clearInterval(held);
});

test('a clock is led to what RFC 3339 can write, by a time or a duration and nothing else', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(targetOf({ advance: 'PT1H' }, now), now + 3_600_000);
  assert.equal(targetOf({ now: '2027-01-01T00:00:00Z' }, now), Date.UTC(2027, 0, 1));
  for (const wrong of [
    { advance: 'P9000Y' },
    { advance: '1h' },
    { advance: 'PT1H', now: '2027-01-01T00:00:00Z' },
    { advance: 'PT1H', by: 1 },
    {},
    [],
    7,
  ])
    assert.equal(targetOf(wrong, now), undefined, JSON.stringify(wrong));
});
