import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A curator shows a badge or a leaf. */
const document = `title: Yard
purpose: { purpose: Grows apples., base_url: "https://yard.example/", users: { curator: Keeps the book. } }
resources:
  sort:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, maxLength: 20 } }
    required: [id, name]
states: { sort: none }
endpoints:
  POST /sorts: { does: create sort }
  GET /sorts: { does: list sort }
  GET /sorts/{id}: { does: read sort }
authentication:
  schemes:
    badge: { type: api_key, header: Authorization, prefix: Badge, generate: "badge_{random:24}" }
    leaf: { type: api_key, header: X-Leaf, generate: "leaf_{random:24}" }
  permissions: [{ allow: [all sort], to: curator }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none, quota: none, pagination: { style: none } }
versioning: { versions: none }
`;

async function told(isLeafKnown: boolean) {
  const stand = await openStand(document, {
    inPairs: true,
    secondScheme: 'leaf',
    ...(!isLeafKnown && { bend: ({ headers: { 'x-leaf': _leaf, ...headers } }) => ({ headers }) }),
  });
  try {
    const { breaches, facts } = await stand.verify({ only: ['purpose/users'] });
    const users = facts.find(({ kind }) => kind === 'users');
    return { breaches: breaches.map(({ reason }) => reason), looks: users?.evidence?.looks.map(({ name }) => name) };
  } finally {
    await stand.close();
  }
}

test('a user is known by each scheme of which a credential was given', async () => {
  const looks = ['a curator', 'a curator by leaf'];
  assert.deepEqual(await told(true), { breaches: [], looks });
  assert.deepEqual((await told(false)).breaches, ['curator by leaf']);
});
