import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addKey, type Guarded, guard, keyScheme, notes } from './serving/guarded.ts';

/** Browsers: which pages may call (CORS), and what no page of elsewhere may have done with somebody's cookie. */
const open: Guarded[] = [];
after(() => Promise.all(open.map((guarded) => guarded.close())));

async function start(text: string): Promise<Guarded> {
  const guarded = await guard(text);
  open.push(guarded);
  return guarded;
}

const app = 'https://app.example';
const corsNames = ['origin', 'methods', 'headers', 'credentials'].map((word) => `access-control-allow-${word}`);
const corsOf = (headers: Headers) =>
  Object.fromEntries(
    [...corsNames, 'access-control-expose-headers', 'vary'].map((name) => [
      name.replace(/^access-control-(allow-)?/, ''),
      headers.get(name),
    ]),
  );
const nothing = { origin: null, methods: null, headers: null, credentials: null, 'expose-headers': null };

const preflightOf = (origin: string) => ({
  origin,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'content-type,x-api-key',
});

for (const origins of ['', 'origins: none', 'origins: !open "Which?"', 'origins: []']) {
  test(`nothing is said to browsers where no origin is stated: ${origins || 'nothing'}`, async () => {
    const guarded = await start(notes(`${keyScheme}\n${origins}`));
    const { secret } = await addKey(guarded, {});
    const said = await guarded.ask({ origin: app, 'x-api-key': secret });
    assert.deepEqual(corsOf(said.headers), { ...nothing, vary: 'X-API-Key' });
    const asked = await guarded.ask(preflightOf(app), 'OPTIONS /notes');
    assert.deepEqual([asked.status, corsOf(asked.headers)], [204, { ...nothing, vary: null }]);
  });
}

const named = await start(notes(`${keyScheme}\norigins: [${app}, "http://localhost:5173"]`));
const { secret: namedKey } = await addKey(named, {});

test('a page of a stated origin may read the answer, and all of its headers', async () => {
  for (const origin of [app, 'http://localhost:5173']) {
    const said = await named.ask({ origin, 'x-api-key': namedKey });
    assert.equal(said.status, 200);
    assert.deepEqual(corsOf(said.headers), { ...nothing, origin, vary: 'X-API-Key, Origin' });
  }
  const made = await named.ask({ origin: app, 'x-api-key': namedKey }, 'POST /notes', { id: 'n1' });
  assert.equal(made.status, 201);
  assert.equal(made.headers.get('access-control-expose-headers'), 'location');
});

test('a refusal can be read as well, so that the page learns what is wrong', async () => {
  const said = await named.ask({ origin: app });
  assert.equal(said.status, 401);
  assert.deepEqual(corsOf(said.headers), {
    ...nothing,
    origin: app,
    'expose-headers': 'www-authenticate',
    vary: 'X-API-Key, Origin',
  });
  assert.equal((await named.ask({ origin: app }, 'GET /nowhere')).headers.get('access-control-allow-origin'), app);
});

const strangers = [
  'https://evil.example',
  'http://app.example',
  'https://app.example:8443',
  'https://app.example.evil.example',
  'null',
  '',
];
for (const origin of strangers) {
  test(`a page of ${JSON.stringify(origin)} may not read it, and no cache takes it for another's`, async () => {
    const said = await named.ask({ origin, 'x-api-key': namedKey });
    assert.deepEqual(corsOf(said.headers), { ...nothing, vary: 'X-API-Key, Origin' });
    const asked = await named.ask(preflightOf(origin), 'OPTIONS /notes');
    assert.deepEqual(corsOf(asked.headers), { ...nothing, vary: 'Origin' });
  });
}

test('without an origin there is nothing to say but that it would matter', async () => {
  const said = await named.ask({ 'x-api-key': namedKey });
  assert.deepEqual(corsOf(said.headers), { ...nothing, vary: 'X-API-Key, Origin' });
});

test('a preflight is told the methods of the path and that its headers may be sent, without a credential', async () => {
  const asked = await named.ask(preflightOf(app), 'OPTIONS /notes');
  assert.equal(asked.status, 204);
  assert.deepEqual(corsOf(asked.headers), {
    ...nothing,
    origin: app,
    methods: asked.headers.get('allow'),
    headers: 'content-type,x-api-key',
    vary: 'Origin',
  });
  assert.match(asked.headers.get('allow') ?? '', /GET.*POST.*OPTIONS|POST.*GET.*OPTIONS/);
  const nowhere = await named.ask(preflightOf(app), 'OPTIONS /nowhere');
  assert.equal(nowhere.status, 404);
  assert.equal(nowhere.headers.get('access-control-allow-methods'), null);
  const odd = await named.ask({ ...preflightOf(app), 'access-control-request-headers': 'a b' }, 'OPTIONS /notes');
  assert.equal(odd.headers.get('access-control-allow-headers'), null);
});

