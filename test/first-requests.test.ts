import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, serve } from '../src/index.ts';

const document = `
purpose: { purpose: Notes., base_url: "https://api.example/v1" }
resources:
  note: { identifier: { field: id, generate: ulid }, fields: { id: string } }
endpoints:
  GET /notes/{id}: { does: read note }
  GET /counts: { does: handler count }
`;

test('whoever begins at the root is told where the service is, and an open fact what to write and where', async () => {
  const service = await serve(parseDocument(document, 'notes.yaml'));
  const detail = async (path: string) => {
    const response = await service.fetch(new Request(`http://127.0.0.1${path}`));
    return [response.status, ((await response.json()) as { detail: string }).detail];
  };
  assert.deepEqual(await detail('/'), [404, 'There is nothing under this path; the service is below /v1.']);
  assert.deepEqual(await detail('/v1/other'), [404, 'There is nothing under this path.']);
  assert.deepEqual(await detail('/v1/counts'), [
    501,
    'This exchange needs a fact that is open: response payload shapes (GET /counts). State `response` (line 7).',
  ]);
  await service.close();
});

test('in production nobody is told where else to look', async () => {
  const service = await serve(parseDocument(document, 'notes.yaml'), { production: true });
  const response = await service.fetch(new Request('http://127.0.0.1/'));
  assert.equal(((await response.json()) as { detail: string }).detail, 'There is nothing under this path.');
  await service.close();
});

test('a transition is answered 501 as long as it is open which field holds the state', async () => {
  const slots = `
resources: { slot: { identifier: { field: id, generate: ulid }, fields: { id: string, status: { type: string, readOnly: true } } } }
states: { slot: { field: !open "which one?", initial: free, states: [free, taken], transitions: { take: free -> taken } } }
endpoints: { POST /slots: { does: create slot }, "POST /slots/{id}/take": { does: take slot } }
`;
  const service = await serve(parseDocument(slots, 'slots.yaml'));
  const response = await service.fetch(new Request('http://127.0.0.1/slots/1/take', { method: 'POST' }));
  assert.equal(response.status, 501);
  assert.match(((await response.json()) as { detail: string }).detail, /transitions \(slot\).*`field` \(line 3\)/);
  await service.close();
});
