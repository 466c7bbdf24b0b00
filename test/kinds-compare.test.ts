import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { together } from '../src/kinds/comparison.ts';
import { compareFormats, formatNamed, formats } from '../src/kinds/formats/all.ts';
import type { Format } from '../src/kinds/formats/kind.ts';
import { standardFormatNamed, standardFormats } from '../src/kinds/formats/standard.ts';
import { compareTemplates } from '../src/kinds/generators/template.ts';
import { compareRates, rateKinds } from '../src/kinds/limits/all.ts';
import type { RateKind, StatedRate } from '../src/kinds/limits/kind.ts';
import { pageStyles } from '../src/kinds/pages/all.ts';
import { comparePages } from '../src/kinds/pages/compare.ts';
import { chanceOf } from '../src/parts/samples/sampler.ts';
import { formatNames, standardTest } from '../src/parts/shapes/validators.ts';

const opposite = { same: 'same', tighter: 'looser', looser: 'tighter', other: 'other' } as const;

test('parts that differ one way make a whole that does, and in two ways another one', () => {
  assert.equal(together([]), 'same');
  assert.equal(together(['same', 'tighter', 'tighter']), 'tighter');
  assert.equal(together(['looser', 'tighter']), 'other');
  assert.equal(together(['looser', 'other']), 'other');
});

const stated: fc.Arbitrary<StatedRate> = fc.record({
  // Above 64 a sliding window forgets a little late, which two rates do at different times.
  limit: fc.integer({ min: 1, max: 12 }),
  windowMs: fc.constantFrom(100, 150, 200, 300, 1000),
  own: fc.oneof(fc.constant({}), fc.record({ burst: fc.integer({ min: 1, max: 15 }) })),
});
const gapsMs = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 250 })), { maxLength: 60, size: 'max' });

