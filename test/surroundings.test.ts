import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '../src/cli/serve/log.ts';
import { check, parseDocument, readDocument, serve, Unsound } from '../src/index.ts';
import { Credentials } from '../src/serve/callers/credentials.ts';
import { isOnLoopback } from '../src/serve/callers/origin.ts';
import type { Call } from '../src/serve/http/call.ts';
import { systemChance } from '../src/serve/http/clock.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';

const document = {
  title: 'Notes',
  resources: {
    note: { identifier: { field: 'id', generate: 'ulid' }, fields: { id: 'string', text: 'string' }, required: ['id', 'text'] },
  },
  endpoints: { 'POST /notes': { does: 'create note', idempotency: { header: 'Key', keep: '1d' } } },
  authentication: 'none',
};

const callFrom = (address: string, headers: Record<string, string>) => ({ address, headers }) as unknown as Call;

test('what a proxy of this machine passes on is not of this machine', () => {
  const host = '127.0.0.1:4009';
  assert.equal(isOnLoopback(callFrom('127.0.0.1', { host })), true);
  assert.equal(isOnLoopback(callFrom('10.0.0.1', { host })), false);
  assert.equal(isOnLoopback(callFrom('127.0.0.1', { host: 'example.com' })), false);
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'])
    assert.equal(isOnLoopback(callFrom('127.0.0.1', { host, [name]: 'x' })), false, name);
});

test('in production the ledger is for nobody, unless the document says for whom', async () => {
  for (const [production, status] of [
    [false, 200],
    [true, 404],
  ] as const) {
    const service = await serve(document, { production });
    const answer = await service.fetch(new Request('http://127.0.0.1/.well-known/ninefold'));
    assert.equal(answer.status, status);
    await service.close();
  }
});

test('callers that nobody knows do not share their idempotency keys with those of other addresses', async () => {
  const limits = { trust_proxies: ['127.0.0.1/32'] };
  const service = await serve({ ...document, limits });
  const make = async (from: string, text: string) => {
    const headers = { 'content-type': 'application/json', key: 'k1', 'x-forwarded-for': from };
    const request = new Request('http://127.0.0.1/notes', { method: 'POST', headers, body: JSON.stringify({ text }) });
    const answer = await service.fetch(request);
    return [answer.status, answer.headers.get('idempotency-replayed')];
  };
  assert.deepEqual(await make('192.0.2.1', 'mine'), [201, null]);
  assert.deepEqual(await make('192.0.2.1', 'mine'), [201, 'true']);
  assert.deepEqual(await make('192.0.2.2', 'theirs'), [201, null]);
  await service.close();
});

test('the files of a store are for their owner alone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-mode-'));
  const store = openSqlite(join(folder, 'store.sqlite'));
  await store.setting('a', () => 'b');
  const modes = readdirSync(folder).map((name) => `${name} ${(statSync(join(folder, name)).mode & 0o777).toString(8)}`);
  assert.ok(modes.length >= 2, modes.join());
  for (const mode of modes) assert.match(mode, / 600$/);
  await store.close();
  rmSync(folder, { recursive: true });
});

test('an older file that everybody may read becomes its owner’s, and what was given to a group stays given', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-mode-'));
  const path = join(folder, 'store.sqlite');
  await openSqlite(path).close();
  for (const [before, after] of [
    [0o644, 0o600],
    [0o640, 0o640],
  ] as const) {
    chmodSync(path, before);
    await openSqlite(path).close();
    assert.equal(statSync(path).mode & 0o777, after);
  }
  rmSync(folder, { recursive: true });
});

test('what an administrator changes is noted down, without secrets, and what it only looks at is not', async () => {
  const acts: string[] = [];
  const authentication = { schemes: { key: { type: 'api_key', header: 'X-Key' } }, permissions: 'none' };
  const purpose = { users: { owner: 'Owns.' } };
  const service = await serve(
    { ...document, purpose, authentication },
    { onAdministered: ({ act, about }) => acts.push(`${act} ${JSON.stringify(about)}`) },
  );
  const made = (await service.administer('keys add', { user: 'owner', id: 'ann' })) as { key: string; secret: string };
  await service.administer('keys list', {});
  await service.administer('keys revoke', { key: made.key });
  await service.administer('erase', { user: 'owner', id: 'ann', texts: ['ann@example.com'] });
  await assert.rejects(service.administer('keys revoke', {}));
  assert.deepEqual(
    acts.map((act) => act.split(' ').slice(0, 2).join(' ').split(' {')[0]),
    ['keys add', 'keys revoke', 'erase'],
  );
  assert.match(acts[0] ?? '', new RegExp(`"id":"ann".*"key":"${made.key}"`));
  assert.ok(!acts.join().includes(made.secret) && !acts.join().includes('example.com'));
  await service.close();
});

