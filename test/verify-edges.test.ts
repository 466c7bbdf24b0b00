import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Pressings of an orchard's fruit: so much a tree at the most. */
const press = `
title: Press
resources:
  orchard:
    identifier: { field: id, generate: uuid }
    fields: { id: string, trees: { type: integer, minimum: 1, maximum: 5000 } }
    required: [id, trees]
  pressing:
    identifier: { field: id, generate: uuid }
    fields: { id: string, orchard: { ref: orchard }, kilograms: { type: integer, minimum: 1, maximum: 20000 } }
    required: [id, orchard, kilograms]
states: none
endpoints:
  POST /orchards: { does: create orchard }
  GET /orchards: { does: list orchard }
  POST /pressings: { does: create pressing }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [route.unknown] }
    odd: { status: 400, when: version.unknown }
    too_much: { status: 409, on: [create pressing], if: "next.kilograms > next.orchard.trees * 100" }
versioning:
  versions: { "2026-01-01": {}, "2026-03-01": { current: true } }
  select: { header: Press-Version, default: current }
  guarantee: additive
  changes: { "2026-01-01": none, "2026-03-01": none }
`;

async function told(only: string, served?: string): Promise<(string | undefined)[]> {
  const stand = await openStand(press, served === undefined ? {} : { served });
  try {
    const { breaches } = await stand.verify({ only: [only] });
    return breaches.map(({ kind, subject }) => `${kind}, ${subject}`);
  } finally {
    await stand.close();
  }
}

test('a condition that turns at a multiple of what a row says is looked at just there', async () => {
  assert.deepEqual(await told('errors/own'), []);
  const edge = press.replace('next.kilograms > ', 'next.kilograms >= ');
  assert.deepEqual(await told('errors/own', edge), ['conditions, too_much']);
});

test('a version that looks like the listed ones is refused as any other', async () => {
  assert.deepEqual(await told('versioning/selected'), []);
  const lax = press
    .replace('"2026-01-01": {}', '"2026-01-01": {}, "2026-01-02": {}')
    .replace('"2026-01-01": none', '"2026-01-01": none, "2026-01-02": none');
  assert.deepEqual([...new Set(await told('versioning/selected', lax))].sort(), ['version selection, service']);
});
