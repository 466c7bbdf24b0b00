import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rateKind } from '../src/kinds/limits/all.ts';
import type { Rate } from '../src/parts/limits.ts';
import { capacityOf, letTooMany, memoryOf, type RateAttempt, refusedTooEarly } from '../src/verify/trials/limits/counted.ts';

type Stated = Pick<Rate, 'kind' | 'limit' | 'windowMs' | 'own'>;
/** One request: how long after the last answer, how long it is on its way there and back, and what it costs. */
type Step = readonly [afterMs: number, thereMs: number, backMs: number, cost: number];

/** What a service with this rate does with requests, seen from outside. */
function play(rate: Stated, steps: readonly Step[]): RateAttempt[] {
  const kind = rateKind(rate.kind);
  const use = { numbers: new Float64Array(kind.numbersMax), length: 0 };
  const facts = { limit: rate.limit, windowMs: rate.windowMs, capacity: kind.capacity(rate) };
  let nowMs = Date.parse('2026-06-01T09:00:00Z');
  return steps.map(([afterMs, thereMs, backMs, cost]) => {
    const fromMs = nowMs + afterMs;
    const { isAllowed } = kind.decide(facts, use, fromMs + thereMs, cost);
    nowMs = fromMs + thereMs + backMs;
    return { fromMs, toMs: nowMs, cost, isLet: isAllowed };
  });
}

const rates = fc.record({
  kind: fc.constantFrom('sliding' as const, 'fixed' as const, 'bucket' as const),
  limit: fc.integer({ min: 1, max: 80 }),
  windowMs: fc.integer({ min: 100, max: 5000 }),
  own: fc.constant({}),
});
const stepsOf = ({ limit, windowMs }: Stated) =>
  fc.array(
    fc.tuple(
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: windowMs * 2 })),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 0, max: 3 }),
      fc.integer({ min: 1, max: Math.max(1, Math.floor(limit / 4)) }),
    ),
    { maxLength: 150, size: 'max' },
  );

test('a service that keeps its rate is never said to let too many through, or to refuse too early', () => {
  fc.assert(
    fc.property(
      rates.chain((rate) => fc.tuple(fc.constant(rate), stepsOf(rate))),
      ([rate, steps]) => {
        const attempts = play(rate, steps);
        assert.equal(refusedTooEarly(rate, attempts, Number.NEGATIVE_INFINITY), undefined);
        // Windows that stand one after the other may let twice as many through around the end of one.
        if (rate.kind !== 'fixed') assert.equal(letTooMany(rate, attempts), undefined);
      },
    ),
    { seed: 1, numRuns: 400 },
  );
});

/** As many requests one after the other as it takes to be refused, and some more. */
const burst = (count: number): Step[] => Array.from({ length: count }, () => [0, 0, 0, 1]);

const other: readonly (readonly [string, Stated, Stated, 'too many' | 'too early'])[] = [
  [
    'one more',
    { kind: 'sliding', limit: 25, windowMs: 10_000, own: {} },
    { kind: 'sliding', limit: 26, windowMs: 10_000, own: {} },
    'too many',
  ],
  [
    'one less',
    { kind: 'sliding', limit: 25, windowMs: 10_000, own: {} },
    { kind: 'sliding', limit: 24, windowMs: 10_000, own: {} },
    'too early',
  ],
  [
    'one more of a window',
    { kind: 'fixed', limit: 20, windowMs: 30_000, own: {} },
    { kind: 'fixed', limit: 21, windowMs: 30_000, own: {} },
    'too many',
  ],
  [
    'one less of a window',
    { kind: 'fixed', limit: 20, windowMs: 30_000, own: {} },
    { kind: 'fixed', limit: 19, windowMs: 30_000, own: {} },
    'too early',
  ],
  [
    'a greater bucket',
    { kind: 'bucket', limit: 30, windowMs: 3000, own: { burst: 40 } },
    { kind: 'bucket', limit: 30, windowMs: 3000, own: { burst: 41 } },
    'too many',
  ],
  [
    'no burst',
    { kind: 'bucket', limit: 30, windowMs: 3000, own: { burst: 40 } },
    { kind: 'bucket', limit: 30, windowMs: 3000, own: {} },
    'too early',
  ],
];

for (const [name, stated, served, flaw] of other) {
  test(`a rate that is another is seen: ${name}`, () => {
    const attempts = play(served, burst(60));
    const found = { 'too many': letTooMany(stated, attempts), 'too early': refusedTooEarly(stated, attempts, 0) };
    assert.notEqual(found[flaw], undefined);
    assert.equal(found[flaw === 'too many' ? 'too early' : 'too many'], undefined);
  });
}

test('a window that is too short or too long is seen from when it lets through again', () => {
  const stated: Stated = { kind: 'sliding', limit: 5, windowMs: 1000, own: {} };
  const again = (served: Stated) => play(served, [...burst(6), [600, 0, 0, 1], [500, 0, 0, 1]]);
  assert.notEqual(letTooMany(stated, again({ ...stated, windowMs: 500, own: {} })), undefined);
  assert.notEqual(refusedTooEarly(stated, again({ ...stated, windowMs: 5000, own: {} }), 0), undefined);
  assert.equal(letTooMany(stated, again(stated)) ?? refusedTooEarly(stated, again(stated), 0), undefined);
});

test('what was used before anything was known of it is not held against a rate', () => {
  const rate: Stated = { kind: 'sliding', limit: 5, windowMs: 1000, own: {} };
  const [first, ...rest] = play(rate, burst(7));
  assert.ok(first);
  assert.equal(refusedTooEarly(rate, rest, first.fromMs), undefined);
  assert.equal(capacityOf(rate), 5);
  assert.ok(memoryOf(rate) > 1000);
});
