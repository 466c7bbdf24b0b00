import assert from 'node:assert/strict';
import { test } from 'node:test';
import { smallService } from './verify/small-service.ts';
import { openStand } from './verify/stand.ts';

const stated = smallService.replace(
  'PATCH /notes/{id}: { does: update note, in: [open] }',
  'PATCH /notes/{id}: { does: update note, in: [open], request: { type: object, properties: { text: { type: string, minLength: 1, maxLength: 40 } } } }',
);

test('what a stated request keeps trials from is said, and nothing where nothing is stated', async () => {
  assert.notEqual(stated, smallService);
  for (const [document, names] of [
    [stated, ['request of PATCH /notes/{id}']],
    [smallService, []],
  ] as const) {
    const stand = await openStand(document);
    try {
      const { untried } = await stand.verify({ requests: 5 });
      const ofNotes = untried.filter(({ stated: what }) => what.includes('/notes/{id}'));
      assert.deepEqual(
        ofNotes.map(({ stated: what }) => what),
        names,
      );
      if (names.length > 0) assert.ok((ofNotes[0]?.trials.length ?? 0) > 0);
    } finally {
      await stand.close();
    }
  }
});
