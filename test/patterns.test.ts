import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePattern, programOfShape } from '../src/parts/patterns/pattern.ts';
import { runnerOf } from '../src/parts/patterns/run.ts';
import { compilePatternSamples, sampleOfPattern } from '../src/parts/samples/formats.ts';
import { chanceOf } from '../src/parts/samples/sampler.ts';
import { createValidator } from '../src/serve/http/ajv.ts';
import { times } from './long.ts';

// What JavaScript's own engine would not be done with before the sun goes out.
const traps = [
  '^([a-z]+)+$',
  '^([a-z]+)*$',
  '^(a|a)*$',
  '^(a|aa)+$',
  '^(a*)*$',
  '(a+)+b',
  '^(?=(a+)+$).*$',
  '^(?!(a|a)*$).*!$',
  '^(?:(?:a{1,9}){1,9}){1,9}$',
  '^(a?){60}a{60}$',
  '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$',
  '^.*.*.*.*.*=$',
  '(?<=(a|a)*)!b',
  '^(?i:A|a)*$',
];

test('a pattern that could be slow is found or not found in a long text', () => {
  for (const pattern of traps) {
    const { test: isFound, longest } = compilePattern(pattern) ?? assert.fail(pattern);
    for (const text of [`${'a'.repeat(60)}!?`, `${'a'.repeat(Math.min(longest, 50_000))}!?`, `${'a@a.'.repeat(5000)} `])
      assert.notEqual(isFound(text), true, pattern);
  }
});

test('what no engine does in linear time is held to short texts alone, and no text is held to what is hopeless', () => {
  const quoted = compilePattern('^(["\']).*\\1$') ?? assert.fail();
  assert.equal(quoted.test('"a"'), true);
  assert.equal(quoted.test('"a'), false);
  assert.ok(quoted.longest > 50 && quoted.longest < 5000);
  assert.equal(quoted.test(`"${'"'.repeat(quoted.longest)}`), undefined);
  const hopeless = compilePattern('^(([a-z]+)+)\\2$') ?? assert.fail();
  assert.deepEqual([hopeless.longest, hopeless.test('aa')], [0, undefined]);
  assert.equal(compilePattern('[a-'), undefined);
});

test('a pattern with one way through each text takes texts of any length', () => {
  const plain = [
    '^[a-z]+$',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^/(?:[^/]+/)*$',
    '^[\\s\\S]{1,4096}$',
    '^(?:[A-Z]{2}|[A-Z]{3})$',
    '\\S',
  ];
  for (const pattern of plain) assert.equal(compilePattern(pattern)?.longest, Number.POSITIVE_INFINITY, pattern);
});

const pieces = fc.constantFrom(
  ...[
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '[^]',
    '[]',
    '\\d',
    '\\w',
    '\\s',
    '\\u0061',
    '\\x62',
    '\\u{1F600}',
    '😀',
    '\\p{L}',
    '-',
    '\\.',
    'é',
  ],
  ...['(a|b)', '(ab)*', 'a+', 'b?', 'a{2}', '(a|b){1,2}', '(?:ba)+?', '(a*)*', '(?:)', '(|a)', '[a-b]{0,3}', '(?<n>a)'],
  ...[
    '^',
    '$',
    '\\b',
    '\\B',
    '|',
    '(?=a)',
    '(?!b)',
    '(?<=a)',
    '(?<!ab)',
    '(?=.*b$)',
    '(?!(?=a).b)',
    '(?<=^|b)',
    '(?i:A)',
    '(?s:.)',
  ],
);
const texts = fc.array(fc.constantFrom('a', 'b', ' ', '!', '\n', '😀', '\ud83d', 'é', 'A', '1', '-', '.'), { maxLength: 8 });

