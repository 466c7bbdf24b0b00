import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { check, parseDocument, type Service, serve, verify } from '../src/index.ts';
import operationsDocument from '../src/serve/service/operations.json' with { type: 'json' };
import {
  type LogLevel,
  type OperationsDoor,
  type OperationsPlace,
  openOperations,
} from '../src/serve/service/operations-door.ts';

const page = parseDocument(readFileSync(join(import.meta.dirname, '..', 'docs', 'operations.yaml')), 'operations.yaml');
const token = 'an operator shows these letters: not'.replaceAll(/[: ]/g, '-');

const notes = `title: Notes
purpose: { purpose: Keeps notes., base_url: none, users: { writer: Writes. }, functions: { write: [create note] } }
resources:
  note: { identifier: { field: id, generate: ulid }, fields: { id: string, text: string }, required: [id, text] }
endpoints: { POST /notes: { does: create note } }
authentication:
  schemes: { key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [create note], to: [writer] }]
events: { kinds: { made: { on: [create note], payload: note } } }
`;

const log: { level: LogLevel } = { level: 'exchanges' };
let service: Service;
let door: OperationsDoor;

function openDoor(more: Partial<OperationsPlace> = {}): Promise<OperationsDoor> {
  const { watched, administer } = service;
  assert.ok(watched);
  return openOperations({ watched, administer, log, port: 0, host: '127.0.0.1', token, ...more });
}

before(async () => {
  // Nobody listens there, so that what is sent is tried again.
  const webhooks = [{ url: 'http://127.0.0.1:9/' }];
  service = await serve(parseDocument(notes, 'notes.yaml'), { watch: true, webhooks });
  door = await openDoor();
});

after(async () => {
  await door.close();
  await service.close();
});

async function ask(
  path: string,
  { method = 'GET', body, shown = token }: { method?: string; body?: unknown; shown?: string } = {},
) {
  const response = await fetch(`${door.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${shown}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, told: text === '' ? undefined : JSON.parse(text) };
}

test('the door is a document without findings and open facts, and the page of it is what is served', () => {
  const { findings, ledger } = check(page);
  assert.deepEqual(findings, []);
  assert.equal(ledger.total.open, 0);
  assert.deepEqual(JSON.parse(JSON.stringify({ title: page.title, ...page.tree })), operationsDocument);
});

test('the door is held to its document, and nothing is broken', async () => {
  const report = await verify(page, { url: door.url, callers: [{ user: 'operator', credential: token }], seed: 1 });
  assert.deepEqual(
    report.breaches.map(({ subject, promised, seen }) => `${subject}: ${promised}, and ${seen}`),
    [],
  );
  const held = report.facts.filter(({ verdict }) => verdict === 'held' || verdict === 'partly').length;
  assert.ok(held > 40, `${held} facts are held`);
});

test('keys are given out, listed, replaced and taken back by whoever has the token', async () => {
  const made = await ask('/keys', { method: 'POST', body: { id: 'w1', user: 'writer', expires_in_seconds: 3600 } });
  assert.equal(made.status, 201);
  const { key, secret } = made.told;
  const write = (shown: string) =>
    service.fetch(
      new Request('http://127.0.0.1/notes', {
        method: 'POST',
        headers: { 'x-key': shown, 'content-type': 'application/json' },
        body: '{"text":"a"}',
      }),
    );
  assert.equal((await write(secret)).status, 201);
  const { told } = await ask('/keys?id=w1');
  assert.deepEqual(
    told.keys.map(({ key, user, secret }: Record<string, unknown>) => [key, user, secret]),
    [[key, 'writer', undefined]],
  );
  const next = await ask(`/keys/${key}/rotate`, { method: 'POST', body: { keep_seconds: 0 } });
  assert.equal(next.status, 200);
  assert.equal((await write(secret)).status, 401);
  assert.equal((await write(next.told.secret)).status, 201);
  assert.equal((await ask(`/keys/${key}`, { method: 'DELETE' })).status, 204);
  assert.equal((await write(next.told.secret)).status, 401);
});

test('what cannot be carried out says why, by a code of the document', async () => {
  const unfit = await ask('/keys', { method: 'POST', body: { id: 'w1', user: 'writre' } });
  assert.deepEqual([unfit.status, unfit.told.code], [422, 'unfit']);
  assert.match(unfit.told.detail, /Did you mean writer\?/);
  const gone = await ask('/keys/key_none', { method: 'DELETE' });
  assert.deepEqual([gone.status, gone.told.code, gone.told.detail], [404, 'not_found', 'There is no key key_none.']);
  assert.equal((await ask('/deliveries/evt_none')).status, 404);
});

test('deliveries are listed with every attempt and sent again', async () => {
  const made = await service.administer('keys add', { user: 'writer', id: 'w2' });
  const { secret } = made as { readonly secret: string };
  await service.fetch(
    new Request('http://127.0.0.1/notes', {
      method: 'POST',
      headers: { 'x-key': secret, 'content-type': 'application/json' },
      body: '{"text":"b"}',
    }),
  );
  const { told } = await ask('/deliveries?limit=1');
  assert.equal(told.deliveries.length, 1);
  const { delivery } = told.deliveries[0];
  const shown = await ask(`/deliveries/${delivery}`);
  assert.ok(Array.isArray(shown.told.deliveries[0].attempts));
  assert.deepEqual((await ask(`/deliveries/${delivery}/resend`, { method: 'POST' })).told, { resent: [delivery] });
});

test('the log writes from the next exchange on what its level says', async () => {
  assert.deepEqual((await ask('/log')).told, { level: 'exchanges' });
  assert.equal((await ask('/log', { method: 'PUT', body: { level: 'loud' } })).status, 422);
  assert.deepEqual((await ask('/log', { method: 'PUT', body: { level: 'refusals' } })).told, { level: 'refusals' });
  assert.equal(log.level, 'refusals');
});

test('nothing but life, readiness and figures is told to whoever has no token, and nothing else where none is stated', async () => {
  const without = await openDoor({ token: undefined });
  try {
    for (const path of ['/livez', '/readyz?verbose', '/metrics'])
      assert.equal((await fetch(`${without.url}${path}`)).status, 200, path);
    for (const path of ['/ledger', '/keys', '/deliveries', '/log']) {
      assert.equal((await fetch(`${without.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status, 401, path);
      assert.equal((await ask(path, { shown: 'another' })).status, 401, path);
    }
    assert.equal((await ask('/ledger')).told.total.open > 0, true);
  } finally {
    await without.close();
  }
});

/** The status for a `Host` of one's own. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`${url}/livez`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('a name of elsewhere that was made to lead here is turned away', async () => {
  const open = await openDoor({ host: '0.0.0.0', hosts: ['ops.example.com', '*.pods.example.com'] });
  try {
    const expected: readonly (readonly [host: string, status: number])[] = [
      ['10.1.2.3:9100', 200],
      ['[::1]:9100', 200],
      ['notes:9100', 200],
      ['Ops.Example.com', 200],
      ['a.pods.example.com:9100', 200],
      ['pods.example.com', 403],
      ['ops.example.com.evil.example', 403],
      ['evil.example', 403],
    ];
    for (const [host, status] of expected) assert.equal(await statusFor(open.url, host), status, host);
    assert.equal(await statusFor(door.url, 'notes:9100'), 403, 'on this machine alone only its own names are meant');
  } finally {
    await open.close();
  }
});