test('with `*` every page may read, and cookies never go along', async () => {
  const guarded = await start(notes('schemes: { session: { type: api_key, cookie: session } }\norigins: ["*"]'));
  const said = await guarded.ask({ origin: 'https://anybody.example' });
  assert.deepEqual(corsOf(said.headers), { ...nothing, origin: '*', 'expose-headers': 'www-authenticate', vary: 'Cookie' });
});

test('cookies go along to a named origin where a cookie is accepted', async () => {
  const guarded = await start(notes(`schemes: { session: { type: api_key, cookie: session } }\norigins: [${app}, "*"]`));
  assert.equal((await guarded.ask({ origin: app })).headers.get('access-control-allow-credentials'), 'true');
  const other = await guarded.ask({ origin: 'https://other.example' });
  assert.deepEqual(corsOf(other.headers), {
    ...nothing,
    origin: '*',
    'expose-headers': 'www-authenticate',
    vary: 'Cookie, Origin',
  });
});

const cookies = await start(
  notes(`schemes:\n  session: { type: api_key, cookie: session }\n  key: { type: api_key, header: X-API-Key }\norigins: [${app}]`)
    .replace('GET /who:', 'GET /make/{id}: { does: create note, as: make note }\n  GET /who:')
    .replace('all note', 'all note, make note'),
);
const { secret: session } = await addKey(cookies, { scheme: 'session' });
const { secret: headerKey } = await addKey(cookies, { scheme: 'key' });
let count = 0;
const writing = async (headers: Readonly<Record<string, string>>, line = 'POST /notes') => {
  count += 1;
  const said = await cookies.ask(
    { cookie: `session=${session}`, ...headers },
    line,
    line.startsWith('GET') ? undefined : { id: `n${count}` },
  );
  return said.status;
};

const sites: readonly (readonly [what: string, headers: Readonly<Record<string, string>>, status: number])[] = [
  ['nothing, as no browser sends it', {}, 201],
  ['its own site', { 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1' }, 201],
  ['the address bar', { 'sec-fetch-site': 'none' }, 201],
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403],
  ['another site that hides where', { 'sec-fetch-site': 'cross-site', origin: 'null' }, 403],
  ['another site without an origin', { 'sec-fetch-site': 'cross-site' }, 403],
  ['a neighbour', { 'sec-fetch-site': 'same-site', origin: 'http://evil.127.0.0.1' }, 403],
  ['another site under our own name', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1' }, 403],
  ['a stated origin', { 'sec-fetch-site': 'cross-site', origin: app }, 201],
  ['an unknown word', { 'sec-fetch-site': 'sideways' }, 403],
  ['an old browser on its own site', { origin: 'http://127.0.0.1' }, 201],
  ['an old browser on another site', { origin: 'https://evil.example' }, 403],
  ['an old browser on another port', { origin: 'http://127.0.0.1:8080' }, 403],
  ['an old browser that hides where', { origin: 'null' }, 403],
];
for (const [what, headers, status] of sites) {
  test(`a cookie and ${what}: a write is answered ${status}`, async () => {
    assert.equal(await writing(headers), status);
    assert.equal((await cookies.ask({ cookie: `session=${session}`, ...headers })).status, 200, 'reading changes nothing');
  });
}

test('what writes by GET is a write too', async () => {
  const evil = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await cookies.ask({ cookie: `session=${session}`, ...evil }, 'GET /make/x1')).status, 403);
  assert.notEqual((await cookies.ask({ cookie: `session=${session}` }, 'GET /make/x1')).status, 403);
});

