import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { after, test } from 'node:test';
import { wholeWork } from './serving/cheap-passwords.ts';
import { addKey, type Guarded, guard, keyScheme, notes, startMs } from './serving/guarded.ts';

/** Who is calling: keys and passwords, where they stand, and how they are refused. */
const open: { close(): Promise<void> }[] = [];
after(() => Promise.all(open.map((guarded) => guarded.close())));

async function start(text: string, options = {}): Promise<Guarded> {
  const guarded = await guard(text, options);
  open.push(guarded);
  return guarded;
}

const keyed = await start(notes(keyScheme));
const first = await addKey(keyed, { scopes: ['a', 'b'] });
const second = await addKey(keyed, { user: 'writer', id: 'w1' });

test('a key carries the user, the identifier and the scopes that it was made with', async () => {
  const said = await keyed.ask({ 'x-api-key': first.secret });
  assert.deepEqual(said.body, { caller: { id: 'r1', user: 'reader', scopes: ['a', 'b'], key: first.key } });
  assert.deepEqual((await keyed.ask({ 'X-API-KEY': second.secret })).body, {
    caller: { id: 'w1', user: 'writer', scopes: [], key: second.key },
  });
  assert.match(first.secret, /^nk_[A-Za-z0-9]{40}$/);
});

test('what a key allows is the same at every request, though the first one asks the store', async () => {
  for (let times = 0; times < 3; times++) assert.equal((await keyed.ask({ 'x-api-key': first.secret })).status, 200);
});

test('without a credential, 401 says what to show', async () => {
  const said = await keyed.ask();
  assert.equal(said.status, 401);
  assert.equal(said.headers.get('www-authenticate'), 'ApiKey realm="Notes", in="header", name="X-API-Key"');
});

const wrongKeys: readonly (readonly [what: string, key: string])[] = [
  ['nobody was given', `nk_${'a'.repeat(40)}`],
  ['is empty', ''],
  ['is another one cut short', first.secret.slice(0, -1)],
  ['is another one and more', `${first.secret}a`],
  ['is another one in capitals', first.secret.toUpperCase()],
  ['comes twice', `${first.secret}, ${first.secret}`],
  ['is its stored hash', '47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU'],
  ["is its name in the administrator's list", first.key],
];
for (const [what, key] of wrongKeys) {
  test(`a key that ${what} is refused, and the challenge says so`, async () => {
    for (let times = 0; times < 2; times++) {
      const said = await keyed.ask({ 'x-api-key': key });
      assert.equal(said.status, 401);
      assert.match(said.headers.get('www-authenticate') ?? '', /^ApiKey realm="Notes".*error="invalid_key"$/);
    }
  });
}

test('at a public operation no credential is looked at', async () => {
  for (const key of [first.secret, 'wrong']) {
    assert.deepEqual((await keyed.ask({ 'x-api-key': key }, 'GET /open')).body, { caller: 'nobody' });
  }
});

test('where anyone may, nobody needs a credential, and a bad one is refused all the same', async () => {
  assert.deepEqual((await keyed.ask({}, 'GET /free')).body, { caller: 'nobody' });
  assert.equal((await keyed.ask({ 'x-api-key': 'wrong' }, 'GET /free')).status, 401);
  const known = await keyed.ask({ 'x-api-key': second.secret }, 'GET /free');
  assert.deepEqual(known.body, { caller: { id: 'w1', user: 'writer', scopes: [], key: second.key } });
});

test('answers vary by the credential, those of public operations do not', async () => {
  assert.equal((await keyed.ask({ 'x-api-key': first.secret })).headers.get('vary'), 'X-API-Key');
  assert.equal((await keyed.ask()).headers.get('vary'), 'X-API-Key');
  assert.equal((await keyed.ask({}, 'GET /open')).headers.get('vary'), null);
});

test('a key holds until its time is over', async () => {
  const guarded = await start(notes(keyScheme));
  const { secret } = await addKey(guarded, { expiresMs: 1000 });
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
  guarded.clock.advance(999);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
  guarded.clock.advance(1);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 401);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 401);
});

test('a key that was refused is taken as soon as it is given out', async () => {
  const guarded = await start(notes(keyScheme));
  const secret = 'brought-along-0123456789';
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 401);
  await addKey(guarded, { secret });
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
});

