import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Of loans that are asked for or out there may be three for each grower; the clock alone ends them. */
const document = `title: Yard
purpose: { purpose: Lends seed., base_url: "https://yard.example", users: { grower: Borrows seed., curator: Lends it. } }
resources:
  loan:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grower: { type: string, readOnly: true, set: { create: caller.id } }
      seeds: { type: integer, minimum: 1, maximum: 60 }
      status: { type: string, readOnly: true }
    required: [id, grower, seeds, status]
states:
  loan:
    field: status
    initial: asked
    states: [asked, out, lost, dropped]
    transitions:
      lend: asked -> out
      lose: { from: out, to: lost, after: 20d }
      drop: { from: asked, to: dropped, after: 7d }
endpoints:
  POST /loans: { does: create loan }
  GET /loans: { does: list loan }
  GET /loans/{id}: { does: read loan }
  POST /loans/{id}/lend: { does: lend loan }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions:
    - { allow: [create loan], to: grower }
    - { allow: [list loan, read loan], to: [grower, curator] }
    - { allow: [lend loan], to: curator }
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    wrong_state: { status: 409, when: transition.illegal }
    used_up: { status: 403, when: limit.quota }
limits: { rate: none, quota: none, rows: [{ of: loan, per: grower, while: "next.status in ['asked', 'out']", limit: 3 }] }
versioning: { versions: none }
`;

async function told(served = document) {
  const stand = await openStand(document, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['limits/rows'] });
    const { evidence } = facts.find(({ kind, subject }) => kind === 'quotas' && subject === 'rows of loan') ?? {};
    const looks = (evidence?.looks ?? []).filter(({ isMet }) => isMet).map(({ name }) => name);
    return { broken: [...new Set(breaches.map(({ reason }) => reason))], looks };
  } finally {
    await stand.close();
  }
}

test('rows count in each state in which they are said to', async () => {
  const right = await told();
  assert.deepEqual(right.broken, []);
  assert.ok(right.looks.includes('kept, where one is out'), `${right.looks}`);
  assert.deepEqual((await told(document.replace("in ['asked', 'out']", "== 'asked'"))).broken, ['kept, where one is out']);
});
