import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { staysWithin } from '../src/verify/make/ends.ts';
import { Model } from '../src/verify/model/model.ts';
import { Refill, refillMsMax } from '../src/verify/refill.ts';
import type { Session } from '../src/verify/session/session.ts';

const now = Date.parse('2026-06-01T09:00:00Z');
const day = 86_400_000;

/** Whether so much time may go by where the versions are as is said. */
function stays(ms: number, versions: string): boolean {
  const { spec } = check(parseDocument(`title: Notes\nversioning: { versions: ${versions} }\n`, 'stand.yaml'));
  const model = new Model(spec, [], '');
  // The casts hold: nothing else of either is asked.
  return staysWithin(model, { run: { clock: { toService: () => now } } } as unknown as Session, ms);
}

test('no time is let go by in which a version begins to be deprecated or ends', () => {
  const old = (words: string) => `{ "1": { ${words} }, "2": { current: true } }`;
  assert.equal(stays(7 * day, old('deprecated: 2026-01-01, sunset: 2027-01-01')), true);
  assert.equal(stays(7 * day, old('deprecated: 2026-01-01, sunset: 2026-06-05')), false);
  assert.equal(stays(7 * day, old('deprecated: 2026-06-08')), false);
  assert.equal(stays(7 * day, old('deprecated: 2026-06-12')), true);
});

test('no more time is let go by than the longest month', async () => {
  const refillOf = (ms: number) => {
    const client = { owedMs: ms, forgiveOwed: () => {} };
    const clock = { advance: async () => {}, wait: async () => {} };
    // The casts hold: nothing else of either is asked.
    return new Refill(client as never, clock as never, (one) => one <= refillMsMax);
  };
  assert.equal(refillOf(31 * day + 3_600_000).isDue, true);
  assert.equal(refillOf(33 * day).isDue, false);
});