test('a key of a user that the document no longer states is nobody', async () => {
  const guarded = await start(notes(keyScheme));
  const { secret } = await addKey(guarded, { user: 'writer' });
  const { check, parseDocument } = await import('../src/index.ts');
  const next = notes(keyScheme).replace(', writer: Writes.', '').replace('[reader, writer]', 'reader');
  await guarded.service.replace(check(parseDocument(next, 'next.yaml')).spec);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 401);
});

test('a key can stand behind a prefix, in any case; without it, it is none', async () => {
  const guarded = await start(notes('schemes: { key: { type: api_key, header: Authorization, prefix: Token } }'));
  const { secret } = await addKey(guarded, {});
  for (const prefix of ['Token ', 'token ', 'TOKEN   ']) {
    assert.equal((await guarded.ask({ authorization: prefix + secret })).status, 200, prefix);
  }
  for (const prefix of ['', 'Token', 'Bearer ', 'Token Token ']) {
    assert.equal((await guarded.ask({ authorization: prefix + secret })).status, 401, prefix);
  }
  assert.equal((await guarded.ask()).headers.get('www-authenticate'), 'Token realm="Notes"');
});

test('a key can stand in the query, where no endpoint has to name it', async () => {
  const guarded = await start(notes('schemes: { key: { type: api_key, query: "k y" } }'));
  const { secret } = await addKey(guarded, {});
  assert.equal((await guarded.ask({}, `GET /notes?k+y=${secret}`)).status, 200);
  assert.equal((await guarded.ask({}, `GET /notes?k%20y=${encodeURIComponent(secret)}`)).status, 200);
  assert.equal((await guarded.ask({}, `GET /notes?k+y=${secret}&k+y=wrong`)).status, 401);
  assert.equal((await guarded.ask({}, 'GET /notes?k+y=%ff')).status, 401);
  const missing = await guarded.ask({}, 'GET /notes');
  assert.equal(missing.headers.get('www-authenticate'), 'ApiKey realm="Notes", in="query", name="k y"');
});

test('a key can stand in a cookie; of two of one name, both have to be good', async () => {
  const guarded = await start(notes('schemes: { key: { type: api_key, cookie: session } }'));
  const { secret } = await addKey(guarded, {});
  assert.equal((await guarded.ask({ cookie: `a=b; session=${secret}` })).status, 200);
  assert.equal((await guarded.ask({ cookie: `session="${secret}"` })).status, 200);
  assert.equal((await guarded.ask({ cookie: `session=${secret}; session=wrong` })).status, 401);
  assert.equal((await guarded.ask({ cookie: 'a=b' })).status, 401);
});

