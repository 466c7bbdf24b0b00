import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Hawks that are admitted before they are flown, and flights that let them loose, and bring them back. */
const flights = `
title: Flights
resources:
  hawk:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 20 }, status: { type: string, readOnly: true } }
    required: [id, name, status]
  flight:
    identifier: { field: id, generate: uuid }
    fields: { id: string, hawk: { ref: hawk, immutable: true }, catch: { type: integer, readOnly: true, set: { land: request.catch } }, status: { type: string, readOnly: true } }
    required: [id, hawk, status]
states:
  hawk:
    field: status
    initial: booked
    states: [booked, lodged, aloft]
    transitions: { admit: booked -> lodged, loose: lodged -> aloft, recover: aloft -> lodged }
  flight:
    field: status
    initial: planned
    states: [planned, airborne, landed]
    transitions:
      launch: { from: planned, to: airborne, then: { do: loose hawk, to: next.hawk } }
      land: { from: airborne, to: landed, then: { do: recover hawk, to: next.hawk } }
endpoints:
  POST /hawks: { does: create hawk }
  GET /hawks/{id}: { does: read hawk }
  POST /hawks/{id}/admit: { does: admit hawk }
  POST /flights: { does: create flight }
  GET /flights/{id}: { does: read flight }
  POST /flights/{id}/launch: { does: launch flight }
  POST /flights/{id}/land:
    does: land flight
    request: { type: object, properties: { catch: { type: integer, minimum: 0, maximum: 20 } }, required: [catch], additionalProperties: false }
authentication: none
events: none
errors: { payload: problem, codes: { invalid: { status: 422, when: request.invalid }, gone: { status: 422, when: reference.missing }, missing: { status: 404, when: [resource.missing, route.unknown] }, closed: { status: 409, when: transition.illegal } } }
limits: { rate: none, pagination: none }
versioning: none
`;

test('what is to be moved along with a row is brought to where it may be, so that the row can be moved', async () => {
  const stand = await openStand(flights);
  try {
    const { facts, breaches, unsteady } = await stand.verify({ seed: 1 });
    assert.deepEqual([...breaches, ...unsteady], []);
    const found = new Map(facts.map((fact) => [`${fact.kind}:${fact.subject}`, fact]));
    const shown = Object.keys(found.get('transitions:flight')?.shown ?? {});
    for (const reason of ['launch leads', 'land leads', 'loose hawk follows launch flight', 'recover hawk follows land flight'])
      assert.ok(shown.includes(reason), `${reason}: ${shown.join(', ')}`);
    assert.equal(found.get('request payload shapes:POST /flights/{id}/land')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});
