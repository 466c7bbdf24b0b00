import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A list whose pages say whether there are more. */
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
  GET /sorts: { does: list sort, pagination: { style: page, page: sheet, size: take, default: 10, max: 50, over_max: refuse, items: sorts, has_more: more } }
authentication:
  schemes: { badge: { type: api_key, header: Authorization, prefix: Badge, generate: "badge_{random:24}" } }
  permissions: [{ allow: [all sort], to: curator }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

async function told(options: StandOptions = {}): Promise<readonly string[]> {
  const stand = await openStand(document, options);
  try {
    const { breaches } = await stand.verify({ only: ['endpoints/pages', 'endpoints/shared pages'] });
    return [...new Set(breaches.map(({ reason }) => reason))];
  } finally {
    await stand.close();
  }
}

test('a last page that is full and says that there are more is told', async () => {
  assert.deepEqual(await told(), []);
  const spoil: StandOptions['spoil'] = ({ target, text }) => {
    const take = Number(/take=(\d+)/.exec(target)?.[1] ?? 10);
    const body = target.startsWith('/sorts?') && text.startsWith('{"sorts"') ? JSON.parse(text) : undefined;
    return body?.sorts.length === take ? { text: JSON.stringify({ ...body, more: true }) } : {};
  };
  assert.deepEqual(await told({ spoil }), ['last page']);
});
