import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A piece goes into a trial and comes out of it as its trial goes on, so that each waits for the other; a trial is judged by its readings. */
const observatory = `title: Observatory
purpose: { purpose: Tries clocks., users: { rater: Tries them. } }
resources:
  piece:
    identifier: { field: id, generate: uuid }
    fields: { id: string, serial: { type: string, minLength: 3, maxLength: 20 }, condition: { type: string, readOnly: true }, tried: { type: integer, derive: "count(trial.piece)" } }
    required: [id, serial, condition, tried]
  trial:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      piece: { ref: piece, immutable: true, onDelete: restrict }
      phase: { type: string, readOnly: true }
      readings: { type: integer, derive: "count(reading.trial)" }
    required: [id, piece, phase, readings]
  reading:
    identifier: { field: id, generate: uuid }
    fields: { id: string, trial: { ref: trial, immutable: true, onDelete: cascade }, day: { type: integer, minimum: 1, maximum: 45 } }
    required: [id, trial, day]
    unique: [[trial, day]]
states:
  piece:
    field: condition
    initial: shelved
    states: [shelved, on_test, withdrawn]
    transitions:
      withdraw: shelved -> withdrawn
      readmit: { from: withdrawn, to: shelved, if: { if: "resource.tried < 3", else: worn_out } }
      engage: { from: shelved, to: on_test, by: service, else: away }
      release: { from: on_test, to: shelved, by: service }
  trial:
    field: phase
    initial: planned
    states: [planned, running, finished, void]
    transitions:
      open: { from: planned, to: running, then: { do: engage piece, to: next.piece } }
      finish: { from: running, to: finished, if: { if: "resource.readings >= 2", else: too_few }, then: { do: release piece, to: next.piece } }
      annul: { from: [planned, running], to: void, then: { do: release piece, to: next.piece, if: "resource.phase == 'running'" } }
  reading: none
endpoints:
  POST /pieces: { does: create piece }
  GET /pieces/{id}: { does: read piece }
  DELETE /pieces/{id}: { does: delete piece, in: [shelved, withdrawn] }
  POST /pieces/{id}/withdraw: { does: withdraw piece }
  POST /pieces/{id}/readmit: { does: readmit piece }
  POST /pieces/{piece}/trials: { does: create trial }
  GET /trials/{id}: { does: read trial }
  DELETE /trials/{id}: { does: delete trial, in: [planned, finished, void] }
  POST /trials/{id}/open: { does: open trial }
  POST /trials/{id}/finish: { does: finish trial }
  POST /trials/{id}/annul: { does: annul trial }
  POST /trials/{trial}/readings: { does: create reading }
  GET /readings/{id}: { does: read reading }
  DELETE /readings/{id}: { does: delete reading }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all piece, all trial, all reading, withdraw piece, readmit piece, open trial, finish trial, annul trial], to: rater }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    kept: { status: 409, when: reference.held }
    not_now: { status: 409, when: transition.illegal.state }
    away: { status: 409 }
    too_few: { status: 409 }
    worn_out: { status: 409 }
    not_running: { status: 409, on: [create reading], if: "next.trial.phase != 'running'" }
    too_late: { status: 409, on: [delete reading], if: "resource.trial.phase != 'running'" }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

test('what is moved along with another is not waited for by what waits for it', async () => {
  const stand = await openStand(observatory);
  try {
    const { breaches, facts, requests, stopped } = await stand.verify();
    assert.deepEqual([breaches, stopped], [[], undefined]);
    assert.ok(requests < 4000, `${requests} requests`);
    const shown = facts.filter(
      ({ kind, subject, verdict }) => kind === 'conditions' && subject === 'not_running' && verdict === 'held',
    );
    assert.equal(shown.length, 1);
  } finally {
    await stand.close();
  }
});