test('all ways at once find what JavaScript’s own engine finds, whatever stands around', () => {
  let tried = 0;
  const property = fc.property(fc.array(pieces, { maxLength: 6 }), texts, (parts, letters) => {
    const pattern = parts.join('');
    // V8 finds `\\B` within a pair of surrogates, where the standard has no place (ECMA-262 section 22.2.7.2).
    const text = letters.filter((letter) => letter.length === 1 || !pattern.includes('\\B')).join('');
    const program = programOfShape(pattern);
    if (!program) return;
    const isByPoints = isUnicode(pattern);
    tried += 1;
    const expected = new RegExp(pattern, isByPoints ? 'u' : '').test(text);
    const run = runnerOf(program, isByPoints);
    assert.equal(run(text), expected, `${pattern} in ${JSON.stringify(text)}`);
    assert.equal(run(text), expected, `${pattern} in ${JSON.stringify(text)}, once more`);
    assert.equal(compilePattern(pattern)?.test(text), expected, pattern);
  });
  fc.assert(property, { numRuns: times(1500, 6_000) });
  assert.ok(tried > times(1_000, 2_000));
});

test('patterns of older authors, which the flag u does not take, are read by code units', () => {
  for (const [pattern, text, isFound] of [
    ['^[\\w-.]+$', 'a-.', true],
    ['^\\-+$', '--', true],
    ['^.\\-$', '😀-', false],
    ['^(?:\\-|\\-\\-)*[^]$', '----😀', false],
  ] as const) {
    const program = programOfShape(pattern) ?? assert.fail(pattern);
    assert.equal(runnerOf(program, false)(text), isFound, pattern);
    assert.equal(compilePattern(pattern)?.test(text), isFound, pattern);
  }
});

test('serve answers about a text that could freeze it, and refuses what cannot be told', () => {
  const validator = createValidator();
  const found = (schema: Record<string, unknown>, value: unknown) =>
    validator
      .compile(schema)(value)
      .map(({ found, expected }) => `${found} -> ${expected}`);
  const text = `${'a'.repeat(40)}!`;
  assert.deepEqual(found({ type: 'string', pattern: '^([a-z]+)+$' }, text), [`"${text}" -> a string that matches ^([a-z]+)+$`]);
  const members = { type: 'object', patternProperties: { '^([a-z]+)+$': { type: 'integer' } }, additionalProperties: false };
  assert.deepEqual(found(members, { [text]: 1 }), ['a field that is not stated -> no such field']);
  const back = { type: 'object', patternProperties: { '^(["\']).*\\1$': { type: 'integer' } } };
  assert.deepEqual(found(back, { '"a"': 1 }), []);
  assert.deepEqual(found(back, { [`"${'"'.repeat(5000)}`]: 'x' }), ['a text that is too long for its pattern -> shorter texts']);
  assert.deepEqual(found(back, { '"a"': 1 }), []);
});

function isUnicode(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').unicode;
  } catch {
    return false;
  }
}

/** A shortest text of each pattern, of plain characters; nothing where there is none, or none so simple. */
const shortest: readonly (readonly [pattern: string, text: string | undefined])[] = [
  ['', ''],
  ['^$', ''],
  ['^a+$', 'a'],
  ['^[0-9]{4}$', '0000'],
  ['^(?:longer|b)$', 'b'],
  ['^ab?c*$', 'a'],
  ['^per_[a-z]{3}$', 'per_aaa'],
  ['x(?:y|zz)', 'xy'],
  ['^[^\\x00-\\x7f]$', undefined],
  ['^a(?!.)b$', undefined],
];

for (const [pattern, text] of shortest) {
  test(`a shortest text of /${pattern}/ is ${JSON.stringify(text) ?? 'none'}`, () => {
    assert.equal(sampleOfPattern(pattern), text);
  });
}

test('texts of a pattern differ, are found by it, and are as long as is asked', () => {
  const make = compilePatternSamples('^[a-z]+(?:-[a-z]+)*$');
  const texts = Array.from({ length: 20 }, (_, at) => make?.(chanceOf(`${at}`), at) ?? '');
  for (const [at, text] of texts.entries()) {
    assert.match(text, /^[a-z]+(?:-[a-z]+)*$/);
    assert.ok(text.length >= at && text.length <= Math.max(at, 16) + 2, `${at}: ${text}`);
  }
  const ends = compilePatternSamples('^(?:a|b(?:c|de){3})+$');
  for (let at = 0; at < 30; at++) assert.ok((ends?.(chanceOf(`${at}`), 1) ?? '').length <= 23, `${at}`);
  assert.ok(new Set(texts).size > 15);
  assert.equal(make?.(chanceOf('one'), 1), make?.(chanceOf('one'), 1));
  assert.equal(compilePatternSamples('^a$')?.(chanceOf('one'), 2), undefined);
});
