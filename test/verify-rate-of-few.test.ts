import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Nine bells may be asked for in a minute, of which each ringer may have three. */
const bells = `title: Bells
purpose: { purpose: Keeps bells., users: { ringer: Rings them. } }
resources:
  bell:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      tone: { type: string, minLength: 1, maxLength: 9 }
      ringer: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, tone, ringer]
states: { bell: none }
endpoints:
  POST /bells: { does: create bell }
  GET /bells/{id}: { does: read bell }
  DELETE /bells/{id}: { does: delete bell }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create bell], to: ringer }
    - { allow: [read bell, delete bell], to: ringer, if: resource.ringer == caller.id }
events: none
errors:
  payload: problem
  order: [caller, rates, user, parameters, body, row, precondition, request, state]
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    enough: { status: 429, when: limit.quota }
    slower: { status: 429, when: limit.rate }
limits:
  rate: [{ per: caller, on: [create bell], limit: 9, window: 1m, kind: fixed }]
  quota: none
  rows: [{ of: bell, per: caller.id, limit: 3 }]
versioning: { versions: none }
`;

async function ran(document: string, served = document) {
  const stand = await openStand(document, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/rates'] });
    const fact = facts.find(({ kind }) => kind === 'rate limits');
    return {
      told: breaches.map(({ reason, seen }) => `${reason}: ${seen}`),
      shown: Object.keys(fact?.shown ?? {}),
      why: fact?.why ?? '',
    };
  } finally {
    await stand.close();
  }
}

test('a rate is reached where fewer rows may be made than it lets through, by what is refused after it', async () => {
  const { told, shown } = await ran(bells);
  assert.deepEqual(told, []);
  for (const reason of ['kept', 'not earlier', 'Retry-After', 'waited']) assert.ok(shown.includes(reason), shown.join(', '));
});

test('one that lets too many through is told, and one that refuses too early', async () => {
  const { told: more } = await ran(bells, bells.replace('limit: 9', 'limit: 12'));
  assert.ok(
    more.some((one) => one.startsWith('kept: 10 were let through')),
    more.join('; '),
  );
  const { told: fewer } = await ran(bells, bells.replace('limit: 9', 'limit: 6'));
  assert.ok(
    fewer.some((one) => one.startsWith('not earlier: ')),
    fewer.join('; '),
  );
});

test('where no order is stated it is not known what counts, and the limit of rows is not taken for the rate', async () => {
  const { told, why } = await ran(bells.replace(/ {2}order: .*\n/, ''));
  assert.deepEqual(told, []);
  assert.match(why, /a quota is used up before/);
});
