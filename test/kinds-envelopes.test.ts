import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../src/document/document.ts';
import { compareEnvelopes, envelopeKinds, envelopeLike, envelopeMembers, envelopeWord } from '../src/kinds/envelopes/all.ts';
import type { EnvelopeMembers } from '../src/kinds/envelopes/kind.ts';
import { envelopedFlaw, envelopeMisses, readEnveloped } from '../src/kinds/envelopes/reading.ts';

const written: EnvelopeMembers = { v: '1', name: 'event.kind', at: 'event.at', object: 'event.payload', nr: 'event.id' };
const values: Readonly<Record<string, Json>> = {
  'event.id': 'evt_1',
  'event.kind': 'note.made',
  'event.at': '2026-01-01T00:00:00.000Z',
  'event.payload': { title: 'x' },
  '1': 1,
};

for (const { word } of envelopeKinds) {
  const members = envelopeMembers(word, written);

  test(`what stands in it is read, and nothing that nearly is it is taken: ${word}`, () => {
    if (!members) {
      assert.equal(envelopedFlaw(members, values['event.payload']), undefined);
      assert.deepEqual(readEnveloped(members, { title: 'x' }).payload, { title: 'x' });
      return;
    }
    const body = Object.fromEntries(Object.entries(members).map(([name, source]) => [name, values[source] ?? null]));
    assert.equal(envelopedFlaw(members, body), undefined);
    const { id, kind, payload } = readEnveloped(members, body);
    assert.deepEqual({ id, kind, payload }, { id: 'evt_1', kind: 'note.made', payload: { title: 'x' } });
    const misses = envelopeMisses(members, body);
    assert.ok(misses.length > Object.keys(members).length);
    for (const { how, body: miss } of misses) assert.notEqual(envelopedFlaw(members, miss), undefined, how);
  });
}

test('each is stated in one way, and a word that is none is of no kind', () => {
  const ways = [undefined, 'none', 'a map'] as const;
  assert.deepEqual(
    ways.map((way) => envelopeWord(way)),
    ['usual', 'none', 'own-members'],
  );
  assert.equal(envelopeWord({ word: 'usual' }), undefined);
  assert.equal(envelopeLike({ id: undefined, type: undefined, timestamp: undefined, data: undefined }), undefined);
});

test('members more are looser, fewer tighter, and others another envelope', () => {
  const less: EnvelopeMembers = { nr: 'event.id', object: 'event.payload' };
  assert.equal(compareEnvelopes(less, written), 'looser');
  assert.equal(compareEnvelopes(written, less), 'tighter');
  assert.equal(compareEnvelopes(written, { ...written }), 'same');
  assert.equal(compareEnvelopes(written, { ...written, nr: 'event.kind' }), 'other');
  assert.equal(compareEnvelopes(written, undefined), 'other');
  assert.equal(compareEnvelopes(undefined, undefined), 'same');
});
