import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Cups, in an envelope that names the version; the older one has their size under another name. */
const cups = `
title: Cups
resources:
  cup:
    identifier: { field: id, generate: uuid }
    fields: { id: string, size: { type: integer, minimum: 1, maximum: 9 } }
    required: [id, size]
states: none
endpoints:
  POST /cups: { does: create cup }
  GET /cups/{id}:
    does: read cup
    response: { 200: { shape: { type: object, properties: { data: cup, said: string }, required: [data, said] }, data: { data: result, said: version } } }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown, version.unknown] }
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { path: "/{version}", default: none }
  guarantee: additive
  changes: { v1: none, v2: [{ rename: cup.span, to: size }] }
`;

async function told(options: StandOptions): Promise<string[]> {
  const stand = await openStand(cups, options);
  try {
    const { breaches } = await stand.verify({ only: ['versioning/shapes', 'versioning/selected'] });
    return breaches.map(({ kind, reason }) => `${kind}, ${reason}`);
  } finally {
    await stand.close();
  }
}

test('a row in an envelope is read in older versions, and the envelope says which', async () => {
  assert.deepEqual(await told({}), []);
  assert.deepEqual(await told({ spoil: ({ text }) => ({ text: text.replace('"v1"', '"v2"') }) }), [
    'version selection, said says it',
  ]);
  assert.deepEqual(await told({ spoil: ({ text }) => ({ text: text.replace('"span"', '"size"') }) }), [
    'version identifiers, cup is read',
  ]);
  const unnamed: StandOptions = {
    spoil: ({ target, status, text }) =>
      target.startsWith('/v') ? {} : { status, text: text.replaceAll('missing', 'no_such_path') },
  };
  assert.ok(!(await told(unnamed)).some((one) => one.startsWith('version selection')));
});
