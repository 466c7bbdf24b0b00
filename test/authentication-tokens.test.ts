import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { after, test } from 'node:test';
import { base64url, CompactEncrypt, type JWK, SignJWT, UnsecuredJWT } from 'jose';
import type { HandlerContext } from '../src/index.ts';
import { type Guarded, goodClaims, guard, notes, serveKeySet, startSeconds, tokenKey, tokenScheme } from './serving/guarded.ts';

/** Tokens: what makes one good, and each way in which one is not. */
const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((one) => one.close())));

async function start(authentication: string, options = {}): Promise<Guarded> {
  const guarded = await guard(notes(authentication), options);
  open.push(guarded);
  return guarded;
}

const [ours, theirs, rsa] = await Promise.all([tokenKey('k1'), tokenKey('k1'), tokenKey('r1', 'RS256')]);
const published = await serveKeySet([ours.jwk, rsa.jwk]);
open.push(published);
const scheme = tokenScheme(`algorithms: [ES256, RS256], jwks: ${published.url}`);
const guarded = await start(`schemes: { ${scheme} }`);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a good token is its caller, by what the document makes of its claims', async () => {
  const token = await ours.sign({ extra: { deep: [1] } });
  for (let times = 0; times < 3; times++) {
    const said = await guarded.ask(bearer(token));
    assert.deepEqual(said.body, {
      caller: { id: 'u1', user: 'reader', scopes: ['a', 'b'], claims: { ...goodClaims, extra: { deep: [1] } } },
    });
  }
  assert.equal((await guarded.ask({ authorization: `bearer   ${token}` })).status, 200);
  assert.equal((await guarded.ask(bearer(await rsa.sign({})))).status, 200);
  assert.equal(published.asked, 1, 'one look at the key set is enough');
});

test('without a token the challenge is bare, with a bad one it says so', async () => {
  assert.equal((await guarded.ask()).headers.get('www-authenticate'), 'Bearer realm="Notes"');
  const bad = await guarded.ask(bearer('x.y.z'));
  assert.equal(bad.status, 401);
  assert.equal(bad.headers.get('www-authenticate'), 'Bearer realm="Notes", error="invalid_token"');
});

const header = (fields: object) => base64url.encode(JSON.stringify(fields));
const spki = createPublicKey({ key: rsa.jwk as never, format: 'jwk' }).export({ type: 'spki', format: 'pem' });

