import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type Passing } from './verify/stand.ts';

const rest = `
events: none
limits: { rate: none, pagination: none }
`;

const tokens = `
title: Tokens
purpose: { purpose: Keeps tokens., base_url: none, users: { cook: Cooks., chief: Leads. }, functions: none }
resources:
  token:
    identifier: { field: id, generate: uuid }
    fields: { id: string, label: { type: string, minLength: 1 }, secret: { type: string, readOnly: true, generate: "sk_{random:20}", reveal: once } }
    required: [id, label, secret]
states: none
endpoints:
  POST /tokens: { does: create token }
  GET /tokens/{id}: { does: read token }
authentication:
  schemes: { key: { type: api_key, header: Token-Key, generate: "key_{random:20}" } }
  permissions:
    - { allow: [create token, read token], to: chief }
    - { allow: [create token, read token], to: cook, fields: [id, label] }
versioning: none
${rest}`;

const songs = `
title: Songs
resources:
  song:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, minLength: 1, maxLength: 40 }, size: { type: integer, minimum: 1, maximum: 9 } }
    required: [id, name, size]
states: none
endpoints:
  POST /songs: { does: create song, response: { 201: { shape: song, headers: { X-Name: result.name, X-Size: string(result.size) } } } }
  GET /songs/{id}: { does: read song }
authentication: none
errors: { headers: { X-Sort: "status == 404 ? 'schade – nichts' : 'yours'" } }
versioning: none
${rest}`;

const orders = `
title: Orders
resources:
  order:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      label: { type: string, minLength: 1, maxLength: 30 }
      lines: { children: line.order, order: at, maxItems: 5, page: 5, envelope: { items: rows, has_more: more } }
    required: [id, label, lines]
  line:
    identifier: { field: id, generate: uuid }
    fields: { id: string, order: { ref: order, onDelete: cascade }, amount: { type: integer, minimum: 1, maximum: 9 }, at: { type: string, format: date-time, readOnly: true, set: { create: now } } }
    required: [id, order, amount, at]
states: none
endpoints:
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
authentication: none
versioning:
  select: { header: Orders-Version, default: current }
  versions: { "2026-01-01": {}, "2026-06-01": { current: true } }
  changes: { "2026-06-01": [{ rename: line.quantity, to: amount }, { rename: order.title, to: label }] }
${rest}`;

const repos = `
title: Repositories
resources:
  owner:
    identifier: { field: id, generate: uuid }
    fields: { id: string, login: { type: string, pattern: "^[a-z]{3,12}$" } }
    required: [id, login]
    unique: [[login]]
  repo:
    identifier: { field: id, generate: uuid }
    fields: { id: string, owner: { ref: owner, onDelete: restrict }, name: { type: string, pattern: "^[a-z]{3,12}$" }, login: { type: string, maxLength: 20 } }
    required: [id, owner, name]
    unique: [[owner, name]]
states: none
endpoints:
  under:
    "/owners/{login}": { owner: { login: login } }
    "/owners/{login}/repos/{name}": { repo: { name: name } }
  POST /owners: { does: create owner }
  GET /owners/{login}: { does: read owner }
  POST /owners/{login}/repos: { does: create repo }
  GET /owners/{login}/repos/{name}: { does: read repo }
  PATCH /owners/{login}/repos/{name}: { does: update repo }
authentication: none
versioning: none
${rest}`;

async function told(
  document: string,
  only: readonly string[],
  spoil?: (passing: Passing) => Partial<Passing>,
): Promise<string[]> {
  const stand = await openStand(document, { inPairs: true, ...(spoil && { spoil }) });
  try {
    const { breaches, unsteady } = await stand.verify({ only });
    return [...new Set([...breaches, ...unsteady].map(({ subject, reason }) => `${subject}, ${reason}`))];
  } finally {
    await stand.close();
  }
}

test('what is revealed once is not looked for where a rule leaves it out, and is where none does', async () => {
  assert.deepEqual(await told(tokens, ['resources', 'authentication']), []);
  const silent = ({ method, text, status }: Passing) =>
    method === 'POST' && status === 201 ? { text: text.replace(/,"secret":"[^"]*"/, '') } : {};
  assert.deepEqual(await told(tokens, ['resources'], silent), ['token.secret, revealed']);
});

test('how a header field has a text beyond ASCII nobody says; what it has of others is held', async () => {
  assert.deepEqual(await told(songs, ['resources', 'endpoints', 'errors']), []);
  const wrong = ({ method, headers }: Passing) =>
    method === 'POST' && headers['x-size'] ? { headers: { ...headers, 'x-size': '77' } } : {};
  assert.deepEqual(await told(songs, ['resources', 'endpoints'], wrong), ['POST /songs, header X-Size']);
});

test('children that are sent in older words are in their envelope where they are shown', async () => {
  assert.deepEqual(await told(orders, ['versioning']), []);
});

test('a field that is called like a parameter of a key above it is not bound by that, and what a path binds is not drawn otherwise', async () => {
  assert.deepEqual(await told(repos, ['endpoints', 'resources']), []);
});
