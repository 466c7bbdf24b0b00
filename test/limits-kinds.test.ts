import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rateKinds } from '../src/kinds/limits/all.ts';
import { bucket } from '../src/kinds/limits/bucket.ts';
import { fixed } from '../src/kinds/limits/fixed.ts';
import type { Decision, RateFacts, RateKind, Use } from '../src/kinds/limits/kind.ts';
import { momentsMax, sliding } from '../src/kinds/limits/sliding.ts';

/** One request: how long after the last one, and what it costs. */
type Step = readonly [afterMs: number, cost: number];

const startMs = Date.parse('2026-06-01T09:00:00Z');
const steps = (windowMs: number, costMax: number) =>
  fc.array(
    fc.tuple(
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: windowMs + 2 })),
      fc.integer({ min: 0, max: costMax }),
    ),
    { maxLength: 120, size: 'max' },
  );
/** Facts, and requests that come about as often as they are allowed. */
const cases = (limitMax: number) =>
  fc
    .record({
      limit: fc.integer({ min: 1, max: limitMax }),
      windowMs: fc.integer({ min: 1, max: 1000 }),
      capacity: fc.integer({ min: 1, max: limitMax * 2 }),
    })
    .chain((facts) => fc.tuple(fc.constant(facts), steps(facts.windowMs, Math.max(1, Math.ceil(facts.limit / 5)))));

function unused(kind: RateKind): Use {
  return { numbers: new Float64Array(kind.numbersMax), length: 0 };
}

function copyOf(use: Use): Use {
  return { numbers: use.numbers.slice(), length: use.length };
}

/** Plays requests, and tells each decision beside what was counted before it. */
function play(
  kind: RateKind,
  facts: RateFacts,
  requests: readonly Step[],
  see: (decision: Decision, nowMs: number, cost: number, counted: readonly Step[], use: Use) => void,
): void {
  const use = unused(kind);
  const counted: Step[] = [];
  let nowMs = startMs;
  for (const [afterMs, cost] of requests) {
    nowMs += afterMs;
    const decision = kind.decide(facts, use, nowMs, cost);
    see(decision, nowMs, cost, counted, use);
    if (decision.isAllowed) counted.push([nowMs, cost]);
  }
}

function usedIn(counted: readonly Step[], afterMs: number, untilMs: number): number {
  return counted.reduce((sum, [atMs, cost]) => (atMs > afterMs && atMs <= untilMs ? sum + cost : sum), 0);
}

test('sliding: up to 64 units, exactly what a window that ends now still holds', () => {
  const model = fc.property(cases(momentsMax), ([facts, requests]) => {
    play(sliding, facts, requests, (decision, nowMs, cost, counted) => {
      const used = usedIn(counted, nowMs - facts.windowMs, nowMs);
      assert.equal(decision.isAllowed, used + cost <= facts.limit);
      assert.equal(decision.remaining, facts.limit - used - (decision.isAllowed ? cost : 0));
    });
  });
  fc.assert(model, { numRuns: 500 });
});

test('sliding: never more than the limit in any window, and a unit comes back a 64th of it late at the most', () => {
  const model = fc.property(cases(2000), ([facts, requests]) => {
    const many = requests.flatMap(([afterMs, cost]): Step[] => [
      [Math.ceil(afterMs / 8), cost],
      ...Array<Step>(6).fill([1, cost]),
    ]);
    play(sliding, facts, many, ({ isAllowed }, nowMs, cost, counted) => {
      if (isAllowed) assert.ok(usedIn(counted, nowMs - facts.windowMs, nowMs) + cost <= facts.limit);
      else assert.ok(usedIn(counted, nowMs - facts.windowMs * (1 + 1 / momentsMax), nowMs) + cost > facts.limit);
    });
  });
  fc.assert(model, { numRuns: 300 });
});

test('fixed: exactly what was used since the first request after the last window', () => {
  const model = fc.property(cases(100), ([facts, requests]) => {
    let opened = Number.NEGATIVE_INFINITY;
    play(fixed, facts, requests, (decision, nowMs, cost, counted) => {
      if (nowMs >= opened + facts.windowMs) opened = nowMs;
      const used = usedIn(counted, opened - 1, nowMs);
      // Nothing used, nothing opened.
      if (used === 0) opened = nowMs;
      assert.equal(decision.isAllowed, used + cost <= facts.limit);
      assert.equal(decision.remaining, facts.limit - used - (decision.isAllowed ? cost : 0));
    });
  });
  fc.assert(model, { numRuns: 500 });
});

