import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing, type StandOptions } from './verify/stand.ts';

/** A service whose refusals have a payload of their own. */
const lamps = `
title: Lamps
resources:
  lamp:
    identifier: { field: id, generate: uuid }
    fields: { id: string, watts: { type: integer, minimum: 1, maximum: 90 } }
    required: [id, watts]
states: none
endpoints:
  POST /lamps: { does: create lamp }
  GET /lamps/{id}: { does: read lamp }
authentication: none
errors:
  payload:
    shape: { type: object, properties: { code: "string?", status: integer, sort: string, text: string }, required: [code, status, sort, text] }
    data: { code: code, status: status, sort: "status < 500 ? 'yours' : 'ours'", text: message }
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [resource.missing, route.unknown] }
`;

async function brokenIn(options: StandOptions, document = lamps): Promise<string[]> {
  const stand = await openStand(document, options);
  try {
    const { breaches } = await stand.verify({ only: ['resources/missing', 'endpoints/bodies'] });
    return breaches.map(({ kind, reason }) => `${kind}, ${reason}`);
  } finally {
    await stand.close();
  }
}

test('a status that stands within an own payload is that of the answer', async () => {
  const nested = lamps.replace(
    /shape: .*\n {4}data: .*/,
    () => `shape: { type: object, properties: { error: { type: object, properties: { name: string, status: integer, text: string }, required: [name, status] } }, required: [error] }
    data: { error: "{'name': code, 'status': status, 'text': message}" }`,
  );
  assert.ok(nested.includes("'status': status"));
  assert.deepEqual(await brokenIn({}, nested), []);
  const spoilt = {
    spoil: ({ status, text }: Passing) => (status >= 400 ? { text: text.replace(/"status":\d+/, '"status":400') } : {}),
  };
  assert.deepEqual(await brokenIn(spoilt, nested), ['error payload shapes, status within']);
});

test('the members of an own payload are what they are stated to be made of', async () => {
  assert.deepEqual(await brokenIn({}), []);
  const spoilt = (from: RegExp, to: string): StandOptions => ({
    spoil: ({ status, text }) => (status >= 400 ? { text: text.replace(from, to) } : {}),
  });
  assert.deepEqual(await brokenIn(spoilt(/"status":\d+/, '"status":400')), ['error payload shapes, member status']);
  assert.deepEqual(await brokenIn(spoilt(/yours/, 'ours')), ['error payload shapes, member sort']);
});
