import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A sowing needs a field that is ploughed, and a bag of what grows there; and fields are ploughed in years to come alone. */
const farm = `
title: Farm
resources:
  crop:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, name]
  field:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      crop: { ref: crop, onDelete: restrict }
      free_from: { type: string, format: date-time }
      status: { type: string, readOnly: true }
    required: [id, crop, free_from, status]
  bag:
    identifier: { field: id, generate: uuid }
    fields: { id: string, crop: { ref: crop, onDelete: restrict } }
    required: [id, crop]
  sowing:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      field: { ref: field, onDelete: restrict, immutable: true }
      bag: { ref: bag, onDelete: restrict, immutable: true }
      rows: { type: integer, minimum: 1, maximum: 90 }
    required: [id, field, bag, rows]
states:
  crop: none
  bag: none
  sowing: none
  field:
    field: status
    initial: fallow
    states: [fallow, flooded, ploughed]
    transitions: { plough: { from: fallow, to: ploughed, if: resource.free_from > now }, flood: fallow -> flooded }
endpoints:
  POST /crops: { does: create crop }
  POST /fields: { does: create field }
  GET /fields/{id}: { does: read field }
  POST /fields/{id}/plough: { does: plough field }
  POST /fields/{id}/flood: { does: flood field }
  POST /bags: { does: create bag }
  GET /bags/{id}: { does: read bag }
  POST /fields/{field}/sowings: { does: create sowing }
  GET /sowings/{id}: { does: read sowing }
  PATCH /sowings/{id}: { does: update sowing }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    nothing: { status: 422, when: reference.missing }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    wrong_state: { status: 409, when: transition.illegal }
    unploughed: { status: 409, on: [create sowing], if: "next.field.status != 'ploughed'" }
    other_crop: { status: 422, on: [create sowing], if: next.field.crop != next.bag.crop }
`;

test('what a new row refers to is brought to the state, and given the values, that errors of the service ask for', async () => {
  const stand = await openStand(farm);
  try {
    const { breaches, facts } = await stand.verify({
      only: ['resources/stored', 'resources/changed', 'errors/own', 'endpoints/locations'],
    });
    assert.deepEqual(breaches, []);
    const wanted = ['response payload shapes:POST /fields/{field}/sowings', 'conditions:unploughed'];
    const told = facts.filter(({ kind, subject }) => wanted.includes(`${kind}:${subject}`));
    assert.deepEqual(
      told.filter(({ verdict }) => verdict !== 'held').map(({ kind, subject, why }) => `${kind}:${subject}: ${why}`),
      [],
    );
    const kept = facts.filter(({ why = '' }) => why.includes('no sowing could be made'));
    assert.deepEqual(
      kept.map(({ kind, subject, why }) => `${kind}:${subject}: ${why}`),
      [],
    );
  } finally {
    await stand.close();
  }
});