const bad: readonly (readonly [what: string, make: () => Promise<string> | string])[] = [
  ['signed by a foreign key of the same name', () => theirs.sign({})],
  ['of another issuer', () => ours.sign({ iss: 'https://evil.example' })],
  ['without an issuer', () => ours.sign({ iss: undefined })],
  ['for another audience', () => ours.sign({ aud: 'parcels' })],
  ['without an audience', () => ours.sign({ aud: undefined })],
  ['that has ended', () => ours.sign({ exp: startSeconds - 6 })],
  ['that does not hold yet', () => ours.sign({ nbf: startSeconds + 7 })],
  ['whose end is no number', () => ours.sign({ exp: 'tomorrow' })],
  ['of a user that is not stated', () => ours.sign({ role: 'admin' })],
  ['without a user', () => ours.sign({ role: undefined })],
  ['whose user is null', () => ours.sign({ role: null })],
  ['whose user is a list of none that is stated', () => ours.sign({ role: ['admin', 7] })],
  ['whose user is an empty list', () => ours.sign({ role: [] })],
  ['without a subject', () => ours.sign({ sub: undefined })],
  ['whose subject is empty', () => ours.sign({ sub: '' })],
  ['whose subject is no text', () => ours.sign({ sub: 7 })],
  ['whose scope is no text', () => ours.sign({ scope: ['a'] })],
  ['of no signature', () => new UnsecuredJWT(goodClaims).encode()],
  ['of no signature, in other words', () => `${header({ alg: 'NoNe' })}.${header(goodClaims)}.`],
  [
    'signed with the public key as if it were a secret',
    () => new SignJWT(goodClaims).setProtectedHeader({ alg: 'HS256', kid: 'r1' }).sign(new TextEncoder().encode(String(spki))),
  ],
  [
    'signed with the public key as it is published as if it were a secret',
    () =>
      new SignJWT(goodClaims)
        .setProtectedHeader({ alg: 'HS256', kid: 'r1' })
        .sign(new TextEncoder().encode(JSON.stringify(rsa.jwk))),
  ],
  ['that names an algorithm which is not its key’s', async () => renamed(await ours.sign({}), { alg: 'RS256', kid: 'k1' })],
  ['signed by an algorithm that is not stated', async () => (await tokenKey('p1', 'PS256')).sign({})],
  [
    'that brings its own key',
    async () => {
      const own = await tokenKey('own');
      return own.sign({}, { kid: 'own', jwk: own.jwk });
    },
  ],
  ['that says where its key is', () => theirs.sign({}, { kid: 'x', jku: published.url })],
  ['with a critical header that nobody knows', () => ours.sign({}, { crit: ['exp'], exp: 1 }).catch(() => 'a.b.c')],
  ['whose name of a key is no text', async () => renamed(await ours.sign({}), { alg: 'ES256', kid: 7 })],
  ['cut short', async () => (await ours.sign({})).slice(0, -2)],
  ['with other claims put in', async () => swapped(await ours.sign({}), { ...goodClaims, role: 'writer' })],
  ['of two parts', async () => (await ours.sign({})).split('.').slice(0, 2).join('.')],
  ['of four parts', async () => `${await ours.sign({})}.x`],
  ['whose header is no JSON', () => `${base64url.encode('{')}.${header(goodClaims)}.x`],
  ['whose header is a list', () => `${base64url.encode('[]')}.${header(goodClaims)}.x`],
  ['whose claims are no map', async () => swapped(await ours.sign({}), [1])],
  [
    'that is encrypted',
    async () =>
      new CompactEncrypt(new TextEncoder().encode(JSON.stringify(goodClaims)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .encrypt(new Uint8Array(32)),
  ],
  ['two of them', async () => `${await ours.sign({})}, Bearer ${await ours.sign({})}`],
  ['nothing', () => ''],
];

function renamed(token: string, fields: object): string {
  return [header(fields), ...token.split('.').slice(1)].join('.');
}

function swapped(token: string, claims: object): string {
  const [first, , last] = token.split('.');
  return [first, header(claims), last].join('.');
}

for (const [what, make] of bad) {
  test(`a token ${what} is refused`, async () => {
    const token = await make();
    for (let times = 0; times < 2; times++) {
      const said = await guarded.ask(bearer(token));
      assert.equal(said.status, 401, JSON.stringify(said.body));
      assert.equal(said.headers.get('www-authenticate'), 'Bearer realm="Notes", error="invalid_token"');
    }
  });
}

test('clocks may be five seconds apart, both ways', async () => {
  const own = await start(`schemes: { ${scheme} }`);
  assert.equal((await own.ask(bearer(await ours.sign({ exp: startSeconds - 4 })))).status, 200);
  assert.equal((await own.ask(bearer(await ours.sign({ nbf: startSeconds + 5 })))).status, 200);
});

test('a token that was good is refused from its end on, though it was remembered', async () => {
  const own = await start(`schemes: { ${scheme} }`);
  const token = await ours.sign({ exp: startSeconds + 10 });
  assert.equal((await own.ask(bearer(token))).status, 200);
  own.clock.advance(14_000);
  assert.equal((await own.ask(bearer(token))).status, 200);
  own.clock.advance(1_000);
  assert.equal((await own.ask(bearer(token))).status, 401);
});

test('several audiences and several users: ours among them is enough, and the first user that is stated counts', async () => {
  const said = await guarded.ask(bearer(await ours.sign({ aud: ['other', 'notes'], role: ['admin', 'writer', 'reader'] })));
  assert.equal((said.body.caller as { user: string }).user, 'writer');
});

test('a remembered caller cannot be changed by a handler', async () => {
  const own = await guard(notes(`schemes: { ${scheme} }`), {
    handlers: {
      who: ({ caller }: HandlerContext) => {
        assert.throws(() => Object.assign(caller ?? {}, { user: 'writer' }), TypeError);
        assert.throws(() => Object.assign((caller?.claims ?? {}) as object, { role: 'writer' }), TypeError);
        return { caller };
      },
    },
  });
  open.push(own);
  assert.equal((await own.ask(bearer(await ours.sign({})))).status, 200);
});

const secret = 'a shared secret of at least 32 bytes, this one';
const hmac = (key: string, alg = 'HS256', claims = {}) =>
  new SignJWT({ ...goodClaims, ...claims }).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key));

