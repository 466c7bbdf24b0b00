import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notes } from './verify/notes.ts';
import { openStand } from './verify/stand.ts';

test('a key is known for as long as it is kept, and no longer', async () => {
  const reasons = async (served: string): Promise<string[]> => {
    const stand = await openStand(notes, { served });
    try {
      const { breaches } = await stand.verify({ only: ['endpoints/keys later'] });
      return breaches.map(({ kind, subject, reason }) => `${kind}:${subject}, ${reason}`);
    } finally {
      await stand.close();
    }
  };
  assert.deepEqual(await reasons(notes), []);
  const kept = (time: string) => notes.replace('keep: 24h', `keep: ${time}`);
  assert.deepEqual(await reasons(kept('1h')), ['request payload shapes:POST /notes, key kept']);
  assert.deepEqual(await reasons(kept('96h')), ['request payload shapes:POST /notes, key forgotten']);
});
