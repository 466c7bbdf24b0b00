import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding, Place } from '../src/document/document.ts';
import { renderFinding } from '../src/document/frame.ts';
import { nearest } from '../src/document/nearest.ts';

interface Frame {
  readonly says: string;
  readonly text: string;
  /** `line:column-endLine:endColumn` */
  readonly at: string;
  readonly also?: string;
  readonly width?: number;
  readonly message?: string;
  readonly drawn: readonly string[];
}

const frames: readonly Frame[] = [
  {
    says: 'the lines around the place are shown',
    text: 'one\ntwo three\nfour\nfive',
    at: '2:5-2:10',
    drawn: ['1 | one', '2 | two three', '  |     ^^^^^', '3 | four'],
  },
  { says: 'blank lines around it are left out', text: '\n\ntwo\n\n', at: '3:1-3:2', drawn: ['3 | two', '  | ^'] },
  { says: 'line numbers are aligned', text: 'a\n'.repeat(12), at: '9:1-9:2', drawn: [' 8 | a', ' 9 | a', '   | ^', '10 | a'] },
  { says: 'a place without width gets one mark', text: 'abc', at: '1:4-1:4', drawn: ['1 | abc', '  |    ^'] },
  {
    says: 'a place over several lines is marked to the end of the first',
    text: '  abc\ndef',
    at: '1:3-2:2',
    drawn: ['1 |   abc', '  |   ^^^', '2 | def'],
  },
  { says: 'tabs go to the next fourth column', text: 'a\tb\tc', at: '1:5-1:6', drawn: ['1 | a   b   c', '  |         ^'] },
  {
    says: 'wide characters take two columns and marks none',
    text: '日本 e\u0301 x',
    at: '1:7-1:8',
    drawn: ['1 | 日本 e\u0301 x', '  |        ^'],
  },
  { says: 'wide characters are underlined whole', text: '日本 x', at: '1:1-1:3', drawn: ['1 | 日本 x', '  | ^^^^'] },
  {
    says: 'control characters are shown as signs',
    text: 'a\u001b[2Jb\u009b\u202e',
    at: '1:6-1:7',
    drawn: ['1 | a␛[2Jb\uFFFD', '  |      ^'],
  },
  {
    says: 'a long line is cut at its end',
    text: 'x'.repeat(50),
    at: '1:1-1:2',
    width: 24,
    drawn: [`1 | ${'x'.repeat(19)}…`, '  | ^'],
  },
  {
    says: 'a long line is cut around the place',
    text: `${'a'.repeat(50)}XY${'b'.repeat(50)}`,
    at: '1:51-1:53',
    width: 24,
    drawn: [`1 | …${'a'.repeat(6)}XY${'b'.repeat(10)}…`, '  |        ^^'],
  },
  {
    says: 'a long line is cut at its beginning',
    text: `${'a'.repeat(50)}XY`,
    at: '1:51-1:53',
    width: 24,
    drawn: [`1 | …${'a'.repeat(17)}XY`, '  |                   ^^'],
  },
  {
    says: 'the lines around a cut line are cut alike',
    text: `${'0123456789'.repeat(6)}\n${'a'.repeat(50)}XY\nshort`,
    at: '2:51-2:53',
    width: 24,
    drawn: ['1 | …345678901234567890…', `2 | …${'a'.repeat(17)}XY`, '  |                   ^^', '3 |'],
  },
  { says: 'a place that the text does not have is only named', text: 'a', at: '7:1-7:2', drawn: [] },
  {
    says: 'another place is a frame of its own',
    text: 'a\nb',
    at: '2:1-2:2',
    also: '1:1-1:2',
    drawn: ['1 | a', '2 | b', '  | ^', '  = note: first here', ' --> f.md:1:1', '  |', '1 | a', '  | -', '2 | b'],
  },
];

function placeOf(at: string): Place {
  const [line = 0, column = 0, endLine = 0, endColumn = 0] = at.split(/[:-]/).map(Number);
  return { file: 'f.md', line, column, endLine, endColumn };
}

for (const { says, text, at, also, width, drawn } of frames) {
  test(`frames: ${says}`, () => {
    const finding: Finding = {
      code: 'part/wrong',
      severity: 'error',
      message: 'It is wrong.',
      remedy: 'Right it.',
      place: placeOf(at),
      ...(also && { also: [{ message: 'first here', place: placeOf(also) }] }),
    };
    const sources = new Map([['f.md', text]]);
    const lines = renderFinding(sources, finding, { colour: false, ...(width && { width }) }).split('\n');
    const margin = ' '.repeat(Math.max(1, drawn[0]?.indexOf(' |') ?? 1));
    assert.equal(lines.shift(), 'error[part/wrong]: It is wrong.');
    assert.equal(lines.shift(), `${margin}--> f.md:${placeOf(at).line}:${placeOf(at).column}`);
    assert.equal(lines.pop(), `${margin} = help: Right it.`);
    assert.deepEqual(drawn.length === 0 ? lines : lines.slice(1), drawn);
  });
}

test('frames: colours only where they are asked for', () => {
  const finding: Finding = { code: 'part/odd', severity: 'warning', message: 'Odd.\u001b[0m\nYes', place: placeOf('1:1-1:2') };
  const sources = { sources: new Map([['f.md', 'a']]) };
  const plain = renderFinding(sources, finding, { colour: false });
  assert.equal(plain, 'warning[part/odd]: Odd.␛[0m Yes\n --> f.md:1:1\n  |\n1 | a\n  | ^');
  const coloured = renderFinding(sources, finding, { colour: true });
  assert.ok(coloured.startsWith('\u001b[1;33mwarning[part/odd]\u001b[39;22m'));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape codes are what is looked for.
  assert.equal(coloured.replace(/\u001b\[[\d;]+m/g, ''), plain);
});

const words: readonly [string, readonly string[], string | undefined][] = [
  ['resorces', ['resources', 'errors'], 'resources'],
  ['Limits', ['events', 'limits'], 'limits'],
  ['pruchase', ['purchase'], 'purchase'],
  ['event', ['events', 'errors'], 'events'],
  ['in', ['if'], 'if'],
  ['raet', ['rest', 'rate'], 'rate'],
  ['x', ['y'], 'y'],
  ['abc', ['xyz'], undefined],
  ['colour', ['limits'], undefined],
  ['', ['a'], undefined],
  ['a'.repeat(500), ['a'.repeat(499)], undefined],
];
for (const [word, candidates, meant] of words) {
  test(`nearest: ${word.slice(0, 20) || 'nothing'} means ${meant}`, () => assert.equal(nearest(word, candidates), meant));
}
