import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { serve } from '../src/index.ts';
import { type Guarded, guard, type KeySetServer, notes, serveKeySet, startMs, tokenKey, tokenScheme } from './serving/guarded.ts';

/** The keys of issuers: fetched when they are needed, exchanged while the service runs, and gone when they are withdrawn. */
const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((one) => one.close())));

const [old, next, third] = await Promise.all([tokenKey('old'), tokenKey('new'), tokenKey('third')]);
const coolDown = 30_000;
const current = 600_000;

async function start(
  keys: KeySetServer['keys'],
): Promise<Guarded & { set: KeySetServer; status(token: string): Promise<number> }> {
  const set = await serveKeySet(keys);
  const guarded = await guard(notes(`schemes: { ${tokenScheme(`algorithms: [ES256], jwks: ${set.url}`)} }`));
  open.push(set, guarded);
  const status = async (token: string) => (await guarded.ask({ authorization: `Bearer ${token}` })).status;
  return Object.assign(guarded, { set, status });
}

/** Lets what was begun beside a request come to its end. */
async function settled(set: KeySetServer, asked: number): Promise<void> {
  for (let tries = 0; tries < 200 && set.asked < asked; tries++) await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 20));
}

const claims = { exp: startMs / 1000 + 86_400 };

test('a key that is not in the set is looked for once in each cool-down, whatever the tokens say', async () => {
  const { set, status, clock } = await start([old.jwk]);
  assert.equal(await status(await old.sign(claims)), 200);
  assert.equal(set.asked, 1);
  for (let times = 0; times < 5; times++) assert.equal(await status(await next.sign({ ...claims, jti: times })), 401);
  assert.equal(set.asked, 1, 'the cool-down holds');
  set.keys = [old.jwk, next.jwk];
  clock.advance(coolDown);
  assert.equal(await status(await next.sign(claims)), 200, 'the new key is there');
  assert.equal(set.asked, 2);
  assert.equal(await status(await old.sign(claims)), 200, 'and the old one still');
  for (let times = 0; times < 5; times++) assert.equal(await status(await third.sign({ ...claims, jti: times })), 401);
  assert.equal(set.asked, 2);
});

test('many tokens that arrive at once ask for the set once', async () => {
  const { set, status } = await start([old.jwk]);
  const tokens = await Promise.all(Array.from({ length: 10 }, (_, jti) => old.sign({ ...claims, jti })));
  assert.deepEqual(await Promise.all(tokens.map(status)), Array(10).fill(200));
  assert.equal(set.asked, 1);
});

test('a token that is remembered goes with its key', async () => {
  const { set, status, clock } = await start([old.jwk]);
  const token = await old.sign(claims);
  assert.equal(await status(token), 200);
  set.keys = [next.jwk];
  clock.advance(current);
  await status(token);
  await settled(set, 2);
  assert.equal(await status(token), 401);
  assert.equal(await status(await next.sign(claims)), 200);
});

test('another key under the old name ends the tokens of the old one', async () => {
  const { set, status, clock } = await start([old.jwk]);
  const token = await old.sign(claims);
  assert.equal(await status(token), 200);
  set.keys = [{ ...next.jwk, kid: 'old' }];
  clock.advance(current);
  await status(token);
  await settled(set, 2);
  assert.equal(await status(token), 401);
});

test('while the set cannot be had, what is known of it stands in for an hour', async () => {
  const { set, status, clock, failures } = await start([old.jwk]);
  const token = await old.sign(claims);
  assert.equal(await status(token), 200);
  set.status = 500;
  clock.advance(current);
  assert.equal(await status(token), 200);
  await settled(set, 2);
  assert.equal(await status(token), 200);
  assert.equal(failures.length, 1);
  clock.advance(3_600_000);
  assert.equal(await status(token), 503);
  set.status = 200;
  clock.advance(coolDown);
  assert.equal(await status(token), 200);
});

const unfit: readonly (readonly [what: string, change: (set: KeySetServer) => void])[] = [
  ['cannot be had', (set) => Object.assign(set, { status: 503 })],
  ['is elsewhere', (set) => Object.assign(set, { status: 302 })],
  ['is none', (set) => Object.assign(set, { keys: 'none' })],
];
for (const [what, change] of unfit) {
  test(`where the set ${what}, the service is unavailable to tokens, and the failure is noted once in each cool-down`, async () => {
    const { set, status, failures, ask, clock } = await start([old.jwk]);
    change(set);
    const token = await old.sign(claims);
    for (let times = 0; times < 3; times++) assert.equal(await status(token), 503);
    assert.equal(set.asked, 1);
    assert.equal(failures.length, 1);
    assert.equal((await ask()).status, 401, 'who shows nothing is told so');
    Object.assign(set, { status: 200, keys: [old.jwk] });
    clock.advance(coolDown);
    assert.equal(await status(token), 200);
  });
}

test('keys for other uses and of other kinds verify nothing', async () => {
  const { kid: _kid, ...nameless } = old.jwk;
  for (const jwk of [
    { ...old.jwk, use: 'enc' },
    { ...old.jwk, alg: 'ES384' },
    { ...old.jwk, key_ops: ['sign'] },
    { ...old.jwk, crv: 'P-384' },
    { ...old.jwk, kty: 'oct' },
    { ...old.jwk, x: 'broken' },
    { ...old.jwk, kid: 'other' },
    nameless,
  ]) {
    const { status } = await start([jwk]);
    assert.equal(await status(await old.sign(claims)), 401, JSON.stringify(jwk));
  }
});

test('a token without the name of a key is tried with each that fits', async () => {
  const { status } = await start([next.jwk, third.jwk, old.jwk]);
  assert.equal(await status(await old.sign(claims, { kid: undefined })), 200);
});

test('a key set can be a file beside the document, and is read again when it changes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-keys-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  write('keys.json', { keys: [old.jwk] });
  writeFileSync(join(folder, 'notes.yaml'), notes(`schemes: { ${tokenScheme('algorithms: [ES256], jwks: keys.json')} }`));
  const { movableClock } = await import('../src/index.ts');
  const clock = movableClock(startMs);
  const service = await serve(join(folder, 'notes.yaml'), { clock });
  open.push(service);
  assert.ok(!service.notes.some((note) => note.includes('verified')));
  const status = async (token: string) =>
    (await service.fetch(new Request('http://127.0.0.1/notes', { headers: { authorization: `Bearer ${token}` } }))).status;
  assert.equal(await status(await old.sign(claims)), 200);
  assert.equal(await status(await next.sign(claims)), 401);
  write('keys.json', { keys: [next.jwk] });
  clock.advance(coolDown);
  assert.equal(await status(await next.sign(claims)), 200);
  assert.equal(await status(await old.sign(claims)), 401);
  writeFileSync(join(folder, 'notes.yaml'), notes(`schemes: { ${tokenScheme('algorithms: [ES256], jwks: ../keys.json')} }`));
  const outside = await serve(join(folder, 'notes.yaml'));
  open.push(outside);
  assert.ok(outside.notes.some((note) => note.includes('cannot be verified')));
});
