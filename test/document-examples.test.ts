import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../src/document/document.ts';
import { above, pathOf, pointerOf } from '../src/document/pointer.ts';
import { readDocument } from '../src/document/read/read.ts';
import { keyPlaceOf, placeOf, valueAt } from '../src/document/source.ts';
import { marked } from './fixtures/document/reading.ts';

const isKey = (_: readonly string[], word: string): boolean => ['fields', 'codes'].includes(word);

for (const name of ['parcels', 'unspecified']) {
  test(`the example ${name} reads without findings`, async () => {
    const { findings, tree, prose } = await readDocument(`examples/${name}.md`, { isKey });
    assert.deepEqual(findings, []);
    assert.equal(Object.keys(tree).length, name === 'parcels' ? 9 : 0);
    assert.equal(prose.length, name === 'parcels' ? 4 : 10);
  });
}

/** A value of the example, where it stands, and what its place and its key's place mark. */
const spots: readonly [pointer: string, value: Json, at: string, text: string, key: string][] = [
  ['/resources/address/fields/name/maxLength', 120, '30:19', '120', 'maxLength'],
  ['/resources/address/fields/country/format', 'country', '34:24', 'country', 'format'],
  ['/resources/address/identifier', 'none', '37:13', 'none', 'identifier'],
  ['/resources/parcel/fields/weight_g/maximum', 30000, '49:53', '30000', 'maximum'],
  ['/resources/parcel/fields/to', 'address', '48:15', 'address', 'to'],
  ['/states/parcel/transitions/buy', 'draft -> bought', '102:12', 'draft -> bought', 'buy'],
  ['/endpoints/GET ~1parcels~1{id}/etag', 'strong', '114:57', 'strong', 'etag'],
  ['/events/delivery/webhook/retry/8', '24h', '182:49', '24h', '24h'],
  ['/errors/codes/malformed/when/1', 'request.parameter', '202:41', 'request.parameter', 'request.parameter'],
  ['/errors/codes/too_late/status', 409, '229:24', '409', 'status'],
  ['/versioning/versions/2026-01-15/deprecated', '2026-06-01', '251:31', '2026-06-01', 'deprecated'],
];

test('every value of the example knows its line and column', async () => {
  const document = await readDocument('examples/parcels.md', { isKey });
  for (const [pointer, value, at, text, key] of spots) {
    const place = placeOf(document, pointer);
    assert.equal(valueAt(document.tree, pointer), value);
    assert.equal(`${place.line}:${place.column}`, at, pointer);
    assert.equal(marked(document, place), text);
    assert.equal(marked(document, keyPlaceOf(document, pointer)), key);
  }
});

test('a place that nothing stands at is that of what is around it', async () => {
  const document = await readDocument('examples/parcels.md', { isKey });
  const line = (pointer: string): number => placeOf(document, pointer).line;
  assert.equal(line('/resources/parcel/fields/weight_g/nothing/here'), 49);
  assert.equal(line('/resources/parcel/nothing'), 40);
  assert.equal(line('/resources/parcel#'), 40);
  assert.equal(line('/purpose'), 5);
  assert.equal(line('/nothing'), 1);
  assert.equal(valueAt(document.tree, '/resources/parcel/required/00'), undefined);
  assert.equal(valueAt(document.tree, '/resources/constructor'), undefined);
});

test('pointers are escaped and split as RFC 6901 says', () => {
  const path = ['GET /a/{b}', '~1', '', '0'];
  assert.equal(pointerOf(path), '/GET ~1a~1{b}/~01//0');
  assert.deepEqual(pathOf(pointerOf(path)), path);
  assert.deepEqual([pathOf(''), pathOf('/')], [[], ['']]);
  assert.deepEqual([above('/a/b'), above('/a'), above('')], ['/a', '', undefined]);
});