for (const kind of rateKinds as readonly RateKind[]) {
  test(`rates of kind ${kind.word} compare both ways alike, and each with itself as the same`, () => {
    fc.assert(
      fc.property(stated, stated, (before, after) => {
        assert.equal(kind.compare(before, before), 'same');
        assert.equal(kind.compare(before, after), opposite[kind.compare(after, before)]);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test(`a rate of kind ${kind.word} that is looser lets through all of what the tighter one does`, () => {
    let compared = 0;
    fc.assert(
      fc.property(stated, stated, gapsMs, (before, after, gaps) => {
        const comparison = kind.compare(before, after);
        if (comparison !== 'looser' && comparison !== 'same') return;
        compared++;
        const kept = letThrough(kind, before, gaps);
        const times = kept.filter(({ isAllowed }) => isAllowed).map(({ atMs }) => atMs);
        assert.deepEqual(
          times.filter((_, at) => !play(kind, after, times)[at]),
          [],
        );
      }),
      { seed: 2, numRuns: 3000 },
    );
    assert.ok(compared > 300, `${compared} pairs were comparable`);
  });
}

test('a limit of half is tighter, in a window of half it is another one, and two kinds never compare', () => {
  for (const { word } of rateKinds) {
    const rate = { kind: word, limit: 100, windowMs: 60_000, own: {} };
    assert.equal(compareRates(rate, { ...rate, limit: 50 }), 'tighter', word);
    assert.equal(compareRates({ ...rate, limit: 50 }, rate), 'looser', word);
    for (const other of rateKinds)
      if (other.word !== word) assert.equal(compareRates(rate, { ...rate, kind: other.word }), 'other');
  }
  const minute = { kind: 'sliding', limit: 60, windowMs: 60_000, own: {} } as const;
  assert.equal(compareRates(minute, { ...minute, limit: 1, windowMs: 1000 }), 'tighter');
  assert.equal(compareRates(minute, { ...minute, limit: 2, windowMs: 1000 }), 'other');
});

/** Which of these requests are let through, one unit each. */
function play(kind: RateKind, rate: StatedRate, timesMs: readonly number[]): boolean[] {
  const facts = { limit: rate.limit, windowMs: rate.windowMs, capacity: kind.capacity(rate) };
  const use = { numbers: new Float64Array(kind.numbersMax), length: 0 };
  return timesMs.map((atMs) => kind.decide(facts, use, atMs, 1).isAllowed);
}

function letThrough(kind: RateKind, rate: StatedRate, gaps: readonly number[]) {
  let atMs = 1_000_000;
  const times = gaps.map((gap) => (atMs += gap));
  return play(kind, rate, times).map((isAllowed, at) => ({ isAllowed, atMs: times[at] ?? 0 }));
}

const pages = fc.record(
  {
    style: fc.constantFrom(...pageStyles.map(({ word }) => word)),
    names: fc.oneof(fc.constant({}), fc.constant({ cursor: 'from' }), fc.constant({ page: 'from' })),
    size: fc.constantFrom('size', 'limit'),
    default: fc.integer({ min: 1, max: 4 }),
    max: fc.integer({ min: 1, max: 4 }),
    overMax: fc.constantFrom('clamp' as const, 'refuse' as const),
  },
  { requiredKeys: ['style', 'names'] },
);

test('pages compare both ways alike, and each with itself as the same', () => {
  fc.assert(
    fc.property(pages, pages, (before, after) => {
      assert.equal(comparePages(before, before), 'same');
      assert.equal(comparePages(before, after), opposite[comparePages(after, before)]);
    }),
    { seed: 3, numRuns: 2000 },
  );
});

test('smaller pages are tighter, refusing a size is tighter than cutting it down, and other parameters make others', () => {
  for (const { word } of pageStyles) {
    const stated = { style: word, names: {}, default: 20, max: 100, overMax: 'clamp' as const };
    assert.equal(comparePages(stated, { ...stated, max: 50 }), 'tighter');
    assert.equal(comparePages(stated, { ...stated, default: 30 }), 'looser');
    assert.equal(comparePages(stated, { ...stated, overMax: 'refuse' }), 'tighter');
    assert.equal(comparePages(stated, { ...stated, default: 30, max: 50 }), 'other');
    assert.equal(comparePages(stated, { ...stated, size: 'limit' }), 'other');
  }
  const byPage = { style: 'page', names: {} } as const;
  assert.equal(comparePages(byPage, { ...byPage, names: { page: 'page' } }), 'same');
  assert.equal(comparePages(byPage, { ...byPage, names: { page: 'number' } }), 'other');
});

test('formats and templates compare both ways alike; what is within another format is its tighter', () => {
  const words = [...formats.map(({ word }) => word), 'email', 'uuid'];
  for (const before of words) {
    for (const after of words) {
      assert.equal(compareFormats(before, after), opposite[compareFormats(after, before)]);
      assert.equal(compareFormats(before, after) === 'same', before === after);
    }
  }
  assert.equal(compareFormats('int64', 'int32'), 'tighter');
  assert.equal(compareTemplates('ord_{ulid}', 'ord_{ulid}'), 'same');
  assert.equal(compareTemplates('uuid', '{uuid}'), 'same');
  assert.equal(compareTemplates('{random:24}', '{random:25}'), 'other');
});

test('what a format says of others is so: its values are of those that it is within, and its near miss is not of it', () => {
  for (const one of formats as readonly Format[]) {
    for (const wider of one.within ?? []) assert.ok(formatNamed(wider)?.test(one.example), `${one.word} in ${wider}`);
    for (const missed of one.nearMisses ?? []) assert.ok(!one.test(missed), `${one.word}: ${missed}`);
    if (one.time) assert.equal(one.time.write(one.time.readMs(one.example) ?? Number.NaN), one.example, one.word);
  }
});

test('what a format of JSON Schema says of itself is so: what is made of it is of it, as it is tested, and its near miss is not', () => {
  for (const { word, example, sure, nearMisses = [], make } of standardFormats) {
    const passes = standardTest(word);
    const made = Array.from({ length: 20 }, (_, at) => make(chanceOf(`${word} ${at}`)));
    for (const text of [example, ...made]) assert.ok(passes(text) && sure.test(text), `${word}: ${text}`);
    for (const missed of nearMisses) assert.ok(!passes(missed) && !sure.test(missed), `${word}: ${missed}`);
  }
});

test('of every format that a text is tested by there are samples', () => {
  // Ajv's own, which no standard names, and those that any text is of.
  const others = new Set(['iso-time', 'iso-date-time', 'json-pointer-uri-fragment', 'password', 'float', 'double']);
  const unmade = formatNames().filter((word) => !others.has(word) && !formatNamed(word) && !standardFormatNamed(word));
  assert.deepEqual(unmade, []);
});
