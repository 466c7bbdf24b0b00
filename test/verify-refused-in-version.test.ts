import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing } from './verify/stand.ts';

/** A version that is deprecated says so in its refusals too. */
const document = `title: Lamps
purpose: { purpose: Keeps lamps., users: { keeper: Has lamps. } }
resources:
  lamp:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, maxLength: 20 } }
    required: [id, name]
states: { lamp: none }
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps: { does: list lamp, pagination: { style: none } }
  GET /lamps/{id}: { does: read lamp }
  DELETE /lamps/{id}: { does: delete lamp }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all lamp], to: keeper }]
events: none
errors: { payload: problem, codes: { unfit: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing }, over: { status: 410, when: version.sunset } } }
limits: { rate: none, quota: none }
versioning:
  versions: { old: { deprecated: 2025-01-01, sunset: 2040-01-01 }, new: { current: true } }
  select: { header: Lamp-Version, default: current }
  changes: { old: none, new: [] }
`;

const verdictOf = async (spoil?: (passing: Passing) => Partial<Passing>) => {
  const stand = await openStand(document, { ...(spoil && { spoil }) });
  try {
    const { breaches, facts } = await stand.verify({ only: ['versioning'] });
    return { breaches, fact: facts.find(({ kind, subject }) => kind === 'deprecation rules' && subject === 'old') };
  } finally {
    await stand.close();
  }
};

test('a version tells of its end in refusals, and after its last day it is looked at too', async () => {
  const { breaches, fact } = await verdictOf();
  assert.deepEqual(breaches, []);
  assert.equal(fact?.verdict, 'held', JSON.stringify(fact));
});

test('a refusal of an old version that says nothing of its end is found', async () => {
  const { breaches } = await verdictOf(({ status, headers }) => {
    const { sunset: _, deprecation: __, ...others } = headers;
    return status === 404 ? { headers: others } : {};
  });
  assert.deepEqual([...new Set(breaches.map(({ reason }) => reason))], ['told of refusals']);
});
