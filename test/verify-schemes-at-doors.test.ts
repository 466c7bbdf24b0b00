import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Two schemes, of which one endpoint looks at one alone. */
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
  GET /sorts/{id}: { does: read sort }
  DELETE /sorts/{id}: { does: delete sort, accept: [badge] }
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

async function told(served?: string): Promise<{ readonly breaches: readonly string[]; readonly looks: readonly string[] }> {
  const stand = await openStand(document, { inPairs: true, secondScheme: 'leaf', ...(served !== undefined && { served }) });
  try {
    const { breaches, facts } = await stand.verify({ only: ['authentication/schemes at doors'] });
    const { evidence } = facts.find(({ kind }) => kind === 'schemes') ?? {};
    const looks = (evidence?.looks ?? []).flatMap(({ name, isMet }) => (isMet ? [name] : []));
    return { breaches: breaches.map(({ reason }) => reason), looks };
  } finally {
    await stand.close();
  }
}

test('a credential of a scheme that an endpoint does not look at shows nobody there', async () => {
  const right = await told();
  assert.deepEqual(right.breaches, []);
  assert.ok(right.looks.includes('leaf is none at DELETE /sorts/{id}'), `${right.looks}`);
  assert.deepEqual((await told(document.replace(', accept: [badge]', ''))).breaches, ['leaf is none at DELETE /sorts/{id}']);
});