test('a shared secret comes from the environment, and no other secret or algorithm will do', async () => {
  const shared = tokenScheme('algorithms: [HS256], secret_env: NOTES_SECRET');
  const own = await start(`schemes: { ${shared} }`, { environment: { NOTES_SECRET: secret } });
  assert.equal((await own.ask(bearer(await hmac(secret)))).status, 200);
  for (const token of [await hmac(`${secret}.`), await hmac(secret, 'HS384'), await ours.sign({}), await hmac('\0')]) {
    assert.equal((await own.ask(bearer(token))).status, 401);
  }
  assert.deepEqual(
    own.service.notes.filter((note) => note.includes('verified')),
    [],
  );
});

test('where the environment has no secret, nobody can tell who calls, and the start says so', async () => {
  const shared = tokenScheme('algorithms: [HS256], secret_env: NOTES_SECRET');
  for (const environment of [{}, { NOTES_SECRET: '' }]) {
    const own = await start(`schemes: { ${shared} }`, { environment });
    assert.equal((await own.ask(bearer(await hmac('any key of more than thirty-two bytes')))).status, 503);
    assert.equal((await own.ask()).status, 401);
    assert.ok(own.service.notes.some((note) => /"token" cannot be verified: the environment has no NOTES_SECRET/.test(note)));
  }
  const short = await start(`schemes: { ${shared} }`, { environment: { NOTES_SECRET: 'short' } });
  assert.ok(short.service.notes.some((note) => note.includes('shorter than the 32 bytes')));
});

test('a scheme with a secret and a key set verifies each algorithm with its own kind of key', async () => {
  const mixed = tokenScheme(`algorithms: [HS256, RS256], secret_env: S, jwks: ${published.url}`);
  const own = await start(`schemes: { ${mixed} }`, { environment: { S: secret } });
  assert.equal((await own.ask(bearer(await hmac(secret)))).status, 200);
  assert.equal((await own.ask(bearer(await rsa.sign({})))).status, 200);
  assert.equal((await own.ask(bearer(await hmac(String(spki))))).status, 401);
  assert.equal((await own.ask(bearer(await ours.sign({})))).status, 401, 'ES256 is not stated here');
});

test('a secret in a published set is none', async () => {
  const oct: JWK = { kty: 'oct', k: base64url.encode(secret), kid: 'o', alg: 'HS256' };
  const set = await serveKeySet([oct]);
  open.push(set);
  const mixed = tokenScheme(`algorithms: [HS256, RS256], secret_env: S, jwks: ${set.url}`);
  const own = await start(`schemes: { ${mixed} }`, { environment: { S: 'another secret of more than 32 bytes' } });
  assert.equal((await own.ask(bearer(await hmac(secret)))).status, 401);
});

for (const alg of ['ES384', 'ES512', 'PS256', 'RS512', 'EdDSA', 'Ed25519']) {
  test(`tokens signed by ${alg} are verified`, async () => {
    const key = await tokenKey(undefined, alg);
    const set = await serveKeySet([theirs.jwk, key.jwk]);
    open.push(set);
    const own = await start(`schemes: { ${tokenScheme(`algorithms: [${alg}], jwks: ${set.url}`)} }`);
    assert.equal((await own.ask(bearer(await key.sign({})))).status, 200);
    assert.equal((await own.ask(bearer(await ours.sign({})))).status, 401);
  });
}

test('oauth2 is verified as a JWT; without keys in the document it is refused by its name', async () => {
  const flows = 'flows: { client_credentials: { token_url: https://id.example/token } }, scopes: { a: A. }';
  const oauth = scheme.replace('type: jwt', `type: oauth2, ${flows}`);
  const own = await start(`schemes: { ${oauth} }`);
  assert.equal((await own.ask(bearer(await ours.sign({})))).status, 200);
  assert.equal((await own.ask()).headers.get('www-authenticate'), 'Bearer realm="Notes"');
  const opaque = await start(`schemes: { token: { type: oauth2, ${flows} } }`);
  const said = await opaque.ask(bearer('opaque'));
  assert.deepEqual([said.status, said.body.type], [501, 'urn:ninefold:unsupported']);
});

