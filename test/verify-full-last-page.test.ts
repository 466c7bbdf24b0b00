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

const trials = ['endpoints/pages', 'endpoints/shared pages'];

async function told(options: StandOptions = {}, stated = document, only = trials): Promise<readonly string[]> {
  const stand = await openStand(stated, options);
  try {
    const { breaches } = await stand.verify({ only });
    return [...new Set(breaches.map(({ reason }) => reason))];
  } finally {
    await stand.close();
  }
}

/** What says of a full page that there are more. */
const spoil: StandOptions['spoil'] = ({ target, text }) => {
  const take = Number(/take=(\d+)/.exec(target)?.[1] ?? 10);
  const body = target.startsWith('/sorts?') && text.startsWith('{"sorts"') ? JSON.parse(text) : undefined;
  return body?.sorts.length === take ? { text: JSON.stringify({ ...body, more: true }) } : {};
};

test('a list of a number of rows that no page divides is looked at by what a filter leaves of it', async () => {
  const stated = Array.from({ length: 52 }, (_, at) => {
    const kind = at < 40 ? 'pear' : 'apple';
    return `{ id: a0b1c2d3-0000-4000-8000-0000000000${10 + at}, name: old ${at}, kind: ${kind} }`;
  });
  const full = document
    .replace('name: { type: string, maxLength: 20 }', 'name: { type: string, maxLength: 20 }, kind: { enum: [pear, apple] }')
    .replace('    required: [id, name]', `    required: [id, name]\n    rows: [${stated.join(', ')}]`)
    .replace('does: list sort, ', 'does: list sort, parameters: { kind: { in: query } }, ')
    .replace('max: 50', 'max: 12');
  const only = ['endpoints/shared pages'];
  assert.deepEqual(await told({}, full, only), []);
  assert.deepEqual(await told({ spoil }, full, only), ['last page']);
});

test('a last page that is full and says that there are more is told', async () => {
  assert.deepEqual(await told(), []);
  assert.deepEqual(await told({ spoil }), ['last page']);
});
