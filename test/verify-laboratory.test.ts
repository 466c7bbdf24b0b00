import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Cases are milled out of a lot that is sent with the act: an open one, of the material that the case is made of, with as much left as it takes. */
const laboratory = `
title: Laboratory
purpose: { purpose: Makes crowns., users: { technician: Mills. } }
resources:
  material:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 2, maxLength: 30 } }
    required: [id, name]
  lot:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      material: { ref: material, immutable: true }
      units: { type: integer, minimum: 0, maximum: 500 }
      state: { type: string, readOnly: true }
    required: [id, material, units, state]
  case:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      material: { ref: material, immutable: true }
      teeth: { type: integer, minimum: 1, maximum: 14 }
      lot: { ref: lot, readOnly: true, set: { mill: request.lot } }
      state: { type: string, readOnly: true }
    required: [id, material, teeth, state]
states:
  material: none
  lot: { field: state, initial: sealed, states: [sealed, open], transitions: { open: sealed -> open } }
  case:
    field: state
    initial: ordered
    states: [ordered, milled, glazed]
    transitions:
      mill:
        from: ordered
        to: milled
        if: { if: "request.lot.state == 'open' && request.lot.material == resource.material && request.lot.units >= resource.teeth", else: lot_unfit }
      glaze: milled -> glazed
endpoints:
  POST /materials: { does: create material }
  POST /materials/{material}/lots: { does: create lot }
  GET /lots/{id}: { does: read lot }
  POST /lots/{id}/open: { does: open lot }
  POST /cases: { does: create case }
  GET /cases/{id}: { does: read case }
  POST /cases/{id}/mill: { does: mill case, request: { type: object, properties: { lot: { ref: lot } }, required: [lot] } }
  POST /cases/{id}/glaze: { does: glaze case }
authentication: none
events: none
errors: { payload: problem, codes: { lot_unfit: { status: 409 }, not_now: { status: 409, when: transition.illegal }, missing: { status: 404, when: resource.missing }, wrong: { status: 422, when: request.invalid } } }
limits: { rate: none, quota: none, size: none, pagination: { style: none } }
versioning: { versions: none }
`;

test('what a transition is sent with is made as its condition asks for it', async () => {
  const stand = await openStand(laboratory);
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/transitions'] });
    assert.deepEqual(breaches, []);
    const looks = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'case')?.evidence?.looks ?? [];
    const met = looks.filter(({ isMet }) => isMet).map(({ name }) => name);
    assert.ok(met.includes('mill from ordered') && met.includes('glaze from milled'), met.join('\n'));
  } finally {
    await stand.close();
  }
});
