import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Parcels that were called otherwise once: lists and refusals of the older version are in its words. */
const parcels = `
title: Parcels
purpose: { purpose: Carries parcels., base_url: "https://parcels.example/post" }
resources:
  parcel:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      number: { type: integer, readOnly: true, generate: integer }
      weight_g: { type: integer, minimum: 1, maximum: 90000 }
      kind: { enum: [letter, crate] }
      label: { type: string, minLength: 4, maxLength: 40 }
      mark: { type: string, minLength: 4, maxLength: 40 }
    required: [id, number, weight_g, kind, label, mark]
    unique: [[label], [mark]]
states: none
endpoints:
  POST /parcels: { does: create parcel }
  GET /parcels: { does: list parcel }
  GET /parcels/{id}: { does: read parcel }
authentication: none
events: none
errors:
  payload: problem
  paths: pointer
  codes:
    invalid: { status: 422, when: request.invalid }
    taken: { status: 409, when: resource.exists }
    bad: { status: 400, when: [request.malformed, request.parameter, version.unknown] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
limits: { rate: none, pagination: { style: offset, offset: skip, size: take, default: 20, max: 50, items: rows, has_more: more } }
versioning:
  versions: { "2026-01-01": { deprecated: 2026-02-01, alternative: "2026-03-01" }, "2026-03-01": { current: true } }
  select: { header: Edition, default: current }
  guarantee: additive
  changes:
    "2026-01-01": none
    "2026-03-01": [{ rename: parcel.weight, to: weight_g }, { enum: parcel.kind, values: { box: crate } }]
`;

async function told(only: string, options: StandOptions): Promise<string[]> {
  const right = await openStand(parcels);
  const wrong = await openStand(parcels, options);
  try {
    assert.deepEqual((await right.verify({ only: [only] })).breaches, []);
    const { breaches } = await wrong.verify({ only: [only] });
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}, ${subject}, ${reason}`))].sort();
  } finally {
    await right.close();
    await wrong.close();
  }
}

test('a list of an older version shows what reading shows there', async () => {
  const spoil: StandOptions['spoil'] = ({ text }) =>
    text.startsWith('{"rows"') ? { text: text.replaceAll('"box"', '"crate"') } : {};
  assert.deepEqual(await told('versioning/shapes', { spoil }), ['version identifiers, service, parcel is listed']);
});

test('what is wrong with a body of an older version is told in its words', async () => {
  const spoil: StandOptions['spoil'] = ({ text }) => ({ text: text.replaceAll('"/weight"', '"/weight_g"') });
  assert.deepEqual(await told('versioning/shapes', { spoil }), ['version identifiers, service, told in its words']);
});

test('the link to what takes the place of a version leads below the base address', async () => {
  const spoil: StandOptions['spoil'] = ({ headers }) =>
    typeof headers.link === 'string' ? { headers: { ...headers, link: headers.link.replaceAll('/post/', '/') } } : {};
  const found = await told('purpose/told addresses', { spoil });
  assert.ok(found.includes('base address, service, links of 2026-01-01'), found.join('; '));
});

test('that a creation which was refused leaves no gap is held once it was seen', async () => {
  const stand = await openStand(parcels);
  try {
    const { facts } = await stand.verify({ only: ['resources/counted'] });
    const fact = facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'parcel.number');
    assert.equal(fact?.evidence?.looks.find(({ name }) => name === 'counted, after a refusal')?.isMet, true);
  } finally {
    await stand.close();
  }
});
