import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A field that is called as every object has something, beside children that are sent with their row. */
const boxes = `title: Boxes
purpose: { purpose: Keeps boxes., users: { packer: Packs. } }
resources:
  box:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      toString: { type: string, minLength: 2, maxLength: 40 }
      parts: { children: part.box, taken_by: [create] }
    required: [id, toString]
  part:
    identifier: { field: id, generate: uuid }
    fields: { id: string, box: { ref: box, onDelete: cascade }, size: { type: integer, minimum: 1, maximum: 9 } }
    required: [id, box, size]
states: none
endpoints:
  POST /boxes: { does: create box }
  GET /boxes/{id}: { does: read box }
authentication: none
events: none
errors:
  payload: problem
  codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } }
limits: { rate: none }
versioning: { versions: none }
`;

test('a field that is called as objects inherit something is taken beside children', async () => {
  const stand = await openStand(boxes);
  try {
    const send = async (body: object) => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${stand.url}/boxes`, { method: 'POST', headers, body: JSON.stringify(body) });
      const { id, ...rest } = (await answer.json()) as {
        readonly id?: string;
        readonly parts?: readonly { readonly size: number }[];
      };
      return { status: answer.status, sizes: rest.parts?.map(({ size }) => size) };
    };
    assert.deepEqual(await send({ toString: 'red', parts: [{ size: 3 }] }), { status: 201, sizes: [3] });
    assert.equal((await send({ parts: [] })).status, 422);
    const { breaches } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
  } finally {
    await stand.close();
  }
});
