import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A crate is heavy by what lies in it, and tall by itself. */
const document = `title: Crates
purpose: { purpose: Keeps crates., users: { clerk: Keeps them. } }
resources:
  crate:
    identifier: { field: id, generate: integer }
    fields:
      id: integer
      height: { type: integer, minimum: 1, maximum: 900 }
      grams: { type: integer, derive: "sum(part.crate, item.grams)" }
      weight: { enum: [light, heavy], derive: "resource.grams > 5000 ? 'heavy' : 'light'" }
      size: { enum: [low, tall], derive: "resource.height >= 300 ? 'tall' : 'low'" }
    required: [id, height, grams, weight, size]
  part:
    identifier: { field: id, generate: integer }
    fields: { id: integer, crate: { ref: crate, immutable: true }, grams: { type: integer, minimum: 1, maximum: 9000 } }
    required: [id, crate, grams]
states: { crate: none, part: none }
endpoints:
  POST /crates: { does: create crate }
  GET /crates/{id}: { does: read crate }
  POST /crates/{crate}/parts: { does: create part }
authentication: none
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none }
versioning: { versions: none }
`;

async function told(served: string = document) {
  const stand = await openStand(document, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['resources/derived edges'] });
    const looks = facts.flatMap(({ evidence }) => (evidence?.looks ?? []).filter(({ name }) => name.startsWith('derived where')));
    return { broken: breaches.map(({ reason }) => reason), looks: looks.map(({ name, isMet }) => `${name}: ${isMet}`) };
  } finally {
    await stand.close();
  }
}

test('what is derived is looked at where it turns', async () => {
  const { broken, looks } = await told();
  assert.deepEqual(broken, []);
  assert.deepEqual(looks, [
    ...[4999, 5000, 5001].map((grams) => `derived where grams is ${grams}: true`),
    ...[299, 300, 301].map((height) => `derived where height is ${height}: true`),
  ]);
});

test('what turns one too early or too late is found', async () => {
  assert.deepEqual((await told(document.replace('> 5000', '>= 5000'))).broken, ['derived where grams is 5000']);
  assert.deepEqual((await told(document.replace('> 5000', '> 5001'))).broken, ['derived where grams is 5001']);
  assert.deepEqual((await told(document.replace('>= 300', '> 300'))).broken, ['derived where height is 300']);
});
