import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { outcome, type Reading, read } from './fixtures/document/reading.ts';

const readings: readonly Reading[] = [
  { says: 'an empty text states nothing', text: ' \n', tree: {} },
  {
    says: 'a document is one map',
    text: '{ "title": "T", "limits": { "a": [1, -2.5e1, true, false, null, "x"] } }',
    tree: { limits: { a: [1, -25, true, false, null, 'x'] } },
  },
  {
    says: 'escapes are undone',
    text: '{"limits": {"a\\u0041\\n\\"": "\\ud83d\\ude00\\/"}}',
    tree: { limits: { 'aA\n"': '😀/' } },
  },
  {
    says: 'a trailing comma is a finding and reading goes on',
    text: '{"limits": {"a": [1, 2,], "b": 3,}}',
    findings: ['json-syntax 1:23', 'json-syntax 1:33'],
    tree: { limits: { a: [1, 2], b: 3 } },
  },
  {
    says: 'a duplicate key is a finding and the first stays',
    text: '{"limits": {"a": 1,\n "b": 2, "a": {"c": 3}, "d": 4}}',
    findings: ['duplicate-key 2:10'],
    tree: { limits: { a: 1, b: 2, d: 4 } },
  },
  { says: 'a comment is a finding', text: '{\n  // why\n}', findings: ['json-syntax 2:3'] },
  { says: 'a key without quotes is a finding', text: '{ limits: 1 }', findings: ['json-syntax 1:3'] },
  {
    says: 'what comes before a fault is kept',
    text: '{"limits": {"a": 1, "b": x}}',
    findings: ['json-syntax 1:26'],
    tree: { limits: { a: 1 } },
  },
  {
    says: 'a text that ends early is a finding',
    text: '{"limits": {"a": ',
    findings: ['json-syntax 1:18'],
    tree: { limits: {} },
  },
  { says: 'a string that does not end is a finding', text: '{"limits": "a}', findings: ['json-syntax 1:12'] },
  { says: 'a string over two lines is a finding', text: '{"limits": "a\nb"}', findings: ['json-syntax 1:14'] },
  { says: 'a bad escape is a finding', text: '{"limits": "\\x"}', findings: ['json-syntax 1:12'] },
  { says: 'a number with a leading zero or plus is a finding', text: '{"limits": 012}', findings: ['json-syntax 1:13'] },
  { says: 'text after the value is a finding', text: '{} {}', findings: ['json-syntax 1:4'] },
  {
    says: 'a number that is too large is a finding',
    text: '{"limits": [1e999, 9007199254740993]}',
    findings: ['number-not-finite 1:13', 'number-inexact 1:20'],
    tree: { limits: [null, 9007199254740992] },
  },
  { says: 'nesting beyond the bound is a finding', text: `{"limits": ${'['.repeat(1e5)}`, findings: ['too-deep 1:75'] },
  {
    says: 'prototype words are plain keys',
    text: '{"limits": {"__proto__": {"x": 1}, "constructor": 1}}',
    tree: JSON.parse('{"limits":{"__proto__":{"x":1},"constructor":1}}'),
  },
  { says: 'a list is no document', text: '[1]', findings: ['not-a-map 1:1'], tree: {} },
];

for (const reading of readings) {
  test(`JSON: ${reading.says}`, () => {
    const { tree, findings } = outcome(read({ file: 'service.json', ...reading }));
    assert.deepEqual(findings, reading.findings ?? []);
    if (reading.tree !== undefined) assert.deepEqual(tree, reading.tree);
  });
}

test('JSON: a value is read as JSON.parse reads it', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 6, noneUnicodeString: false } as fc.JsonSharedConstraints),
      fc.constantFrom(0, 1, 4),
      (value, indent) => {
        const text = JSON.stringify({ limits: value }, null, indent);
        const document = read({ file: 'service.json', text });
        assert.deepEqual(outcome(document).tree, JSON.parse(text));
        assert.deepEqual(
          document.findings.filter(({ code }) => code !== 'document/number-inexact'),
          [],
        );
      },
    ),
    { numRuns: 200 },
  );
});
