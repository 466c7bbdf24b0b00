import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Lamps below a path, listed in pages that are told by links. */
const document = `title: Lamps
purpose: { purpose: Keeps lamps., base_url: "https://lamps.example/desk", users: { clerk: Keeps them. } }
resources:
  lamp:
    identifier: { field: id, generate: integer }
    fields: { id: integer, word: { type: string, maxLength: 20 } }
    required: [id, word]
states: none
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps: { does: list lamp, pagination: { style: after, after: after, size: size, default: 3, max: 6, told: link } }
  GET /lamps/{id}: { does: read lamp }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    nowhere: { status: 404, when: route.unknown }
limits: { rate: none }
versioning: { versions: none }
`;

const told = async (spoil?: StandOptions['spoil']) => {
  const stand = await openStand(document, spoil ? { spoil } : {});
  try {
    const { breaches, facts } = await stand.verify({ only: ['base address'] });
    const fact = facts.find(({ kind }) => kind === 'base address');
    return { broken: breaches.map(({ reason }) => reason), verdict: fact?.verdict, looks: fact?.evidence?.looks };
  } finally {
    await stand.close();
  }
};

/** One header field of every answer, without the path of the base address. */
const lacking =
  (name: string): StandOptions['spoil'] =>
  ({ headers }) => {
    const { [name]: field } = headers;
    return field === undefined ? {} : { headers: { ...headers, [name]: String(field).replaceAll('/desk/', '/') } };
  };

test('the addresses that a service tells are looked at before its base address is held', async () => {
  const { broken, verdict, looks } = await told();
  assert.deepEqual(broken, []);
  assert.equal(verdict, 'held');
  assert.deepEqual(
    looks?.map(({ name }) => name),
    ['an answer below it', 'none without it', 'Location of POST /lamps', 'links of GET /lamps to other pages'],
  );
});

test('a Location and links of pages that lack the path of the base address are found', async () => {
  assert.deepEqual((await told(lacking('location'))).broken, ['Location of POST /lamps']);
  assert.deepEqual((await told(lacking('link'))).broken, ['links of GET /lamps to other pages']);
});
