import assert from 'node:assert/strict';
import { test } from 'node:test';
import { streamKind, streamKinds, streamWord } from '../src/kinds/streams/all.ts';
import type { StreamKind } from '../src/kinds/streams/kind.ts';

const kinds: readonly StreamKind[] = streamKinds;
const one = { id: 'evt_1', event: 'note.made', data: '{"title":"a\\nb: c"}' };
const other = { id: 'evt_2', event: 'note.gone', data: '{}' };

for (const kind of kinds) {
  test(`what is written is read, however it is cut, and comments say nothing: ${kind.word}`, () => {
    const text = `${kind.write(one)}${kind.comment}${kind.write(other)}`;
    for (const size of [1, 3, 7, text.length]) {
      const reader = kind.reader();
      const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
      assert.deepEqual(
        pieces.flatMap((piece) => reader.push(piece)),
        [one, other],
      );
    }
  });

  test(`what nearly is an event is not read as it: ${kind.word}`, () => {
    for (const { how, text } of kind.nearMisses(one)) assert.notDeepEqual(kind.reader().push(text), [one], how);
  });
}

test('the usual format is the first, and a word that is none is of no kind', () => {
  assert.equal(streamKind(streamWord(undefined)), streamKinds[0]);
  assert.equal(streamWord('websocket'), undefined);
  assert.equal(streamKind(undefined), undefined);
});
