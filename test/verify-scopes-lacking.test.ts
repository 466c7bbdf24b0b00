import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Whether a rule's scopes are asked for shows whoever lacks them alone; whether a list is in order, rows that differ by it. */
const document = `title: Lamps
purpose: { purpose: Keeps lamps., users: { keeper: Has lamps. } }
resources:
  lamp:
    identifier: { field: id, generate: uuid }
    fields: { id: string, size: { type: integer, minimum: 1, maximum: 90 }, watts: { type: integer, readOnly: true, set: { create: "60" } } }
    required: [id, size, watts]
states: { lamp: none }
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps: { does: list lamp, order: ORDER, pagination: { style: none } }
  DELETE /lamps/{id}: { does: delete lamp }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all lamp], to: keeper, scopes: [lamps] }]
events: none
errors: { payload: problem, codes: { unfit: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing }, not_yours: { status: 403, when: caller.forbidden } } }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

const looksOf = async (order: string, kind: string, subject: string) => {
  const stand = await openStand(document.replace('ORDER', order));
  try {
    const { breaches, facts } = await stand.verify({ only: [kind] });
    assert.deepEqual(breaches, []);
    return facts.find((fact) => fact.kind === kind && fact.subject === subject);
  } finally {
    await stand.close();
  }
};

test('a rule whose scopes every caller has is held in part', async () => {
  const fact = await looksOf('size', 'permission rules', 'create lamp');
  const look = fact?.evidence?.looks.find(({ name }) => name === 'a keeper without the scopes, refused');
  assert.deepEqual([fact?.verdict, look?.isMet], ['partly', false]);
});

test('an order is held once rows that differ by it are in it, and in part where none do', async () => {
  const reason = 'order';
  const lookIn = async (order: string) =>
    (await looksOf(order, 'response payload shapes', 'GET /lamps'))?.evidence?.looks.find(({ name }) => name === reason)?.isMet;
  assert.equal(await lookIn('size'), true);
  assert.equal(await lookIn('watts'), false);
});