test('a key in a header is sent by nobody but who has it, from wherever', async () => {
  const said = await cookies.ask(
    { 'x-api-key': headerKey, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    'POST /notes',
    { id: 'k1' },
  );
  assert.equal(said.status, 201);
});

test('a bad cookie is a bad credential, whatever site it comes from', async () => {
  const said = await cookies.ask({ cookie: 'session=wrong', 'sec-fetch-site': 'cross-site' }, 'POST /notes', { id: 'b1' });
  assert.equal(said.status, 401);
});

test('a name and its password are sent by a browser without being asked, as a cookie is', async () => {
  const guarded = await start(notes('schemes: { login: { type: basic } }'));
  const { secret, name } = { secret: 'a long password', name: 'ann' };
  await addKey(guarded, { scheme: 'login', id: name, secret });
  const authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const evil = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  assert.equal((await guarded.ask({ authorization, ...evil }, 'POST /notes', { id: 'b1' })).status, 403);
  assert.equal((await guarded.ask({ authorization, ...evil })).status, 200, 'reading changes nothing');
  assert.equal((await guarded.ask({ authorization }, 'POST /notes', { id: 'b1' })).status, 201);
});

const evil = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };

test('a handler at a GET that a page of another site asks by cookie may look, and is refused when it writes', async () => {
  let made: string | undefined;
  const guarded = await guard(notes('schemes: { session: { type: api_key, cookie: session } }'), {
    handlers: {
      who: ({ caller, store }: { caller: unknown; store: { create(resource: string, row: object): void } }) => {
        if (made !== undefined) store.create('note', { id: made });
        return { caller };
      },
    } as never,
  });
  open.push(guarded);
  const { secret } = await addKey(guarded, { scheme: 'session' });
  const cookie = `session=${secret}`;
  assert.equal((await guarded.ask({ cookie, ...evil })).status, 200);
  made = 'n1';
  assert.equal((await guarded.ask({ cookie, ...evil })).status, 403);
  assert.equal((await guarded.ask({ cookie }, 'GET /notes/n1')).status, 404, 'nothing of it was stored');
  assert.equal((await guarded.ask({ cookie })).status, 200);
  assert.equal((await guarded.ask({ cookie }, 'GET /notes/n1')).status, 200);
  assert.deepEqual(guarded.failures, []);
});

test('what is open to this machine is not open to the pages that its browsers show', async () => {
  for (const authentication of [
    'authentication: none',
    '',
    `authentication: { schemes: none, permissions: none, origins: ["${app}"] }`,
  ]) {
    const guarded = await start(`title: T
purpose: { purpose: P, base_url: none, users: { a: A }, functions: none }
resources: { note: { identifier: { field: id, generate: client }, fields: { id: string }, required: [id] } }
endpoints: { POST /notes: { does: create note }, GET /notes: { does: list note } }
${authentication}
`);
    const write = (headers: Readonly<Record<string, string>>, id: string) => guarded.ask(headers, 'POST /notes', { id });
    assert.equal((await write(evil, 'a')).status, 403, authentication);
    assert.equal((await write({ origin: 'null' }, 'b')).status, 403);
    assert.equal((await write({}, 'c')).status, 201);
    assert.equal((await write({ 'sec-fetch-site': 'same-origin', origin: 'http://127.0.0.1' }, 'd')).status, 201);
    assert.equal((await guarded.ask(evil, 'GET /notes')).status, 200, 'looking is for the browser to forbid');
    const stated = await write({ 'sec-fetch-site': 'cross-site', origin: app }, 'e');
    assert.equal(stated.status, authentication.includes(app) ? 201 : 403);
  }
});

test('a name of elsewhere that was made to lead to this machine is refused, but in production', async () => {
  const { request: send } = await import('node:http');
  const text = `title: T
purpose: { purpose: P, base_url: none, users: { a: A }, functions: none }
endpoints: { GET /hello: { does: reply, as: hello, response: { 200: { shape: { type: string, example: hello } } } } }
authentication: none
`;
  for (const production of [false, true]) {
    const guarded = await guard(text, { production });
    open.push(guarded);
    const { port, close } = await guarded.service.listen({ port: 0 });
    const status = (host: string, more: Readonly<Record<string, string>> = {}) =>
      new Promise<number>((resolve, reject) => {
        const asked = send({ host: '127.0.0.1', port, path: '/hello', headers: { host, ...more } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        asked.on('error', reject).end();
      });
    assert.equal(await status(`localhost:${port}`), 200);
    assert.equal(await status('evil.example'), production ? 200 : 403);
    assert.equal(await status('api.example', { 'x-forwarded-for': '192.0.2.1' }), 200, 'what a proxy brings comes by any name');
    await close();
  }
});
