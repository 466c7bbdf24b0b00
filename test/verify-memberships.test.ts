import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Tables of panels, which clerks keep; scores are given by whoever leads the panel of a table. */
const panels = `
title: Panels
purpose: { users: { clerk: Keeps the panels., taster: Scores what is poured. } }
resources:
  panel: { identifier: { field: id, generate: uuid }, fields: { id: string, title: { type: string, minLength: 1, maxLength: 20 } }, required: [id, title] }
  member:
    identifier: { field: id, generate: uuid }
    fields: { id: string, panel: { ref: panel, immutable: true }, person: { type: string, minLength: 1, maxLength: 60, immutable: true }, role: { enum: [taster, lead], default: taster } }
    required: [id, panel, person, role]
    unique: [[panel, person]]
  table:
    identifier: { field: id, generate: uuid }
    fields: { id: string, panel: { ref: panel, immutable: true }, cups: { type: integer, minimum: 1, maximum: 9, default: 5 } }
    required: [id, panel, cups]
  score:
    identifier: { field: id, generate: uuid }
    fields: { id: string, table: { ref: table, immutable: true }, taster: { type: string, readOnly: true, set: { create: caller.id } }, points: { type: integer, minimum: 0, maximum: 100 } }
    required: [id, table, taster, points]
states: none
endpoints:
  POST /panels: { does: create panel }
  GET /panels/{id}: { does: read panel }
  POST /panels/{panel}/members: { does: create member }
  GET /members/{id}: { does: read member }
  POST /panels/{panel}/tables: { does: create table }
  GET /tables/{id}: { does: read table }
  POST /tables/{table}/scores: { does: create score }
  GET /scores/{id}: { does: read score }
  PATCH /scores/{id}: { does: update score }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:16}" } }
  permissions:
    - { allow: [create panel, read panel, create member, read member, create table, read table, read score], to: clerk }
    - { allow: [read table], to: taster }
    - { allow: [create score], to: taster, if: "has(find(member, { panel: next.table.panel, person: caller.id })) && find(member, { panel: next.table.panel, person: caller.id }).role == 'lead'" }
    - { allow: [read score, update score], to: taster, if: "resource.taster == caller.id" }
events: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, gone: { status: 422, when: reference.missing }, missing: { status: 404, when: [resource.missing, route.unknown] }, taken: { status: 409, when: resource.exists }, who: { status: 401, when: caller.unknown }, denied: { status: 403, when: caller.forbidden } } }
limits: { rate: none, pagination: none }
versioning: none
`;

async function told(served = panels) {
  const stand = await openStand(panels, { served });
  try {
    const { facts, breaches, unsteady } = await stand.verify({ seed: 1 });
    const verdicts = new Map(facts.map(({ kind, subject, verdict }) => [`${kind}:${subject}`, verdict]));
    return { verdicts, told: [...breaches, ...unsteady].map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`) };
  } finally {
    await stand.close();
  }
}

test('who has to be a member, and lead, to make something is made so first, and nothing is told of a service that is right', async () => {
  const { verdicts, told: all } = await told();
  assert.deepEqual(all, []);
  const facts = ['types:score.points', 'identifiers:score', 'request payload shapes:PATCH /scores/{id}'];
  assert.deepEqual(
    facts.map((fact) => verdicts.get(fact)),
    facts.map(() => 'held'),
  );
  // Whether a change that says nothing of its one field is drawn, by which that is seen to be kept, is left to chance.
  assert.match(verdicts.get('allowed values:score.points') ?? '', /^(?:held|partly)$/);
});

test('what such a row may be is held to what is stated, and shown again from the start', async () => {
  const { told: all } = await told(panels.replace('maximum: 100', 'maximum: 101'));
  assert.ok(all.length > 0 && all.every((one) => one.startsWith('allowed values:score.points')), all.join('; '));
});
