import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openStore, Unfit } from '../src/index.ts';
import { addKey, type Guarded, guard, keyScheme, notes, startMs } from './serving/guarded.ts';
import { heldReads } from './serving/held-reads.ts';

/** Giving out keys and passwords, rotating and revoking them, by the service itself and by the administrator's door. */
const open: { close(): Promise<unknown> }[] = [];
after(() => Promise.all(open.map((one) => one.close())));
const folder = mkdtempSync(join(tmpdir(), 'ninefold-given-'));
after(() => rmSync(folder, { recursive: true, force: true }));

async function start(text = notes(keyScheme), options = {}): Promise<Guarded> {
  const guarded = await guard(text, options);
  open.push(guarded);
  return guarded;
}

const status = async (guarded: Guarded, secret: string) => (await guarded.ask({ 'x-api-key': secret })).status;
type Told = { readonly [name: string]: unknown };
const list = async ({ service }: Guarded, input = {}) => (await service.administer('keys list', input)) as unknown as Told[];

test('a key is told once; the list has everything else', async () => {
  const guarded = await start();
  const made = await addKey(guarded, { scopes: ['b', 'a', 'b'], expiresMs: 86_400_000 });
  guarded.clock.advance(1);
  await addKey(guarded, { user: 'writer', id: 'w1' });
  const [first, second, ...more] = await list(guarded);
  assert.deepEqual(first, {
    key: made.key,
    serial: 1,
    scheme: 'key',
    user: 'reader',
    id: 'r1',
    scopes: ['b', 'a'],
    hint: `nk_…${made.secret.slice(-4)}`,
    created: new Date(startMs).toISOString(),
    expires: new Date(startMs + 86_400_000).toISOString(),
    expired: false,
  });
  assert.deepEqual([second?.id, second?.expires, more], ['w1', undefined, []]);
  assert.deepEqual((await list(guarded, { user: 'writer' })).length, 1);
  assert.ok(!JSON.stringify(await list(guarded)).includes(made.secret.slice(0, -4)));
});

test('a revoked key is refused from the next request on', async () => {
  const guarded = await start();
  const [one, other] = [await addKey(guarded, {}), await addKey(guarded, {})];
  assert.equal(await status(guarded, one.secret), 200);
  assert.deepEqual(await guarded.service.administer('keys revoke', { key: one.key }), { revoked: [one.key] });
  assert.deepEqual(await Promise.all([status(guarded, one.secret), status(guarded, one.secret)]), [401, 401]);
  assert.equal(await status(guarded, other.secret), 200);
  await addKey(guarded, { id: 'r2' });
  await guarded.service.administer('keys revoke', { user: 'reader', id: 'r1' });
  assert.equal(await status(guarded, other.secret), 401);
  assert.deepEqual(
    (await list(guarded)).map(({ id }) => id),
    ['r2'],
  );
});

test('a revocation holds for requests that were sent together with it, once it is answered', async () => {
  const guarded = await start();
  const { key, secret } = await addKey(guarded, {});
  const revoking = guarded.service.administer('keys revoke', { key });
  const before = Array.from({ length: 20 }, () => status(guarded, secret));
  await revoking;
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, () => status(guarded, secret))), Array(20).fill(401));
  for (const code of await Promise.all(before)) assert.ok(code === 200 || code === 401);
});

test('a key that is revoked while the store is still answering who it belongs to is not let in afterwards', async () => {
  const store = openStore(':memory:');
  const guarded = await start(notes(keyScheme), { store });
  open.push(store);
  const { key, secret } = await addKey(guarded, {});
  const reads = heldReads(store);
  reads.hold('answers');
  const before = status(guarded, secret);
  await guarded.service.administer('keys revoke', { key });
  reads.release();
  assert.ok([200, 401].includes(await before), 'the request that was under way may be either');
  assert.equal(await status(guarded, secret), 401);
});

test('a key that is given out while the store is still looking for it is looked for again, and let in', async () => {
  const store = openStore(':memory:');
  const guarded = await start(notes(keyScheme), { store });
  open.push(store);
  const secret = `nk_${'a'.repeat(40)}`;
  const reads = heldReads(store);
  reads.hold('answers');
  const before = status(guarded, secret);
  await addKey(guarded, { secret });
  reads.release();
  assert.equal(await before, 200);
  assert.equal(await status(guarded, secret), 200);
});

