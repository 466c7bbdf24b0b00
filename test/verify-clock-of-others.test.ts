import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Engines that cool down by themselves, and that are stopped where their certificate expires before. */
const engines = `title: Engines
purpose: { purpose: Keeps engines., users: { fitter: Looks after them. } }
resources:
  engine:
    identifier: { field: id, generate: "engine_{ulid}" }
    fields:
      id: string
      name: { type: string, minLength: 2, maxLength: 30 }
      certified: { type: boolean, derive: "exists(certificate.engine, item.phase == 'valid')" }
      phase: { type: string, readOnly: true }
    required: [id, name, certified, phase]
  certificate:
    identifier: { field: id, generate: "certificate_{ulid}" }
    fields:
      id: string
      engine: { ref: engine, immutable: true, onDelete: cascade }
      ends_at: { type: string, format: date-time }
      phase: { type: string, readOnly: true }
    required: [id, engine, ends_at, phase]
states:
  engine:
    field: phase
    initial: cold
    states: [cold, hot, stopped]
    transitions:
      light: { from: cold, to: hot, if: "resource.certified" }
      cool: { from: hot, to: cold, after: 36h }
      stop: { from: [cold, hot], to: stopped }
  certificate:
    field: phase
    initial: draft
    states: [draft, valid, over]
    transitions:
      sign: { from: draft, to: valid, if: "resource.ends_at > now" }
      expire: { from: valid, to: over, at: resource.ends_at, then: { do: stop engine, to: next.engine, else: skip } }
endpoints:
  POST /engines: { does: create engine }
  GET /engines/{id}: { does: read engine }
  DELETE /engines/{id}: { does: delete engine }
  POST /engines/{id}/light: { does: light engine }
  POST /engines/{id}/stop: { does: stop engine }
  POST /engines/{engine}/certificates: { does: create certificate }
  GET /certificates/{id}: { does: read certificate }
  POST /certificates/{id}/sign: { does: sign certificate }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create engine, read engine, delete engine, light engine, stop engine, create certificate, read certificate, sign certificate], to: fitter }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    barred: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: { versions: none }
`;

test('what the clock does to a row by another one is not told as its own transition come too early or never', async () => {
  const stand = await openStand(engines, {});
  try {
    const { breaches, stopped } = await stand.verify();
    assert.deepEqual(breaches, []);
    assert.equal(stopped, undefined);
  } finally {
    await stand.close();
  }
});
