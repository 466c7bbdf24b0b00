import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linked } from './values/linked.ts';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const field = (name: string, made: string) => `${name}: { type: string, readOnly: true, set: { ${made} } }`;

servedOtherwise(linked, [
  [
    'a link leads below another base address',
    'url: { type: string, readOnly: true, set: { create: link(next) } }\n      shelf_url',
    'url: { type: string, readOnly: true, set: { create: "\'https://files.example/v2/files/\' + next.id" } }\n      shelf_url',
    'allowed values:file.url',
    /set/,
  ],
  [
    'a link to what is referred to leads to the row itself',
    field('shelf_url', 'create: link(next.shelf)'),
    field('shelf_url', 'create: link(next)'),
    'allowed values:file.shelf_url',
    /set/,
  ],
  [
    'a link does not follow what its path is made of',
    field('url', 'write: link(next)'),
    field('url', 'create: link(next)'),
    'allowed values:shelf.url',
    /set/,
  ],
]);

test('a service of links that keeps its document is found without a fault', async () => {
  const stand = await openStand(linked);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const held = facts.filter(({ kind, subject }) => kind === 'allowed values' && /\.(?:shelf_)?url$/.test(subject));
    assert.deepEqual(
      held.map(({ subject, verdict }) => `${subject} ${verdict}`),
      ['owner.url held', 'shelf.url held', 'file.url held', 'file.shelf_url held'],
    );
  } finally {
    await stand.close();
  }
});
