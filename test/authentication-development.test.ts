import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { check, openStore, parseDocument } from '../src/index.ts';
import { addKey, type Guarded, guard, keyScheme, notes, startSeconds } from './serving/guarded.ts';

/** Credentials of one run: one for each user, good at once, and kept nowhere. */
const open: { close(): Promise<unknown> }[] = [];
after(() => Promise.all(open.map((one) => one.close())));

async function start(authentication: string, options = {}): Promise<Guarded> {
  const guarded = await guard(notes(authentication), { development: true, ...options });
  open.push(guarded);
  return guarded;
}

/** Sends a credential as it is told. */
async function shown(guarded: Guarded, index = 0) {
  const credential = guarded.service.credentials[index];
  assert.ok(credential, 'one was made');
  const { in: place, name, value } = credential;
  if (place === 'query') return guarded.ask({}, `GET /notes?${new URLSearchParams([[name, value]])}`);
  return guarded.ask(place === 'header' ? { [name]: value } : { cookie: `${name}=${value}` });
}

const mapping = `caller: { id: claims.sub, user: claims.role, scopes: "has(claims.scope) ? claims.scope.split(' ') : []" }`;
const jwt = (words: string) =>
  `schemes: { token: { type: jwt, issuer: https://id.example, audience: notes, jwks: https://id.example/jwks.json, ${words} } }`;

const schemes: readonly (readonly [what: string, authentication: string])[] = [
  ['keys', keyScheme],
  ['keys behind a prefix', 'schemes: { key: { type: api_key, header: Authorization, prefix: Token } }'],
  ['keys in a cookie', 'schemes: { key: { type: api_key, cookie: session } }'],
  ['keys in the query', 'schemes: { key: { type: api_key, query: k } }'],
  ['names and passwords', 'schemes: { login: { type: basic } }'],
  ...['ES256', 'RS256', 'PS256', 'ES384', 'EdDSA'].map(
    (alg) => [`tokens of ${alg}`, jwt(`algorithms: [${alg}], ${mapping}`)] as const,
  ),
  ['tokens of a shared secret', `schemes: { token: { type: jwt, algorithms: [HS512], secret_env: NOTES_SECRET, ${mapping} } }`],
  ['tokens of a type that end', jwt(`algorithms: [ES256], typ: at+jwt, expires: required, ${mapping}`)],
  [
    'tokens whose claims lie deep and in lists',
    jwt(
      `algorithms: [ES256], caller: { id: 'claims["https://id.example/who"].id', user: claims.realm_access.roles, scopes: claims.permissions }`,
    ),
  ],
  [
    'the first scheme that there are means for',
    'schemes:\n  signed: { type: signature, header: Signature }\n  key: { type: api_key, header: X-API-Key }',
  ],
];
for (const [what, authentication] of schemes) {
  test(`each user has one: ${what}`, async () => {
    const guarded = await start(authentication);
    assert.deepEqual(
      guarded.service.credentials.map(({ user, id }) => [user, id]),
      [
        ['reader', 'dev-reader'],
        ['writer', 'dev-writer'],
      ],
    );
    for (const index of [0, 1]) assert.equal((await shown(guarded, index)).status, 200);
    if (authentication.includes('query')) return;
    const { id, user } = (await shown(guarded, 1)).body.caller as { id: string; user: string };
    assert.deepEqual([id, user], ['dev-writer', 'writer']);
    assert.deepEqual(guarded.failures, [], 'no key set was asked for');
  });
}

test('a token holds for forty days and says what the document asks of it', async () => {
  const guarded = await start(jwt(`algorithms: [RS256, ES256], ${mapping}`));
  const token = String(guarded.service.credentials[0]?.value.split(' ')[1]);
  assert.match(String(decodeProtectedHeader(token).kid), /^ninefold-development-/);
  assert.equal(decodeProtectedHeader(token).alg, 'ES256', 'the quickest of those that are stated');
  const { iss, aud, exp, role } = decodeJwt(token);
  assert.deepEqual([iss, aud, exp, role], ['https://id.example', 'notes', startSeconds + 40 * 24 * 3600, 'reader']);
  assert.equal((await shown(guarded)).status, 200);
  guarded.clock.advance(40 * 24 * 3_600_000 + 5_000);
  assert.equal((await shown(guarded)).status, 401);
});

test('a token has what rules and fields read of the claims of whoever bears it', async () => {
  const text = notes(jwt(`algorithms: [ES256], ${mapping}`)).replace(
    'create: caller.id',
    `create: 'caller.claims.house["deep-name"]'`,
  );
  const guarded = await guard(text, { development: true });
  open.push(guarded);
  const { name = '', value = '' } = guarded.service.credentials[1] ?? {};
  const made = await guarded.ask({ [name]: value }, 'POST /notes', { id: 'a' });
  assert.deepEqual([made.status, made.body], [201, { id: 'a', owner: 'dev' }]);
});

test('a mapping that nobody can turn round is told, and the other users have theirs', async () => {
  const guarded = await start(jwt(`algorithms: [ES256], caller: { id: claims.sub, user: "claims.admin ? 'writer' : 'reader'" }`));
  assert.deepEqual(guarded.service.credentials, []);
  assert.ok(guarded.service.notes.some((note) => /No credential could be made for reader/.test(note)));
  const constant = await start(jwt(`algorithms: [ES256], caller: { id: claims.sub, user: "'writer'" }`));
  assert.deepEqual(
    constant.service.credentials.map(({ user }) => user),
    ['writer'],
  );
  assert.ok(constant.service.notes.some((note) => /No credential could be made for reader/.test(note)));
});

test('they have every scope that a rule asks for', async () => {
  const guarded = await guard(
    notes(keyScheme).replace('to: [reader, writer] }', 'to: [reader, writer], scopes: [notes, more] }'),
    { development: true },
  );
  open.push(guarded);
  const said = await shown(guarded);
  assert.deepEqual((said.body.caller as { scopes: string[] }).scopes, ['notes', 'more']);
});

test('they are not there unless they are asked for, and never in the store', async () => {
  const production = await guard(notes(keyScheme));
  open.push(production);
  assert.deepEqual(production.service.credentials, []);
  const store = openStore(':memory:');
  open.push(store);
  const guarded = await start(keyScheme, { store });
  assert.deepEqual(await store.read((rows) => rows.credentials({ after: '', most: 10 })), []);
  const [{ name = '', value = '' } = {}] = guarded.service.credentials;
  const again = await guard(notes(keyScheme), { store });
  open.push(again);
  assert.equal((await again.ask({ [name]: value })).status, 401, 'another run knows nothing of them');
});

test('those of one run are worth nothing in another, tokens neither', async () => {
  const one = await start(jwt(`algorithms: [ES256], ${mapping}`));
  const two = await start(jwt(`algorithms: [ES256], ${mapping}`));
  const [{ name = '', value = '' } = {}] = one.service.credentials;
  assert.notEqual((await two.ask({ [name]: value })).status, 200);
});

test('a document that takes another’s place keeps them, and its new users have theirs', async () => {
  const guarded = await start(keyScheme);
  const before = guarded.service.credentials;
  const { secret } = await addKey(guarded, {});
  const next = notes(keyScheme).replace('writer: Writes. }', 'writer: Writes., editor: Edits. }');
  await guarded.service.replace(check(parseDocument(next, 'next.yaml')).spec);
  assert.deepEqual(guarded.service.credentials.slice(0, 2), before);
  assert.deepEqual(
    guarded.service.credentials.map(({ user }) => user),
    ['reader', 'writer', 'editor'],
  );
  assert.equal((await shown(guarded)).status, 200);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
});
