import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** A list is taken with its lines, each of which may be refused for itself, and no two lists have one name. */
const lists = `title: Lists
purpose: { purpose: Keeps lists., users: { clerk: Keeps them. } }
resources:
  list:
    identifier: { field: id, generate: "list_{ulid}" }
    fields:
      id: string
      name: { type: string, minLength: 3, maxLength: 30 }
      lines: { children: line.list, order: position, minItems: 1, maxItems: 3 }
    required: [id, name, lines]
    unique: [[name]]
  line:
    identifier: { field: id, generate: "line_{ulid}" }
    fields:
      id: string
      list: { ref: list, onDelete: cascade }
      position: integer
      count: { type: integer, minimum: 1, maximum: 900 }
    required: [id, list, position, count]
states: none
endpoints:
  POST /lists: { does: create list }
  GET /lists/{id}: { does: read list }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [create list, read list, create line], to: clerk }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    taken: { status: 409, when: resource.exists }
    too_many: { status: 409, on: [create line], if: "next.count > 800" }
    elsewhere: { status: 409, on: [read list], if: "resource.name == 'nobody'" }
limits: { rate: none }
versioning: { versions: none }
`;

/** What is told of a service that refuses a name that is taken with another code. */
async function toldWith(code: string): Promise<string[]> {
  const spoil = ({ status, text }: { readonly status: number; readonly text: string }) =>
    status === 409 ? { text: text.replaceAll('"taken"', `"${code}"`) } : {};
  const stand = await openStand(lists, { spoil });
  try {
    const { breaches } = await stand.verify({ only: ['resources/unique'] });
    return breaches.filter(({ kind }) => kind === 'conditions').map(({ subject }) => subject);
  } finally {
    await stand.close();
  }
}

test('a row that is taken with its children may be refused for one of them before it is refused as taken', async () => {
  assert.deepEqual(await toldWith('too_many'), []);
});

test('and for nothing that is stated of something else', async () => {
  assert.deepEqual(await toldWith('elsewhere'), ['taken']);
});