test('a rotated key holds for as long as it is said, and the new one has its name, user and scopes', async () => {
  const guarded = await start();
  const { key, secret } = await addKey(guarded, { scopes: ['a'] });
  const turned = (await guarded.service.administer('keys rotate', { key, keepMs: 60_000 })) as unknown as Told;
  assert.equal(turned.key, key);
  assert.equal(turned.oldUntil, new Date(startMs + 60_000).toISOString());
  const fresh = String(turned.secret);
  const said = await guarded.ask({ 'x-api-key': fresh });
  assert.deepEqual(said.body, { caller: { id: 'r1', user: 'reader', scopes: ['a'], key } });
  assert.equal(await status(guarded, secret), 200);
  guarded.clock.advance(60_000);
  assert.equal(await status(guarded, secret), 401);
  assert.equal(await status(guarded, fresh), 200);
  assert.deepEqual(
    (await list(guarded)).map(({ serial, expired }) => [serial, expired]),
    [
      [1, true],
      [2, undefined],
    ],
  );
  await guarded.service.administer('keys revoke', { key });
  assert.equal(await status(guarded, fresh), 401);
});

test('rotating at once, twice, or a key whose time is limited', async () => {
  const guarded = await start();
  const { key, secret } = await addKey(guarded, { expiresMs: 10_000 });
  guarded.clock.advance(4_000);
  const second = String(((await guarded.service.administer('keys rotate', { key, keepMs: 0 })) as unknown as Told).secret);
  assert.equal(await status(guarded, secret), 401);
  const third = String(((await guarded.service.administer('keys rotate', { key })) as unknown as Told).secret);
  assert.deepEqual([await status(guarded, second), await status(guarded, third)], [200, 200]);
  guarded.clock.advance(9_999);
  assert.deepEqual(
    [await status(guarded, second), await status(guarded, third)],
    [200, 200],
    'the new one lasts as long as the old one did',
  );
  guarded.clock.advance(1);
  assert.deepEqual([await status(guarded, second), await status(guarded, third)], [401, 401]);
  await assert.rejects(guarded.service.administer('keys rotate', { key }), /has expired/);
});

test('a rotated password holds beside the old one', async () => {
  const guarded = await start(notes('schemes: { login: { type: basic } }'));
  const { key } = await addKey(guarded, { secret: 'password-old' });
  await guarded.service.administer('keys rotate', { key, secret: 'password-new', keepMs: 1_000 });
  const ask = async (password: string) =>
    (await guarded.ask({ authorization: `Basic ${Buffer.from(`r1:${password}`).toString('base64')}` })).status;
  assert.deepEqual([await ask('password-old'), await ask('password-new')], [200, 200]);
  guarded.clock.advance(1_000);
  assert.deepEqual([await ask('password-old'), await ask('password-new')], [401, 200]);
});

