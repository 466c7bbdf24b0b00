import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** What is left out of a new row has a value that no two rows may have. */
const document = `title: Shelves
purpose: { purpose: Keeps shelves., users: { clerk: Keeps them. } }
resources:
  shelf:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      place: { type: number, default: 7.5 }
      colour: { enum: [red, green] }
    required: [id, colour]
    unique: [[place]]
states: none
endpoints:
  POST /shelves: { does: create shelf }
  GET /shelves/{id}: { does: read shelf }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [create shelf, read shelf], to: clerk }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    spent: { status: 429, when: limit.quota }
limits: { rate: none, quota: [{ per: caller, on: [create shelf], limit: 4, window: day, zone: UTC }] }
versioning: { versions: none }
`;

test('a quota is used up by rows whose unique value has a default', async () => {
  const stand = await openStand(document);
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/quotas'] });
    assert.deepEqual(breaches, []);
    const fact = facts.find(({ kind }) => kind === 'quotas');
    assert.doesNotMatch(fact?.why ?? '', /not used up/);
    assert.notEqual(fact?.verdict, 'not testable');
  } finally {
    await stand.close();
  }
});

test('a refusal of too many rows is not taken for a quota that is used up too early', async () => {
  const stand = await openStand(
    document.replace('window: day, zone: UTC }] }', 'window: day, zone: UTC }], rows: [{ of: shelf, limit: 3 }] }'),
  );
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/quotas'] });
    assert.deepEqual(breaches, []);
    const about = facts.filter(({ kind }) => kind === 'quotas').map(({ why }) => why);
    assert.match(about.join('; '), /only 3 such rows may be there at once/);
  } finally {
    await stand.close();
  }
});
