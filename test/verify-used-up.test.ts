import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedOtherwise } from './verify/served-otherwise.ts';
import type { Passing } from './verify/stand.ts';
import { openStand } from './verify/stand.ts';

/** Six pledges a day for each pledger, which many looks want; racks are counted nowhere. */
const pledges = `title: Pledges
purpose: { purpose: Keeps pledges., users: { pledger: Brings them., clerk: Keeps them. } }
resources:
  rack:
    identifier: { field: id, generate: uuid }
    fields: { id: { type: string, readOnly: true }, name: { type: string, minLength: 1, maxLength: 20 } }
    required: [id, name]
  pledge:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      item: { type: string, minLength: 3, maxLength: 20 }
      grams: { type: integer, minimum: 1, maximum: 500, default: 10 }
      owner: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, item, grams, owner]
states: { rack: none, pledge: none }
endpoints:
  POST /racks: { does: create rack }
  GET /racks/{id}: { does: read rack }
  POST /pledges: { does: create pledge }
  GET /pledges/{id}: { does: read pledge }
  PATCH /pledges/{id}: { does: update pledge }
  DELETE /pledges/{id}: { does: delete pledge }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create pledge], to: pledger }
    - { allow: [read pledge, update pledge, delete pledge], to: pledger, if: resource.owner == caller.id }
    - { allow: [create rack, read rack], to: clerk }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    enough: { status: 429, when: limit.quota }
limits: { rate: none, quota: [{ per: caller, on: [create pledge], limit: 6, window: day, zone: UTC }] }
versioning: { versions: none }
`;

/** How often a quota was asked for that was used up, by other trials than its own, and what came of the run. */
async function ran(withClock: boolean, document = pledges) {
  let refused = 0;
  let racks = 0;
  const spoil = ({ method, target, status }: Passing): Partial<Passing> => {
    if (method === 'POST' && target.endsWith('/pledges') && status === 429) refused += 1;
    if (method === 'POST' && target.endsWith('/racks') && status === 201) racks += 1;
    return {};
  };
  const stand = await openStand(document, { inPairs: true, spoil });
  try {
    const only = ['resources/stored', 'resources/changed', 'resources/missing', 'endpoints/bodies'];
    const report = await stand.verify({ only, ...(!withClock && { clockUrl: undefined as unknown as string }) });
    return { refused, racks, ...report };
  } finally {
    await stand.close();
  }
}

test('a quota that is used up is asked for once by each who has used it, and what it does not count goes on', async () => {
  const { refused, racks, breaches, facts } = await ran(false);
  assert.deepEqual(breaches, []);
  // Those that were on their way at the same time could not know.
  assert.ok(refused <= 2 * 16, `${refused} were refused`);
  assert.ok(racks > 6, `${racks} racks were made`);
  const whys = facts.flatMap(({ why, evidence }) => [why, ...(evidence?.looks ?? []).map((look) => look.why)]);
  assert.ok(whys.some((why) => why?.includes('the quota is used up (6 a day per caller, for pledger')));
});

test('where its window can be let go by, what was held back is carried out once it is given again', async () => {
  const { breaches, facts } = await ran(true);
  assert.deepEqual(breaches, []);
  const whys = facts.map(({ why }) => why ?? '');
  assert.deepEqual(
    whys.filter((why) => why.includes('used up') || why.includes('429')),
    [],
  );
});

test('a quota without a code is told by what no rate counts, and rows below rows of their own sort have no more room', async () => {
  const below = pledges
    .replace('    enough: { status: 429, when: limit.quota }\n', '')
    .replace('      item: {', '      within: { ref: pledge }\n      item: {')
    .replace(
      '  GET /pledges/{id}:',
      '  POST /pledges/{within}/pledges: { does: create pledge, as: add pledge }\n  GET /pledges/{id}:',
    )
    .replace('allow: [create pledge]', 'allow: [create pledge, add pledge]');
  const { refused, breaches, facts } = await ran(false, below);
  assert.deepEqual(breaches, []);
  assert.ok(refused <= 2 * 16, `${refused} were refused`);
  const whys = facts.flatMap(({ why, evidence }) => [why, ...(evidence?.looks ?? []).map((look) => look.why)]);
  assert.ok(whys.some((why) => why?.includes('the quota is used up (6 a day per caller, for pledger')));
  assert.ok(whys.every((why) => !why?.includes('without an end')));
});

// Each time that it is looked at again takes some of the quota, and making it smaller takes more than there is in one window.
servedOtherwise(pledges.replace('limit: 6,', 'limit: 2,'), [
  [
    'what is left out is another',
    'maximum: 500, default: 10',
    'maximum: 500, default: 11',
    'allowed values:pledge.grams',
    /default/,
  ],
]);
