import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Minders are found by their names, as they are. */
const document = `title: Yard
purpose: { purpose: Grows apples., base_url: "https://yard.example", users: { curator: Keeps the book. } }
resources:
  minder:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      person: { type: string, minLength: 2, maxLength: 30, immutable: true }
      role: { enum: [lead, helper], default: helper }
    required: [id, person, role]
    unique: [[person]]
states: { minder: none }
endpoints:
  POST /minders: { does: create minder, exists: 200 }
  GET /minders/{id}: { does: read minder }
  PATCH /minders/{id}: { does: update minder }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all minder], to: curator }]
events: none
errors:
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    taken: { status: 409, when: resource.exists }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

async function told(options: StandOptions = {}) {
  const stand = await openStand(document, options);
  try {
    const { breaches, facts } = await stand.verify({ only: ['resources/unique'] });
    const { evidence } =
      facts.find(({ kind, subject }) => kind === 'response payload shapes' && subject === 'POST /minders') ?? {};
    const looks = (evidence?.looks ?? []).filter(({ name, isMet }) => isMet && name.includes('found')).map(({ name }) => name);
    return { broken: breaches.map(({ reason }) => reason), looks };
  } finally {
    await stand.close();
  }
}

test('what a creation finds stays as it is, whatever else is sent', async () => {
  assert.deepEqual(await told(), { broken: [], looks: ['a row that is there, found', 'found, as it was'] });
  const roles = new Map<string, string>();
  // It answers with the row as it is, and keeps the role that was sent.
  const keeping: StandOptions = {
    spoil: ({ method, target, sent: text, status, text: answer }) => {
      const row = status === 200 && answer.startsWith('{') ? JSON.parse(answer) : undefined;
      if (!row) return {};
      if (method === 'POST') {
        const { role } = JSON.parse(text);
        if (role !== undefined) roles.set(row.id, role);
        return {};
      }
      const role = roles.get(target.split('/').at(-1) ?? '');
      return method === 'GET' && role !== undefined ? { text: JSON.stringify({ ...row, role }) } : {};
    },
  };
  assert.deepEqual((await told(keeping)).broken, ['found, as it was']);
});
