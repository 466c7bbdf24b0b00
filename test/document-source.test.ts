import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snippetOf, sourceOf } from '../src/document/source.ts';

const text = 'one\r\ntwo\rthree\n\nfive';
const places: readonly [start: number, end: number, at: string][] = [
  [0, 3, '1:1-1:4'],
  [5, 8, '2:1-2:4'],
  [9, 14, '3:1-3:6'],
  [15, 15, '4:1-4:1'],
  [16, 20, '5:1-5:5'],
  [1, 17, '1:2-5:2'],
];

test('source: offsets are lines and columns, in any order, for all three line endings', () => {
  const source = sourceOf('f', text);
  for (const [start, end, at] of [...places, ...places.toReversed()]) {
    const { file, line, column, endLine, endColumn } = source.place(start, end);
    assert.equal(`${file} ${line}:${column}-${endLine}:${endColumn}`, `f ${at}`);
  }
});

test('source: a snippet of several stretches knows where each part of it stands', () => {
  const snippet = snippetOf(sourceOf('f', 'ab\\|cd\n  ef'), [
    [0, 2],
    [3, 7],
    [9, 11],
  ]);
  assert.equal(snippet.text, 'ab|cd\nef');
  const marks = (start: number, end: number): string => {
    const { line, column, endLine, endColumn } = snippet.place(start, end);
    return `${line}:${column}-${endLine}:${endColumn}`;
  };
  assert.deepEqual(
    [marks(0, 2), marks(1, 3), marks(2, 2), marks(3, 5), marks(6, 8), marks(0, 8), marks(8, 8)],
    ['1:1-1:3', '1:2-1:5', '1:4-1:4', '1:5-1:7', '2:3-2:5', '1:1-2:5', '2:5-2:5'],
  );
});
