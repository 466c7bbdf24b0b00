import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand, type Passing } from './verify/stand.ts';

/** Gaps lie in walls, no further than these are long; farmers change what they have reported, and a waller has three at once and six a week. */
const walls = `title: Walls
purpose: { purpose: Keeps walls., users: { reeve: Keeps walls., farmer: Reports gaps., waller: Mends gaps. } }
resources:
  wall:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      metres: { type: integer, minimum: 1, maximum: 20000 }
    required: [id, metres]
  gap:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      wall: { ref: wall, immutable: true, onDelete: restrict }
      at_metre: { type: integer, minimum: 0, maximum: 20000 }
      width_cm: { type: integer, minimum: 20, maximum: 3000 }
      reporter: { type: string, readOnly: true, set: { create: caller.id } }
      waller: { type: string, readOnly: true, set: { claim: caller.id, abandon: "null" } }
      state: { type: string, readOnly: true }
    required: [id, wall, at_metre, width_cm, reporter, state]
    unique: [[wall, at_metre]]
states:
  wall: none
  gap:
    field: state
    initial: reported
    states: [reported, claimed, mended, dismissed]
    transitions:
      claim: reported -> claimed
      abandon: claimed -> reported
      mend: claimed -> mended
      dismiss: reported -> dismissed
endpoints:
  POST /walls: { does: create wall }
  GET /walls/{id}: { does: read wall }
  DELETE /walls/{id}: { does: delete wall }
  POST /walls/{wall}/gaps: { does: create gap }
  GET /gaps/{id}: { does: read gap }
  PATCH /gaps/{id}: { does: update gap, in: [reported] }
  POST /gaps/{id}/claim: { does: claim gap }
  POST /gaps/{id}/abandon: { does: abandon gap }
  POST /gaps/{id}/mend: { does: mend gap }
  POST /gaps/{id}/dismiss: { does: dismiss gap }
  DELETE /gaps/{id}: { does: delete gap, in: [reported, dismissed] }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create wall, delete wall], to: reeve }
    - { allow: [read wall, read gap], to: [reeve, farmer, waller] }
    - { allow: [create gap], to: [reeve, farmer] }
    - { allow: [update gap, delete gap], to: farmer, if: "resource.reporter == caller.id" }
    - { allow: [claim gap], to: waller }
    - { allow: [abandon gap, mend gap], to: waller, if: "has(resource.waller) && resource.waller == caller.id" }
    - { allow: [dismiss gap], to: reeve }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    held: { status: 409, when: reference.held }
    not_now: { status: 409, when: transition.illegal }
    spent: { status: 403, when: limit.quota }
    beyond_wall: { status: 422, on: [create gap, update gap], if: "next.at_metre > next.wall.metres" }
limits:
  rate: none
  quota: [{ per: caller, to: waller, on: [claim gap], limit: 6, window: week, zone: UTC }]
  rows: [{ of: gap, per: waller, while: "next.state == 'claimed'", limit: 3 }]
versioning: { versions: none }
`;

/** How often each answer came, by method, path and code, and what came of the run. */
async function ran(document: string, only: readonly string[]) {
  const times = new Map<string, number>();
  const spoil = ({ method, target, status, text }: Passing): Partial<Passing> => {
    const code = status < 400 ? status : ((JSON.parse(text) as { code?: string }).code ?? status);
    const key = `${method} ${target.replaceAll(/[\da-f-]{36}/g, '{id}')} ${code}`;
    times.set(key, (times.get(key) ?? 0) + 1);
    return {};
  };
  const stand = await openStand(document, { inPairs: true, spoil });
  try {
    const report = await stand.verify({ only: [...only] });
    return { ...report, of: (key: string) => times.get(key) ?? 0 };
  } finally {
    await stand.close();
  }
}

test('what a rule compares with the row above is made roomy', async () => {
  const { of, breaches } = await ran(walls, ['resources/stored', 'resources/identifiers', 'states/transitions']);
  assert.deepEqual(breaches, []);
  assert.ok(of('POST /walls/{id}/gaps 201') > 10, `${of('POST /walls/{id}/gaps 201')} were made`);
  assert.equal(of('POST /walls/{id}/gaps beyond_wall'), 0);
});

test('rows are made by those whose rows can be changed and deleted', async () => {
  const { facts, breaches } = await ran(walls, ['resources/changed', 'endpoints/bodies']);
  assert.deepEqual(breaches, []);
  const untried = facts.filter(({ why = '' }) => why.includes('nobody may call'));
  assert.deepEqual(
    untried.map(({ kind, subject, why }) => `${kind}:${subject} ${why}`),
    [],
  );
});

test('what would be refused by what the row above has is mended before it is sent', async () => {
  // No wall is as long as most of the places that are drawn.
  const short = walls.replace(
    'metres: { type: integer, minimum: 1, maximum: 20000 }',
    'metres: { type: integer, minimum: 1, maximum: 9 }',
  );
  const { of, breaches } = await ran(short, [
    'resources/identifiers',
    'resources/changed',
    'states/transitions',
    'states/in states',
  ]);
  assert.deepEqual(breaches, []);
  assert.ok(of('POST /walls/{id}/gaps 201') > 10, `${of('POST /walls/{id}/gaps 201')} were made`);
  assert.equal(of('POST /walls/{id}/gaps beyond_wall'), 0);
});

test('what nobody may delete is looked at once to be removed', async () => {
  const kept = walls.replace('"resource.reporter == caller.id"', '"resource.width_cm < 20"');
  const { of } = await ran(kept, ['states/transitions', 'states/in states', 'limits/rows', 'endpoints/pages']);
  const made = of('POST /walls/{id}/gaps 201');
  assert.ok(made > 10, `${made} were made`);
  assert.ok(of('GET /gaps/{id} 200') <= 3 * made, `${of('GET /gaps/{id} 200')} looks at ${made}`);
});

test('a quota of a transition is used up beside a limit of the rows that it moves', async () => {
  const { facts, breaches } = await ran(walls, ['limits']);
  assert.deepEqual(breaches, []);
  const verdicts = facts
    .filter(({ kind }) => kind === 'quotas')
    .map(({ subject, verdict, why }) => `${subject}: ${verdict} ${why ?? ''}`);
  assert.deepEqual(verdicts, ['service: held ', 'rows of gap: held ']);
});

const rows: readonly Otherwise[] = [
  ['one more is claimed in a week', 'on: [claim gap], limit: 6', 'on: [claim gap], limit: 7', 'quotas:service', /kept/],
  ['a quota is used up too early', 'on: [claim gap], limit: 6', 'on: [claim gap], limit: 5', 'quotas:service', /not earlier/],
  ['four are claimed at once', "'claimed'\", limit: 3", "'claimed'\", limit: 4", 'quotas:rows of gap', /kept/],
];

servedOtherwise(walls, rows);
