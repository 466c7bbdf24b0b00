import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addKinds } from './kinds/toy.ts';

const text = `
import type { Generator } from './kind.ts';

export const dice: Generator = {
  word: 'dice',
  meaning: 'One throw.',
  takesLength: false,
  make: (draw) => String(((draw.bytes(1)[0] ?? 0) % 6) + 1),
  pattern: () => '[1-6]',
};
`;

await addKinds([{ sort: 'generators', name: 'dice', source: { text } }]);

test('a kind that is added from outside stands last in the list of its sort', async () => {
  const { generators } = await import('../src/kinds/generators/all.ts');
  assert.deepEqual(
    generators.map(({ word }) => word),
    ['ulid', 'uuid', 'uuidv7', 'random', 'base64', 'dice'],
  );
});

test('a kind cannot be added to a list that was imported before', async () => {
  await assert.rejects(addKinds([{ sort: 'generators', name: 'coin', source: { text: text.replaceAll('dice', 'coin') } }]));
});