const unfit: readonly (readonly [command: string, input: Told, message: RegExp])[] = [
  ['keys add', { user: 'reader' }, /identifier/],
  ['keys add', { user: 'reader', id: '' }, /identifier/],
  ['keys add', { id: 'x' }, /reader, writer/],
  ['keys add', { user: 'raeder', id: 'x' }, /Did you mean reader\?/],
  ['keys add', { user: 'admin', id: 'x' }, /there are reader, writer/],
  ['keys add', { user: 'reader', id: 'x', scheme: 'kee' }, /Did you mean key\?/],
  ['keys add', { user: 'reader', id: 'x', scopes: ['a b'] }, /no scope/],
  ['keys add', { user: 'reader', id: 'x', scopes: [1] }, /no scope/],
  ['keys add', { user: 'reader', id: 'x', secret: 'short' }, /16 to 512/],
  ['keys add', { user: 'reader', id: 'x', secret: 'with a blank in its middle' }, /16 to 512/],
  ['keys add', { user: 'reader', id: 'x', expiresMs: '1d' }, /milliseconds/],
  ['keys add', { user: 'reader', id: 'x', expiresMs: -1 }, /milliseconds/],
  ['keys add', { user: 7, id: 'x' }, /text/],
  ['keys revoke', {}, /which key/],
  ['keys revoke', { user: 'reader' }, /which key/],
  ['keys revoke', { key: 'key_none' }, /no key key_none/],
  ['keys revoke', { user: 'reader', id: 'nobody' }, /has no key/],
  ['keys rotate', {}, /which key/],
  ['keys rotate', { key: 'key_none' }, /no key key_none/],
  ['keys lend', {}, /there are keys add, keys list/],
];
const plain = await start();
for (const [command, input, message] of unfit) {
  test(`${command} with ${JSON.stringify(input)} is refused, and nothing is kept`, async () => {
    await assert.rejects(plain.service.administer(command, input as never), (error: unknown) => {
      assert.ok(error instanceof Unfit);
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(await list(plain), []);
  });
}

test('a key that is there, and a name before a password that somebody has, are not given out again', async () => {
  const guarded = await start();
  await addKey(guarded, { secret: 'brought-along-0123456789' });
  await assert.rejects(addKey(guarded, { secret: 'brought-along-0123456789', id: 'r2' }), /there already/);
  const login = await start(notes('schemes: { login: { type: basic } }'));
  await addKey(login, { id: 'ann' });
  await assert.rejects(addKey(login, { id: 'ann', user: 'writer' }), /has a password already/);
  await assert.rejects(addKey(login, { id: 'a:b' }), /no colon/);
  await assert.rejects(addKey(login, { id: 'bob', secret: '1234567' }), /8 characters/);
});

test('where a document gives out no keys, that is said', async () => {
  const tokens = 'schemes: { token: { type: jwt, algorithms: [ES256], jwks: keys.json } }';
  await assert.rejects(addKey(await start(notes(tokens)), {}), /no scheme that keys or passwords are given out for/);
});

test('keys outlive a restart, and of a secret only its hash is in the file', async () => {
  const path = join(folder, 'kept.sqlite');
  let store = openStore(path);
  const guarded = await guard(notes(keyScheme), { store });
  const { key, secret } = await addKey(guarded, {});
  await guarded.close();
  await store.close();
  for (const file of [path, `${path}-wal`]) {
    const bytes = readFileSync(file, { flag: 'a+' }).toString('latin1');
    assert.ok(!bytes.includes(secret) && !bytes.includes(secret.slice(3, 20)), file);
  }
  store = openStore(path);
  const again = await guard(notes(keyScheme), { store });
  assert.equal(await status(again, secret), 200);
  assert.deepEqual(
    (await list(again)).map((one) => one.key),
    [key],
  );
  await again.close();
  await store.close();
});

test('the administrator’s door is for whoever has its token, on this machine, and for no page of a browser', async () => {
  const guarded = await start();
  const { url, token, close } = await guarded.service.openAdmin();
  open.unshift({ close });
  assert.equal(new URL(url).hostname, '127.0.0.1');
  assert.match(token, /^[\w-]{43}$/);
  const port = new URL(url).port;
  const post = async (headers: Readonly<Record<string, string>>, body: string, method = 'POST', path = '/') =>
    new Promise<readonly [number, unknown]>((resolve, reject) => {
      const request = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        resolve([response.statusCode ?? 0, JSON.parse(Buffer.concat(chunks).toString())]);
      });
      request.on('error', reject);
      request.end(body);
    });
  const command = JSON.stringify({ command: 'keys list', input: {} });
  const bearer = { authorization: `Bearer ${token}` };
  assert.deepEqual(await post(bearer, command), [200, { result: [] }]);
  assert.deepEqual(await post(bearer, '{"command":"keys list"}'), [200, { result: [] }]);
  const refused: readonly (readonly [number, Readonly<Record<string, string>>, string, string?, string?])[] = [
    [401, {}, command],
    [401, { authorization: 'Bearer x' }, command],
    [401, { authorization: `Basic ${token}` }, command],
    [401, { authorization: `Bearer ${token}x` }, command],
    [403, { ...bearer, origin: 'http://127.0.0.1' }, command],
    [403, { ...bearer, host: 'rebound.example' }, command],
    [404, bearer, command, 'PUT'],
    [404, bearer, command, 'POST', '/keys'],
    [400, bearer, '{'],
    [400, bearer, '{"input":{}}'],
    [400, bearer, '{"command":"keys list","input":[]}'],
    [422, bearer, '{"command":"keys lend"}'],
    [422, bearer, '{"command":"keys revoke"}'],
    [413, bearer, `{"command":"${'x'.repeat(1024 * 1024)}"}`],
  ];
  for (const [expected, headers, body, method, path] of refused) {
    const [code, told] = await post(headers, body, method, path);
    assert.equal(code, expected, JSON.stringify([headers, body.slice(0, 40), told]));
    assert.ok(!JSON.stringify(told).includes(token));
  }
  const [, made] = await post(bearer, JSON.stringify({ command: 'keys add', input: { user: 'reader', id: 'r9' } }));
  const { secret, key } = (made as { result: { secret: string; key: string } }).result;
  assert.equal(await status(guarded, secret), 200);
  await post(bearer, JSON.stringify({ command: 'keys revoke', input: { key } }));
  assert.equal(await status(guarded, secret), 401, 'what another process asks for holds at once');
  await close();
  await assert.rejects(post(bearer, command));
});

test('a caller holds a key until its last one is revoked or has expired', async () => {
  const store = openStore(':memory:');
  open.push(store);
  const { Credentials } = await import('../src/serve/callers/credentials.ts');
  const { systemChance } = await import('../src/serve/http/clock.ts');
  const guarded = await start(notes(keyScheme), { store });
  const credentials = new Credentials(store, systemChance);
  const isHeld = async () => store.read((rows) => credentials.isHeld(rows, 'reader', 'r1', guarded.clock.now()));
  assert.equal(await isHeld(), false);
  const { key } = await addKey(guarded, {});
  await addKey(guarded, { expiresMs: 1_000 });
  assert.equal(await isHeld(), true);
  await guarded.service.administer('keys revoke', { key });
  assert.equal(await isHeld(), true);
  guarded.clock.advance(1_000);
  assert.equal(await isHeld(), false);
});