test('a line of the log names where a refused request is wrong, and not what stands there', async () => {
  const told: unknown[] = [];
  const service = await serve(document, { onExchange: ({ refused, where }) => told.push([refused, where]) });
  const body = JSON.stringify({ text: 12345, more: 'secret' });
  await service.fetch(
    new Request('http://127.0.0.1/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
  );
  assert.deepEqual(told, [['request.invalid', ['body /more', 'body /text']]]);
  await service.close();
});

test('neither a line of its own nor a steered terminal comes of what a log is told', () => {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const terminal = {
    write,
    complain: () => {},
    isTTY: false,
    columns: 80,
    colour: false,
  };
  const log = createLog('pretty', terminal);
  const evil = 'x\n12:00:00  200  POST  /forged \u001b[2J\u0007';
  log.failure(new Error(evil), `req ${evil}`);
  log.exchange?.({
    at: '2026-01-01T00:00:00Z',
    requestId: '',
    method: 'GET',
    target: '/',
    status: 200,
    operation: evil,
    ms: 1,
    refused: evil,
    open: [evil],
  });
  log.flush();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
  assert.doesNotMatch(written, /[\u0000-\u0009\u000b-\u001f\u007f]/);
  assert.doesNotMatch(written, /^12:00:00/m);
});

test('a reference beside the folder of a document reads files of YAML and JSON alone, and none that is hidden', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-beside-'));
  mkdirSync(join(folder, 'spec'));
  mkdirSync(join(folder, '.aws'));
  const secret = 'aws_secret_access_key = [wJalr';
  for (const path of ['credentials', '.env', '.aws/keys.yaml', 'notes.txt']) writeFileSync(join(folder, path), secret);
  for (const path of ['credentials', '.env', '.aws/keys.yaml', 'notes.txt']) {
    const file = join(folder, 'spec/api.yaml');
    writeFileSync(
      file,
      `openapi: 3.1.0\ninfo: { title: T, version: '1' }\ncomponents: { schemas: { a: { $ref: '../${path}#/x' } } }\n`,
    );
    const { findings } = await readDocument(file);
    assert.ok(
      findings.some(({ code }) => code === 'document/ref-outside'),
      `${path}: ${JSON.stringify(findings)}`,
    );
    assert.ok(!JSON.stringify(findings).includes('wJalr'));
  }
  rmSync(folder, { recursive: true });
});

test('whoever tries many passwords from one address leaves room for those of others', async () => {
  const store = openSqlite(':memory:');
  const credentials = new Credentials(store, systemChance);
  const tries = (from: string, count: number) =>
    Array.from({ length: count }, (_, n) => credentials.ofPassword('login', { name: `u${n}`, password: from }, 0, from));
  const attack = tries('192.0.2.1', 64);
  const others = tries('192.0.2.2', 2);
  assert.equal(attack.filter((one) => one === 'busy').length, 56);
  assert.ok(others.every((one) => one instanceof Promise));
  await Promise.all([...attack, ...others]);
  assert.ok(tries('192.0.2.1', 1).every((one) => one === undefined || one instanceof Promise));
  await store.close();
});

test('one caller holds so many streams open, and no more, while others open theirs', async () => {
  const service = await serve(
    {
      ...document,
      events: { kinds: { 'note.made': { on: ['create note'] } }, delivery: { stream: { path: '/stream' } } },
      limits: { trust_proxies: [] },
    },
    { identify: ({ headers }) => ({ id: String(headers['x-who']), user: 'anybody', scopes: [] }) },
  );
  const open = (who: string) => service.fetch(new Request('http://127.0.0.1/stream', { headers: { 'x-who': who } }));
  const statuses = [];
  const held: Response[] = [];
  for (let n = 0; n < 33; n++) held.push(await open('ann'));
  for (const { status } of held) statuses.push(status);
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.at(-1)], [32, 429]);
  const other = await open('bob');
  assert.equal(other.status, 200);
  await held[0]?.body?.cancel();
  const again = await open('ann');
  assert.equal(again.status, 200);
  for (const one of [...held, other, again]) if (!one.bodyUsed) await one.body?.cancel().catch(() => {});
  await service.close();
});

test('a link to another page does not say the key again that stood in the query', async () => {
  const service = await serve(
    {
      ...document,
      purpose: { purpose: 'Keeps notes.', users: { reader: 'Reads.' } },
      endpoints: { ...document.endpoints, 'GET /notes': { does: 'list note' } },
      authentication: {
        schemes: { key: { type: 'api_key', query: 'key', generate: 'nk_{random:40}' } },
        permissions: [{ allow: ['all note'], to: ['reader'] }],
      },
      limits: {
        pagination: { style: 'page', page: 'page', size: 'size', default: 1, max: 1, told: 'link' },
      },
    },
    { development: true },
  );
  const key = service.credentials[0]?.value ?? assert.fail('no key');
  for (let n = 0; n < 2; n++) {
    const headers = { 'content-type': 'application/json' };
    const request = new Request(`http://127.0.0.1/notes?key=${key}`, { method: 'POST', headers, body: '{"text":"a"}' });
    assert.equal((await service.fetch(request)).status, 201);
  }
  const answer = await service.fetch(new Request(`http://127.0.0.1/notes?key=${key}`));
  const link = answer.headers.get('link') ?? '';
  assert.match(link, /rel="next"/);
  assert.ok(!link.includes(key), link);
  await service.close();
});

test('what was said of a document can be served, as often as one likes, and of one that contradicts itself cannot', async () => {
  const report = check(parseDocument(JSON.stringify(document), 'notes.json'));
  for (let times = 0; times < 2; times++) {
    const service = await serve(report);
    const headers = { 'content-type': 'application/json' };
    const request = new Request('http://127.0.0.1/notes', { method: 'POST', headers, body: '{"text":"a"}' });
    assert.equal((await service.fetch(request)).status, 201);
    await service.close();
  }
  const endpoints = { 'POST /notes': { does: 'create nothing' } };
  const wrong = check(parseDocument(JSON.stringify({ ...document, endpoints }), 'notes.json'));
  await assert.rejects(serve(wrong), Unsound);
});
