import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

const readings = `title: Readings
purpose: { purpose: Keeps readings., users: { reader: Reads. } }
resources:
  reading:
    identifier: { field: id, generate: uuid }
    fields: { id: string, site: { type: string, immutable: true, minLength: 2 }, value: integer }
    required: [id, site, value]
states: none
endpoints:
  POST /readings: { does: create reading }
  GET /readings/{id}: { does: read reading }
  PUT /readings/{id}: { does: replace reading }
authentication: none
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: { rate: none }
versioning: { versions: none }
`;

test('what replaces a row keeps the immutable field that it leaves out, required or not', async () => {
  const stand = await openStand(readings);
  try {
    const send = async (method: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${stand.url}${path}`, { method, headers, body: JSON.stringify(body) });
      return { status: answer.status, body: (await answer.json()) as { id: string; site?: string; value?: number } };
    };
    assert.equal((await send('POST', '/readings', { value: 1 })).status, 422);
    const { body: made } = await send('POST', '/readings', { site: 'quay', value: 1 });
    const replaced = await send('PUT', `/readings/${made.id}`, { value: 2 });
    assert.deepEqual([replaced.status, replaced.body], [200, { id: made.id, site: 'quay', value: 2 }]);
    assert.equal((await send('PUT', `/readings/${made.id}`, { site: 'pier', value: 2 })).status, 422);
    assert.equal((await send('PUT', `/readings/${made.id}`, { site: 'quay' })).status, 422);
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, seen }) => `${kind}:${subject} ${seen}`),
      [],
    );
    assert.equal(facts.find(({ kind, subject }) => kind === 'required flags' && subject === 'reading.site')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});
