import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toTypescript } from '../src/convert/typescript.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { valueAt } from '../src/document/source.ts';
import { serve } from '../src/index.ts';
import { isKey } from '../src/parts/form.ts';
import { readSpec } from '../src/parts/spec.ts';
import { exported, readBack } from './openapi/harness.ts';
import { openStand } from './verify/stand.ts';

const text = `title: Lines
purpose: { users: { caller: Calls. } }
resources:
  line:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      friendly_name: { type: string, maxLength: 20 }
      max_size: { type: integer, minimum: 1 }
      note: string
      made_by: { type: string, readOnly: true, set: { create: caller.id } }
    required: [id, friendly_name, max_size, made_by]
states: none
endpoints:
  POST /lines:
    does: create line
    request: { type: object, properties: { FriendlyName: { type: string, maxLength: 20 }, MaxSize: { type: integer, minimum: 1 }, note: string, MadeBy: string }, required: [FriendlyName, MaxSize], additionalProperties: false }
    takes: { FriendlyName: friendly_name, MaxSize: max_size, MadeBy: made_by }
  GET /lines/{id}: { does: read line }
  GET /lines: { does: list line }
  PATCH /lines/{id}:
    does: update line
    request: { type: object, properties: { FriendlyName: { type: string, maxLength: 20 }, MaxSize: { type: integer, minimum: 1 } }, additionalProperties: false }
    takes: { FriendlyName: friendly_name, MaxSize: max_size }
  PUT /lines/{id}:
    does: replace line
    request: { type: object, properties: { FriendlyName: { type: string, maxLength: 20 }, MaxSize: { type: integer, minimum: 1 }, note: string }, required: [FriendlyName, MaxSize], additionalProperties: false }
    takes: { FriendlyName: friendly_name, MaxSize: max_size }
  DELETE /lines/{id}: { does: delete line }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [all line], to: caller }]
events: none
errors: { payload: problem }
limits: { pagination: none }
versioning: none
`;

test('members of other names are the fields that they are said to stand for, and answers have the fields', async () => {
  const service = await serve(parseDocument(text, 'lines.yaml', { isKey }), {
    identify: () => ({ user: 'caller', id: 'a', scopes: [], claims: {} }),
  });
  const send = async (method: string, path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-key': 'k' };
    const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, body: JSON.stringify(body) }));
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const made = await send('POST', '/lines', { FriendlyName: 'Front', MaxSize: 3, note: 'n', MadeBy: 'somebody' });
  const { id, ...rest } = made.body;
  assert.deepEqual([made.status, rest], [201, { friendly_name: 'Front', max_size: 3, note: 'n', made_by: 'a' }]);
  const changed = await send('PATCH', `/lines/${id}`, { MaxSize: 4 });
  assert.deepEqual(changed.body, { id, friendly_name: 'Front', max_size: 4, note: 'n', made_by: 'a' });
  const replaced = await send('PUT', `/lines/${id}`, { FriendlyName: 'Back', MaxSize: 9 });
  assert.deepEqual(replaced.body, { id, friendly_name: 'Back', max_size: 9, made_by: 'a' });
  for (const wrong of [
    { friendly_name: 'Front', max_size: 3 },
    { FriendlyName: 'Front', MaxSize: 0 },
  ])
    assert.equal((await send('POST', '/lines', wrong)).status, 422);
  await service.close();
});

test('what a body is called travels through OpenAPI and back, and the client has the names that are sent', () => {
  const document = parseDocument(text, 'lines.yaml', { isKey });
  const openapi = exported(document);
  assert.deepEqual(valueAt(openapi, '/paths/~1lines/post/x-ninefold-takes'), {
    FriendlyName: 'friendly_name',
    MaxSize: 'max_size',
    MadeBy: 'made_by',
  });
  assert.deepEqual(valueAt(readBack(openapi), '/endpoints/PATCH ~1lines~1{id}/takes'), {
    FriendlyName: 'friendly_name',
    MaxSize: 'max_size',
  });
  assert.match(toTypescript(readSpec(document)), /FriendlyName: string/);
});

test('verify sends what it wants of a row by these names, holds what comes back to the fields, and finds one that is mixed up', async () => {
  for (const [served, breaks] of [
    [text, false],
    [
      text
        .replace('FriendlyName: friendly_name, MaxSize: max_size, MadeBy', 'FriendlyName: note, MaxSize: max_size, MadeBy')
        .replace('max_size, made_by]', 'max_size, made_by, note]')
        .replace('required: [id, friendly_name', 'required: [id')
        .replace('note: string, MadeBy', 'note_: string, MadeBy'),
      true,
    ],
  ] as const) {
    const stand = await openStand(text, { served, inPairs: true });
    try {
      const { breaches } = await stand.verify({ only: ['resources', 'endpoints'] });
      const told = breaches.map(({ kind, subject, reason }) => `${kind}:${subject} ${reason}`);
      if (!breaks) assert.deepEqual(told, []);
      else
        assert.ok(
          told.some((one) => /friendly_name/.test(one)),
          told.join('\n'),
        );
    } finally {
      await stand.close();
    }
  }
});
