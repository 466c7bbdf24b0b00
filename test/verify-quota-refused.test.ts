import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Four grafts a week, of which none may have more than eight pots on a dwarf. */
const document = `title: Yard
purpose: { purpose: Grafts apples., base_url: "https://yard.example", users: { grower: Orders grafts. } }
resources:
  graft:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      rootstock: { enum: [m9, m26, seedling] }
      pots: { type: integer, minimum: 1, maximum: 12 }
    required: [id, rootstock, pots]
states: { graft: none }
endpoints:
  POST /grafts: { does: create graft }
  GET /grafts/{id}: { does: read graft }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all graft], to: grower }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    used_up: { status: 429, when: limit.quota }
    dwarf_pots: { status: 422, on: [create graft], if: "next.rootstock == 'm9' && next.pots > 8", message: At most eight pots on M9. }
limits: { rate: none, quota: [{ per: caller, on: [create graft], limit: 4, window: week, zone: UTC }] }
versioning: { versions: none }
`;

async function told(options: StandOptions = {}) {
  const stand = await openStand(document, options);
  try {
    const { breaches } = await stand.verify({ only: ['limits/quotas'] });
    return breaches.map(({ reason }) => reason);
  } finally {
    await stand.close();
  }
}

test('what an error of the service refuses uses up nothing of a quota', async () => {
  assert.deepEqual(await told(), []);
  // It makes the graft that it refuses, and counts it.
  const lax: StandOptions = {
    bend: ({ method, text }) => {
      const sent = method === 'POST' && text.startsWith('{') ? JSON.parse(text) : undefined;
      if (sent?.rootstock !== 'm9' || !(sent.pots > 8)) return {};
      return { text: JSON.stringify({ ...sent, pots: 8 }) };
    },
    spoil: ({ method, sent, status }) => {
      const body = method === 'POST' && sent.startsWith('{') ? JSON.parse(sent) : undefined;
      const isMeant = status === 201 && body?.rootstock === 'm9' && body.pots > 8;
      return isMeant ? { status: 422, headers: { 'content-type': 'application/problem+json' }, text: dwarf } : {};
    },
  };
  assert.deepEqual(await told(lax), ['not earlier']);
});

const dwarf = JSON.stringify({
  type: 'about:blank',
  title: 'dwarf_pots',
  status: 422,
  code: 'dwarf_pots',
  detail: 'At most eight pots on M9.',
});