test('a token may stand in a header of its own or in a cookie', async () => {
  const own = await start(
    `schemes:\n  inner: ${tokenScheme(`header: X-Token, algorithms: [ES256], jwks: ${published.url}`, 'x').slice(3)}\n  cookie: ${tokenScheme(`cookie: t, algorithms: [ES256], jwks: ${published.url}`, 'x').slice(3)}`,
  );
  const token = await ours.sign({});
  assert.equal((await own.ask({ 'x-token': token })).status, 200);
  assert.equal((await own.ask({ cookie: `t=${token}` })).status, 200);
  assert.equal((await own.ask({ 'x-token': token, cookie: `t=${await ours.sign({ jti: '2' })}` })).status, 200);
  assert.equal((await own.ask({ 'x-token': token, cookie: `t=${await ours.sign({ sub: 'u2' })}` })).status, 401);
  assert.equal(
    (await own.ask()).headers.get('www-authenticate'),
    'Bearer realm="Notes", in="header", name="X-Token", Bearer realm="Notes", in="cookie", name="t"',
  );
});

test('what a document leaves out of the mapping is what the standards say, and the one stated user', async () => {
  const plain = `schemes: { token: { type: jwt, algorithms: [ES256], jwks: ${published.url} } }`;
  const two = await start(plain);
  assert.equal((await two.ask(bearer(await ours.sign({})))).status, 401, 'which of two users it is, nobody says');
  const one = await guard(notes(plain).replace(', writer: Writes.', '').replace('[reader, writer]', 'reader'));
  open.push(one);
  const said = await one.ask(bearer(await ours.sign({ iss: 'anybody', aud: 'anything' })));
  const { id, user, scopes } = said.body.caller as { id: string; user: string; scopes: string[] };
  assert.deepEqual([id, user, scopes], ['u1', 'reader', ['a', 'b']]);
});

test('a scheme that says how long tokens hold refuses those without an end, and those that end later', async () => {
  const own = await start(`schemes: { ${scheme.replace('type: jwt,', 'type: jwt, lifetime: 1h,')} }`);
  const status = async (claims: Readonly<Record<string, unknown>>) => (await own.ask(bearer(await ours.sign(claims)))).status;
  assert.equal(await status({ exp: undefined }), 401);
  assert.equal(await status({ iat: startSeconds - 1800, exp: startSeconds + 1800 }), 200);
  assert.equal(await status({ iat: startSeconds - 1800, exp: startSeconds + 1900 }), 401);
  assert.equal(await status({ iat: undefined, exp: startSeconds + 3500 }), 200);
  assert.equal(await status({ iat: undefined, exp: startSeconds + 4000 }), 401);
  const free = await start(`schemes: { ${scheme} }`);
  assert.equal((await free.ask(bearer(await ours.sign({ exp: undefined })))).status, 200);
});

test('a scheme that says what its tokens are refuses those that were made for something else', async () => {
  const own = await start(`schemes: { ${scheme.replace('type: jwt,', 'type: jwt, typ: at+jwt,')} }`);
  const status = async (typ: string | undefined) =>
    (await own.ask(bearer(await ours.sign({}, typ === undefined ? {} : { typ })))).status;
  const statuses = await Promise.all(['at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'logout+jwt', undefined].map(status));
  assert.deepEqual(statuses, [200, 200, 200, 401, 401, 401]);
});

test('a scheme whose tokens have to end refuses those without an end, and no others', async () => {
  const own = await start(`schemes: { ${scheme.replace('type: jwt,', 'type: jwt, expires: required,')} }`);
  assert.equal((await own.ask(bearer(await ours.sign({ exp: undefined })))).status, 401);
  assert.equal((await own.ask(bearer(await ours.sign({ exp: startSeconds + 10 * 365 * 86_400 })))).status, 200);
});
