import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breach } from '../src/verify/report.ts';
import { type Bent, openStand } from './verify/stand.ts';

/** Anyone reads boats; whoever shows something has to show a good one. */
const boats = `title: Boats
purpose: { purpose: Lists boats., users: { skipper: Lists them. } }
resources:
  boat:
    identifier: { field: id, generate: uuid }
    fields: { id: { type: string, readOnly: true }, name: { type: string, minLength: 1, maxLength: 40 } }
    required: [id, name]
states: { boat: none }
endpoints:
  POST /boats: { does: create boat }
  GET /boats: { does: list boat }
  GET /boats/{id}: { does: read boat }
  DELETE /boats/{id}: { does: delete boat }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create boat, delete boat], to: skipper }
    - { allow: [list boat, read boat], to: anyone }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none }
versioning: { versions: none }
`;

async function held(bend?: (given: readonly string[]) => (request: Bent) => Partial<Bent>) {
  let given: readonly string[] = [];
  const stand = await openStand(boats, { ...(bend && { bend: (request: Bent) => bend(given)(request) }) });
  given = stand.credentials.map(({ value }) => value);
  try {
    return await stand.verify({ only: ['authentication/who is calling', 'schemes:service'] });
  } finally {
    await stand.close();
  }
}

test('a credential that is not good is to be refused where nobody needs one', async () => {
  const { breaches, facts } = await held();
  assert.deepEqual(breaches, []);
  assert.equal(facts.find(({ kind }) => kind === 'schemes')?.verdict, 'held');
});

test('who takes a bad credential for none, where anyone may, is found', async () => {
  const { breaches } = await held((given) => ({ method, headers }) => {
    if (method !== 'GET' || given.includes(String(headers['x-key']))) return {};
    const { 'x-key': _bad, ...others } = headers;
    return { headers: others };
  });
  const lines = breaches.map(({ kind, subject, reason }: Breach) => `${kind}:${subject} ${reason}`);
  assert.ok(lines.includes('schemes:service a bad one where anyone may'), lines.join('; '));
});