test('bucket: exactly what was refilled, in whole numbers of any size', () => {
  const model = fc.property(cases(1000), ([facts, requests]) => {
    const [limit, windowMs, burst] = [BigInt(facts.limit), BigInt(facts.windowMs), BigInt(facts.capacity)];
    let [held, atMs] = [burst * windowMs, BigInt(startMs)];
    play(bucket, facts, requests, (decision, now, units) => {
      const [nowMs, cost] = [BigInt(now), BigInt(units) * windowMs];
      held += (nowMs - atMs) * limit;
      if (held > burst * windowMs) held = burst * windowMs;
      atMs = nowMs;
      assert.equal(decision.isAllowed, held >= cost);
      if (decision.isAllowed) held -= cost;
      assert.equal(decision.remaining, Number(held / windowMs));
    });
  });
  fc.assert(model, { numRuns: 500 });
});

for (const kind of rateKinds) {
  test(`${kind.word}: to wait as long as it says is enough, and a millisecond less is not`, () => {
    const model = fc.property(cases(200), ([facts, requests]) => {
      play(kind, facts, requests, (decision, nowMs, cost, _counted, use) => {
        const decideIn = (ms: number, units: number) => kind.decide(facts, copyOf(use), nowMs + ms, units);
        if (decision.isAllowed) assert.equal(decision.waitMs, 0);
        else if (decision.waitMs === Number.POSITIVE_INFINITY) assert.ok(cost > mostAtOnce(kind, facts));
        else {
          assert.ok(decision.waitMs > 0);
          assert.ok(decideIn(decision.waitMs, cost).isAllowed);
          assert.ok(!decideIn(decision.waitMs - 1, cost).isAllowed);
        }
        if (use.length === 0) return;
        assert.ok(decision.moreMs > 0);
        assert.ok(decideIn(decision.moreMs, 0).remaining > decision.remaining);
        assert.equal(decideIn(decision.moreMs - 1, 0).remaining, decision.remaining);
      });
    });
    fc.assert(model, { numRuns: 200 });
  });

  test(`${kind.word}: what is given back at once was never there, and later never more than that is given back`, () => {
    const model = fc.property(cases(100), fc.nat(119), fc.nat(400), ([facts, requests], at, laterMs) => {
      const [withIt, without] = [unused(kind), unused(kind)];
      let nowMs = startMs;
      for (const [index, [afterMs, cost]] of requests.entries()) {
        nowMs += afterMs;
        const before = copyOf(withIt);
        const decision = kind.decide(facts, withIt, nowMs, cost);
        if (index !== at || !decision.isAllowed) {
          kind.decide(facts, without, nowMs, cost);
          continue;
        }
        kind.giveBack(facts, withIt, nowMs, { atMs: nowMs, cost, before: decision.before });
        const now = (use: Use) => kind.decide(facts, copyOf(use), nowMs, 0).remaining;
        assert.equal(now(withIt), now(before));
        // Again, and given back only after others were counted.
        const late = kind.decide(facts, withIt, nowMs, cost);
        const more = Math.max(1, Math.floor(facts.limit / 3));
        for (const ms of [0, laterMs]) {
          if (kind.decide(facts, withIt, nowMs + ms, more).isAllowed) kind.decide(facts, without, nowMs + ms, more);
        }
        nowMs += laterMs;
        kind.giveBack(facts, withIt, nowMs, { atMs: nowMs - laterMs, cost, before: late.before });
        assert.ok(now(withIt) <= now(without), `${now(withIt)} are left, and ${now(without)} without it`);
        return;
      }
    });
    fc.assert(model, { numRuns: 500 });
  });

  test(`${kind.word}: a use is nothing from when it says, and not before`, () => {
    const model = fc.property(cases(100), ([facts, requests]) => {
      play(kind, facts, requests, (_decision, nowMs, _cost, _counted, use) => {
        if (use.length === 0) return;
        const expiresMs = kind.expiresMs(facts, use);
        const empty = kind.decide(facts, unused(kind), nowMs, 0).remaining;
        assert.equal(kind.decide(facts, copyOf(use), expiresMs, 0).remaining, empty);
        const last = copyOf(use);
        kind.decide(facts, last, expiresMs - 1, 0);
        assert.ok(last.length > 0);
      });
    });
    fc.assert(model, { numRuns: 200 });
  });

  test(`${kind.word}: a clock that is set back gives nothing back, and what is used is not held for longer than a window`, () => {
    const facts = { limit: 3, windowMs: 1000, capacity: 3 };
    const use = unused(kind);
    for (let n = 0; n < 3; n++) assert.ok(kind.decide(facts, use, startMs, 1).isAllowed);
    const earlier = startMs - 3_600_000;
    assert.ok(!kind.decide(facts, use, earlier, 1).isAllowed);
    assert.ok(kind.decide(facts, copyOf(use), earlier + 1000, 3).isAllowed);
    assert.ok(!kind.decide(facts, copyOf(use), earlier + 100, 3).isAllowed);
  });
}

/** Windows that know no more than their limit have nothing that is called otherwise. */
function mostAtOnce(kind: RateKind, { limit, capacity }: RateFacts): number {
  return kind === sliding || kind === fixed ? limit : capacity;
}
