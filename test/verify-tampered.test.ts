import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { basic } from '../src/kinds/schemes/basic.ts';
import { readToken } from '../src/kinds/schemes/token.ts';
import { tamperedWith } from '../src/verify/trials/authentication/carriers.ts';

const { read: readBasic, write: writeBasic } = basic.proof;

for (const algorithm of ['ES256', 'ES384', 'RS256', 'EdDSA', 'HS256', 'PS256']) {
  test(`no token that was tampered with verifies, and the one it was made of does: ${algorithm}`, async () => {
    const pair = algorithm === 'HS256' ? undefined : await generateKeyPair(algorithm, { extractable: true });
    const secret = Buffer.alloc(32, 1);
    const token = await new SignJWT({ sub: 'm1', role: 'merchant' })
      .setProtectedHeader({ alg: algorithm, kid: 'k' })
      .setExpirationTime('1h')
      .sign(pair?.privateKey ?? secret);
    const key = pair ? await exportJWK(pair.publicKey) : secret;
    await jwtVerify(token, key as never, { algorithms: [algorithm] });
    const made = tamperedWith({ type: 'jwt' }, token);
    assert.ok(made.length >= 9);
    for (const { how, text } of made) {
      assert.notEqual(text, token);
      await assert.rejects(jwtVerify(text, key as never, { algorithms: [algorithm] }), Error, how);
    }
  });
}

test('a token is read whoever has signed it, and what is no token is not', async () => {
  const token = await new SignJWT({ sub: 'm1' }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.alloc(32, 1));
  assert.deepEqual(readToken(token)?.claims, { sub: 'm1' });
  assert.equal(readToken(token)?.header.alg, 'HS256');
  for (const text of ['', 'a.b', 'a.b.c', 'a.b.c.d', `${token}.x`]) assert.equal(readToken(text), undefined, text);
});

test('a key that was tampered with is another, and of its form where it can be', () => {
  const made = tamperedWith({ type: 'api_key' }, 'pk_live_4f2kQ7');
  assert.equal(new Set([...made.map(({ text }) => text), 'pk_live_4f2kQ7']).size, made.length + 1);
  assert.ok(made.some(({ text }) => /^pk_live_\w{6}$/.test(text)));
});

test('a password that was tampered with is another one, of the same name', () => {
  const made = tamperedWith({ type: 'basic' }, writeBasic('ann', 'secret'));
  const names = made.map(({ text }) => readBasic(text)?.name);
  assert.deepEqual(new Set(names), new Set(['ann', 'ann-ninefold-verify', undefined]));
  for (const { text } of made) assert.notEqual(text, writeBasic('ann', 'secret'));
  const passwords = made.map(({ text }) => readBasic(text)?.password);
  // Whoever compares a part of it lets one of these in.
  for (const nearly of ['secre', 'secret0', /^secre[^t]$/, /^sec[^r]et$/, /^[^s]ecret$/])
    assert.ok(
      passwords.some((one) => (typeof nearly === 'string' ? one === nearly : nearly.test(one ?? ''))),
      `${nearly}`,
    );
});
