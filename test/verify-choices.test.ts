import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A graft that begins, and is taken or fails, by a number. */
const document = `title: Yard
purpose: { purpose: Grafts apples., base_url: "https://yard.example", users: { grafter: Grafts. } }
resources:
  graft:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      pots: { type: integer, minimum: 1, maximum: 40 }
      work: { type: string, readOnly: true }
    required: [id, pots, work]
states:
  graft.work:
    initial: [{ if: "next.pots > 12", state: asked }, { state: queued }]
    states: [asked, queued, taken, doubtful, failed]
    transitions:
      agree: asked -> queued
      inspect: { from: queued, to: [{ if: "request.takes >= 50", state: taken }, { if: "request.takes >= 20", state: doubtful }, { state: failed }] }
endpoints:
  POST /grafts: { does: create graft }
  GET /grafts/{id}: { does: read graft }
  POST /grafts/{id}/agree: { does: agree graft }
  POST /grafts/{id}/inspect:
    does: inspect graft
    request: { type: object, properties: { takes: { type: integer, minimum: 0, maximum: 100 } }, required: [takes] }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all graft], to: grafter }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    wrong_state: { status: 409, when: transition.illegal }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

async function told(served = document) {
  const stand = await openStand(document, { served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/choices'] });
    const looks = facts.flatMap(({ evidence }) => evidence?.looks ?? []).filter(({ name }) => name.endsWith(' its edge'));
    return {
      broken: [...new Set(breaches.map(({ subject, seen }) => `${subject}, ${seen}`))],
      missing: looks.flatMap(({ name, isMet }) => (isMet ? [] : [name])),
      looked: looks.length,
    };
  } finally {
    await stand.close();
  }
}

test('what leads to one of several states is told by the values at the edge of each condition', async () => {
  assert.deepEqual(await told(), { broken: [], missing: [], looked: 6 });
});

test('an edge of what decides where a row is led, or begins, is found', async () => {
  assert.deepEqual((await told(document.replace('takes >= 50', 'takes > 50'))).broken, ['graft.work, doubtful']);
  assert.deepEqual((await told(document.replace('takes >= 20', 'takes >= 19'))).broken, ['graft.work, doubtful']);
  assert.deepEqual((await told(document.replace('pots > 12', 'pots >= 12'))).broken, ['graft.work, asked']);
});