test('a header that comes twice is refused, whatever the first one says', async () => {
  const listening = await keyed.service.listen({ port: 0 });
  open.unshift(listening);
  const headersOf = async (guarded: string, headers: string[]) =>
    new Promise<number>((resolve, reject) => {
      const request = httpRequest(`${guarded}/who`, { headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on('error', reject);
      request.end();
    });
  const host = ['Host', new URL(listening.url).host];
  assert.equal(await headersOf(listening.url, [...host, 'X-API-Key', first.secret]), 200);
  assert.equal(await headersOf(listening.url, [...host, 'X-API-Key', first.secret, 'X-Api-Key', first.secret]), 401);

  const token = await start(notes('schemes: { key: { type: api_key, header: Authorization, prefix: Token } }'));
  const { secret } = await addKey(token, {});
  const again = await token.service.listen({ port: 0 });
  open.unshift(again);
  const at = ['Host', new URL(again.url).host];
  assert.equal(await headersOf(again.url, [...at, 'Authorization', `Token ${secret}`]), 200);
  assert.equal(await headersOf(again.url, [...at, 'Authorization', `Token ${secret}`, 'authorization', 'Token wrong']), 401);
});

const basicOf = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

test('a name and a password are verified, and known again', async () => {
  const guarded = await start(notes('schemes: { login: { type: basic } }'));
  const { key } = await addKey(guarded, { id: 'ann', secret: 'pass:wörd', scopes: ['a'] });
  const right = { authorization: basicOf('ann', 'pass:wörd') };
  const answers = await Promise.all([guarded.ask(right), guarded.ask(right), guarded.ask(right)]);
  for (const said of answers) assert.deepEqual(said.body, { caller: { id: 'ann', user: 'reader', scopes: ['a'], key } });
  assert.equal((await guarded.ask({ authorization: right.authorization.replace('Basic', 'basic') })).status, 200);
  const wrong = [
    basicOf('ann', 'pass:word'),
    basicOf('bob', 'pass:wörd'),
    basicOf('', 'x'),
    'Basic',
    'Basic !',
    'Basic YW5u',
    'Bearer x',
  ];
  for (const authorization of wrong) {
    const said = await guarded.ask({ authorization });
    assert.equal(said.status, 401, authorization);
    assert.equal(said.headers.get('www-authenticate'), 'Basic realm="Notes", charset="UTF-8"');
  }
  await guarded.service.administer('keys revoke', { key });
  assert.equal((await guarded.ask(right)).status, 401);
});

test('a password is stored as scrypt and nothing else', async () => {
  const { hashPassword, isPassword } = await import('../src/serve/callers/credentials.ts');
  const { systemChance } = await import('../src/serve/http/clock.ts');
  const [one, other] = [await hashPassword('secret', systemChance), await hashPassword('secret', systemChance)];
  assert.match(one, /^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  assert.notEqual(one, other);
  await wholeWork(async () => {
    const [, , , , salt = '', hash = ''] = (await hashPassword('secret', systemChance)).split('$');
    const work = { N: 2 ** 15, r: 8, p: 3, maxmem: 2 ** 26 };
    assert.equal(scryptSync('secret', Buffer.from(salt, 'base64url'), 32, work).toString('base64url'), hash);
  });
  assert.ok(await isPassword('secret', one));
  assert.ok(!(await isPassword('secrets', one)));
  assert.ok(!(await isPassword('secret', 'secret')));
});

const both = await start(
  notes(
    'schemes:\n  key: { type: api_key, header: X-API-Key }\n  login: { type: basic }\n  other: { type: api_key, header: X-Other }\naccept: [key, login]',
  ),
);
const bothKey = await addKey(both, { scheme: 'key', id: 'ann', scopes: ['a'] });
await addKey(both, { scheme: 'login', id: 'ann', scopes: ['b'], secret: 'password-1' });
const bobsKey = await addKey(both, { scheme: 'key', id: 'bob' });

test('several credentials must all be good and name one caller, which has the scopes of all of them', async () => {
  const login = { authorization: basicOf('ann', 'password-1') };
  const said = await both.ask({ ...login, 'x-api-key': bothKey.secret });
  assert.deepEqual((said.body.caller as { scopes: string[] }).scopes, ['a', 'b']);
  assert.equal((await both.ask({ ...login, 'x-api-key': bobsKey.secret })).status, 401);
  assert.equal((await both.ask({ ...login, 'x-api-key': 'wrong' })).status, 401);
  assert.equal((await both.ask({ authorization: basicOf('ann', 'wrong'), 'x-api-key': bothKey.secret })).status, 401);
});

test('the challenge names every accepted scheme, and what was wrong with the one that came', async () => {
  assert.equal(
    (await both.ask()).headers.get('www-authenticate'),
    'ApiKey realm="Notes", in="header", name="X-API-Key", Basic realm="Notes", charset="UTF-8"',
  );
  const bad = (await both.ask({ 'x-api-key': 'wrong' })).headers.get('www-authenticate');
  assert.equal(
    bad,
    'ApiKey realm="Notes", in="header", name="X-API-Key", error="invalid_key", Basic realm="Notes", charset="UTF-8"',
  );
});

test('a scheme that is not accepted is not looked at', async () => {
  const guarded = await start(
    notes('schemes:\n  key: { type: api_key, header: X-API-Key }\n  other: { type: api_key, header: X-Other }\naccept: [key]'),
  );
  const { secret } = await addKey(guarded, {});
  await assert.rejects(addKey(guarded, { scheme: 'other' }), /no scheme that keys are given out for/);
  assert.equal((await guarded.ask({ 'x-other': secret })).status, 401);
  assert.equal((await guarded.ask({ 'x-other': 'whatever', 'x-api-key': secret })).status, 200);
});

test('a key of one scheme is none of another', async () => {
  const guarded = await start(
    notes('schemes:\n  key: { type: api_key, header: X-API-Key }\n  other: { type: api_key, header: X-Other }'),
  );
  const { secret } = await addKey(guarded, { scheme: 'key' });
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
  assert.equal((await guarded.ask({ 'x-other': secret })).status, 401);
});

test('two schemes that share a header are told apart by their prefixes; those that look alike are both tried', async () => {
  const guarded = await start(
    notes(
      'schemes:\n  plain: { type: api_key, header: Authorization }\n  login: { type: basic }\n  one: { type: api_key, header: X-Key }\n  two: { type: api_key, header: X-Key }',
    ),
  );
  const plain = await addKey(guarded, { scheme: 'plain' });
  await addKey(guarded, { scheme: 'login', secret: 'password-1' });
  const two = await addKey(guarded, { scheme: 'two' });
  assert.equal((await guarded.ask({ authorization: plain.secret })).status, 200);
  assert.equal((await guarded.ask({ authorization: basicOf('r1', 'password-1') })).status, 200);
  assert.equal((await guarded.ask({ authorization: basicOf('r1', 'password-2') })).status, 401);
  assert.equal((await guarded.ask({ 'x-key': two.secret })).status, 200);
  assert.equal((await guarded.ask({ 'x-key': 'neither' })).status, 401);
});

test('a scheme that there are no means for is refused by its name, and the others go on', async () => {
  const guarded = await start(
    notes('schemes:\n  key: { type: api_key, header: X-API-Key }\n  signed: { type: signature, header: Signature }'),
  );
  const { secret } = await addKey(guarded, {});
  const said = await guarded.ask({ signature: 'sig1=:abc:' });
  assert.deepEqual([said.status, said.body.type], [501, 'urn:ninefold:unsupported']);
  assert.match(String(said.body.detail), /"signed"/);
  assert.equal((await guarded.ask({ 'x-api-key': secret })).status, 200);
  assert.equal((await guarded.ask()).status, 401);
  assert.equal((await guarded.ask({ signature: 'x', 'x-api-key': 'wrong' })).status, 401);
  assert.ok(guarded.service.notes.some((note) => note.includes('"signed"')));
  const alone = await start(notes('schemes: { signed: { type: signature, header: Signature } }'));
  assert.equal((await alone.ask()).status, 501);
  assert.equal((await alone.ask({}, 'GET /open')).status, 200);
});

test('a scheme whose place is open is not accepted, and the open fact is named', async () => {
  const guarded = await start(notes('schemes: { key: { type: api_key } }'));
  const said = await guarded.ask({ 'x-api-key': 'x' });
  assert.equal(said.status, 501);
  assert.deepEqual((said.body.open as { kind: string }[])[0]?.kind, 'header names');
  assert.equal((await guarded.ask({}, 'GET /free')).status, 200);
});

test('where no scheme is stated, everybody is taken for one user; where permissions are open too, on this machine alone', async () => {
  const none = await start(`title: T
purpose: { purpose: P, base_url: none, users: { a: A, b: B }, functions: none }
endpoints: { GET /who: { does: handler who, response: { 200: { type: object } } } }
authentication: none
`);
  assert.deepEqual((await none.ask({ host: 'api.example' })).body, { caller: { id: 'local', user: 'a', scopes: [] } });
  const undecided = await start(`title: T
purpose: { purpose: P, base_url: none, users: { a: A, b: B }, functions: none }
endpoints: { GET /who: { does: handler who, response: { 200: { type: object } } } }
`);
  assert.equal((await undecided.ask()).status, 200);
  for (const host of ['localhost:4009', '[::1]:80', '127.0.0.9']) {
    const said = await undecided.service.fetch(new Request('http://127.0.0.1/who', { headers: { host } }));
    assert.equal(said.status, 200, host);
  }
  for (const host of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1']) {
    const said = await undecided.service.fetch(new Request('http://127.0.0.1/who', { headers: { host } }));
    assert.equal(said.status, 501, host);
    assert.deepEqual(
      ((await said.json()) as { open: { kind: string }[] }).open.map(({ kind }) => kind),
      ['schemes', 'permission rules'],
    );
  }
});

test('an identity that somebody else has found out is taken as it comes', async () => {
  const guarded = await start(notes(keyScheme), {
    identify: ({ headers }: { headers: Record<string, unknown> }) =>
      headers['x-who'] === undefined ? undefined : { id: String(headers['x-who']), user: 'reader', scopes: [] },
  });
  assert.deepEqual((await guarded.ask({ 'x-who': 'gateway' })).body, { caller: { id: 'gateway', user: 'reader', scopes: [] } });
  assert.equal((await guarded.ask()).status, 401);
});

test('a thousand wrong keys do not push out the right ones', async () => {
  for (let n = 0; n < 1000; n++) await keyed.ask({ 'x-api-key': `wrong-${n}` });
  assert.equal((await keyed.ask({ 'x-api-key': first.secret })).status, 200);
  assert.equal(keyed.clock.now(), startMs);
});

test('what is remembered is bounded, and what is used stays', async () => {
  const { Remembered } = await import('../src/serve/callers/remembered.ts');
  const remembered = new Remembered<number>(10);
  for (let n = 0; n < 1000; n++) {
    remembered.set(`k${n}`, n);
    remembered.get('k0');
    assert.ok(remembered.size <= 20);
  }
  assert.equal(remembered.get('k0'), 0);
  assert.equal(remembered.get('k1'), undefined);
  remembered.delete('k0');
  assert.equal(remembered.get('k0'), undefined);
  remembered.clear();
  assert.equal(remembered.size, 0);
});

for (const [what, at] of [
  ['the ledger', '/.well-known/ninefold'],
  ['the export as OpenAPI', '/openapi.json'],
] as const) {
  test(`${what} is read from this machine by everybody, from elsewhere as the operation that the document names`, async () => {
    const elsewhere = { host: 'api.example' };
    const unnamed = await start(notes(keyScheme));
    const { secret } = await addKey(unnamed, {});
    assert.equal((await unnamed.ask({}, `GET ${at}`)).status, 200);
    assert.equal((await unnamed.ask({ ...elsewhere, 'x-api-key': secret }, `GET ${at}`)).status, 404);
    assert.equal((await unnamed.ask(elsewhere, `POST ${at}`)).status, 404);

    const named = await start(
      notes(keyScheme).replace('permissions:', 'permissions:\n    - { allow: [read ledger], to: writer }'),
    );
    const reader = await addKey(named, {});
    const writer = await addKey(named, { user: 'writer' });
    assert.equal((await named.ask({}, `GET ${at}`)).status, 200);
    assert.equal((await named.ask(elsewhere, `GET ${at}`)).status, 401);
    assert.equal((await named.ask({ ...elsewhere, 'x-api-key': 'wrong' }, `GET ${at}`)).status, 401);
    assert.equal((await named.ask({ ...elsewhere, 'x-api-key': reader.secret }, `GET ${at}`)).status, 403);
    const told = await named.ask({ ...elsewhere, 'x-api-key': writer.secret }, `GET ${at}`);
    assert.deepEqual([told.status, JSON.stringify(told.body).includes('"title":"Notes"')], [200, true]);

    const limited = await start(
      notes(keyScheme, 'limits: { rate: [{ per: address, limit: 2, window: 1m }] }').replace(
        'permissions:',
        'permissions:\n    - { allow: [read ledger], to: writer }',
      ),
    );
    const statuses = [];
    for (let times = 0; times < 3; times++)
      statuses.push((await limited.ask({ ...elsewhere, 'x-api-key': 'wrong' }, `GET ${at}`)).status);
    assert.deepEqual(statuses, [401, 401, 429], 'failed logins count here as everywhere');

    const open = await start(notes(keyScheme).replace('public: [ask openly]', 'public: [ask openly, read ledger]'));
    assert.equal((await open.ask(elsewhere, `GET ${at}`)).status, 200);
  });
}

test('who guesses passwords is slowed down after twenty of a minute, others are not, and those who are known already go on', async () => {
  const guarded = await guard(notes('schemes: { login: { type: basic } }', 'limits: { trust_proxies: ["127.0.0.1"] }'));
  await addKey(guarded, { scheme: 'login', id: 'ann', secret: 'a long password' });
  await addKey(guarded, { scheme: 'login', id: 'bob', secret: 'another password' });
  const ask = async (name: string, password: string, from: string) => {
    const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
    return (await guarded.ask({ authorization, 'x-forwarded-for': from })).status;
  };
  assert.equal(await ask('bob', 'another password', '192.0.2.2'), 200);
  for (let at = 0; at < 20; at++) assert.equal(await ask('ann', 'wrong', '192.0.2.1'), 401);
  assert.equal(await ask('ann', 'wrong', '192.0.2.1'), 429);
  assert.equal(await ask('ann', 'a long password', '192.0.2.1'), 429);
  assert.equal(await ask('ann', 'a long password', '192.0.2.2'), 200, 'from elsewhere');
  guarded.clock.advance(60_000);
  assert.equal(await ask('ann', 'a long password', '192.0.2.1'), 200, 'after the minute');
  await guarded.close();
  const counted = await guard(
    notes('schemes: { login: { type: basic } }', 'limits: { rate: [{ per: address, limit: 30, window: 1m }] }'),
  );
  await addKey(counted, { scheme: 'login', id: 'ann', secret: 'a long password' });
  for (let at = 0; at < 25; at++) {
    const authorization = `Basic ${Buffer.from('ann:wrong').toString('base64')}`;
    assert.equal((await counted.ask({ authorization })).status, 401, 'the document counts');
  }
  await counted.close();
});
