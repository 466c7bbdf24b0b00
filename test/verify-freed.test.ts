import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A tool is lent to one at a time; who asks for it is forgotten after two days, unless it was handed out. */
const shed = `
title: Shed
resources:
  tool:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 20 } }
    required: [id, name]
  loan:
    identifier: { field: id, generate: uuid }
    fields: { id: string, tool: { ref: tool, onDelete: cascade, immutable: true }, status: { type: string, readOnly: true } }
    required: [id, tool, status]
    unique: [{ fields: [tool], while: "next.status in ['asked', 'out']" }]
states:
  tool: none
  loan:
    field: status
    initial: asked
    states: [asked, out, back, forgotten]
    transitions: { hand: asked -> out, bring: out -> back, forget: { from: asked, to: forgotten, after: 48h } }
endpoints:
  POST /tools: { does: create tool }
  POST /loans: { does: create loan }
  GET /loans/{id}: { does: read loan }
  POST /loans/{id}/hand: { does: hand loan }
  POST /loans/{id}/bring: { does: bring loan }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    nothing: { status: 422, when: reference.missing }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    wrong_state: { status: 409, when: transition.illegal }
    taken: { status: 409, when: resource.exists }
`;

const reasons = (served: string, only: string): Promise<string[]> => reasonsOf(shed, served, only);

async function reasonsOf(document: string, served: string, only: string): Promise<string[]> {
  const stand = await openStand(document, { served });
  try {
    const { breaches } = await stand.verify({ only: [only] });
    return breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`);
  } finally {
    await stand.close();
  }
}

test('what is unique in some states alone is free once a row is in another', async () => {
  assert.deepEqual(await reasons(shed, 'errors/taken again'), []);
  const served = shed.replace("['asked', 'out']", "['asked', 'out', 'back']");
  assert.deepEqual(await reasons(served, 'errors/taken again'), [
    'conditions: taken, freed',
    'allowed values: loan.tool, tool, free once it is back',
  ]);
});

test('that rows are unique in some states alone is held once each other state was seen to free what they had', async () => {
  const stand = await openStand(shed);
  try {
    const { facts } = await stand.verify({ only: ['resources/unique'] });
    const fact = facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'loan.tool');
    const missing = fact?.evidence?.looks.filter(({ isMet }) => !isMet).map(({ name }) => name);
    assert.deepEqual(missing, ['tool, free once it is back', 'tool, free once it is forgotten', 'tool, taken while it is out']);
    assert.equal(fact?.verdict, 'partly');
  } finally {
    await stand.close();
  }
});

test('a row that has left its state is not taken further by the clock', async () => {
  assert.deepEqual(await reasons(shed, 'states/timed'), []);
  const served = shed.replace('from: asked, to: forgotten', 'from: [asked, out], to: forgotten');
  assert.deepEqual(await reasons(served, 'states/timed'), ['transitions: loan, forget left behind']);
});

test('what is unique is taken in each state that counts, also in one to which the clock brings a row', async () => {
  const late = shed
    .replace("['asked', 'out']", "['asked', 'out', 'late']")
    .replace('states: [asked, out, back, forgotten]', 'states: [asked, out, late, back, forgotten]')
    .replace('bring: out -> back,', 'bring: { from: [out, late], to: back }, miss: { from: out, to: late, after: 72h },');
  assert.deepEqual(await reasonsOf(late, late, 'errors/taken again'), []);
  assert.deepEqual(await reasonsOf(late, late, 'errors/taken in time'), []);
  assert.deepEqual(await reasonsOf(late, late.replace("['asked', 'out', 'late']", "['asked', 'late']"), 'errors/taken again'), [
    'allowed values: loan.tool, tool, taken while it is out',
  ]);
  assert.deepEqual(await reasonsOf(late, late.replace("['asked', 'out', 'late']", "['asked', 'out']"), 'errors/taken in time'), [
    'allowed values: loan.tool, tool, taken while it is late',
  ]);
});
