import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Entries at a fair, of which is told when they are judged: not when something else of one that is judged is changed. */
const fair = `title: Fair
purpose: { purpose: Shows entries., base_url: https://fair.example/v1, users: { judge: Judges them. } }
resources:
  entry:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, readOnly: true }
      title: { type: string, minLength: 2, maxLength: 40 }
      points: { type: integer, minimum: 0, maximum: 100 }
    required: [id, title]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: { type: string, readOnly: true }, url: { type: string, format: uri, maxLength: 200 } }
    required: [id, url]
states: { entry: none, hook: none }
endpoints:
  POST /entries: { does: create entry }
  GET /entries/{id}: { does: read entry }
  PATCH /entries/{id}: { does: update entry }
  POST /hooks: { does: create hook }
  GET /hooks/{id}: { does: read hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all entry, all hook], to: judge }]
events:
  delivery: { webhook: { signature: none, retry: [5s], timeout: 2s, subscribers: { resource: hook, url: url } } }
  kinds:
    entry.made: { on: [create entry], payload: entry }
    entry.judged: { on: [update entry], if: "has(next.points) && (!has(resource.points) || next.points != resource.points)", payload: entry }
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

const told = async (served = fair) => {
  const stand = await openStand(fair, { serve: { allowPrivateWebhooks: true }, served });
  try {
    const { breaches, facts } = await stand.verify({ only: ['events/already so'] });
    const fact = facts.find(({ kind, subject }) => kind === 'emitting operations' && subject === 'entry.judged');
    const look = fact?.evidence?.looks.find(({ name }) => name === 'emitted by update entry, of something else');
    return { broken: breaches.map(({ subject, reason }) => `${subject}, ${reason}`), isMet: look?.isMet };
  } finally {
    await stand.close();
  }
};

test('a change of something else of what was told already is told of as the condition says', async () => {
  assert.deepEqual(await told(), { broken: [], isMet: true });
  const { broken } = await told(fair.replace(' && (!has(resource.points) || next.points != resource.points)', ''));
  assert.deepEqual(broken, ['entry.judged, emitted by update entry, of something else']);
});
