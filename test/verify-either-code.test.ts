import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { entryOf } from '../src/parts/fact.ts';
import { withoutNulls } from '../src/verify/model/fields.ts';
import { openStand } from './verify/stand.ts';

/** A service that tells the ways of being invalid apart. */
const bells = `
title: Bells
resources:
  bell:
    identifier: { field: id, generate: uuid }
    fields: { id: string, tone: { enum: [high, low] } }
    required: [id, tone]
states: none
endpoints:
  POST /bells: { does: create bell }
  GET /bells/{id}: { does: read bell }
  PATCH /bells/{id}: { does: update bell }
authentication: none
errors:
  payload: problem
  codes:
    lacking: { status: 422, when: request.invalid.missing }
    strange: { status: 422, when: request.invalid.unknown }
    other_sort: { status: 422, when: request.invalid.type }
    bad_value: { status: 422, when: request.invalid.value }
    missing: { status: 404, when: [resource.missing, route.unknown] }
events: none
limits: { rate: none, pagination: none }
versioning: none
`;

/** What is told of a service that answers null for a required field with another code. */
async function toldWith(code: string): Promise<string[]> {
  const stand = await openStand(bells, {
    spoil: ({ method, sent, status, text }) =>
      method === 'PATCH' && status === 422 && sent === '{"tone":null}'
        ? { text: text.replaceAll(/lacking|other_sort|bad_value/g, code) }
        : {},
  });
  try {
    const { breaches } = await stand.verify({ only: ['endpoints/bodies'] });
    return breaches.map(({ subject, promised }) => `${subject}: ${promised}`);
  } finally {
    await stand.close();
  }
}

test('null for what a row has to have is missing, or a wrong value of whichever sort: no word says which', async () => {
  for (const code of ['lacking', 'other_sort', 'bad_value']) assert.deepEqual(await toldWith(code), []);
});

test('it is no field that is not stated', async () => {
  assert.deepEqual(await toldWith('strange'), ['lacking: lacking, for a patch that takes tone away']);
});

test('a body that is drawn for a patch takes nothing away that has to be there, nullable or not', () => {
  const nullable = bells
    .replace('tone: { enum: [high, low] }', 'tone: { enum: [high, low] }, pitch: number?, note: string')
    .replace('[id, tone]', '[id, tone, pitch]');
  const { spec } = check(parseDocument(nullable, 'bells.yaml'));
  const drawn = { tone: 'low', pitch: null, note: null };
  const sentBy = (key: string) => {
    const endpoint = entryOf(spec.endpoints.all, key);
    assert.ok(endpoint);
    return withoutNulls<string | null>(spec, endpoint, drawn);
  };
  assert.deepEqual(sentBy('PATCH /bells/{id}'), { tone: 'low', note: null });
  assert.deepEqual(sentBy('POST /bells'), drawn);
});
