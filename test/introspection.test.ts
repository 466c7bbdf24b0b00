import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { isLong, oneOfEach } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { guard, notes, startSeconds } from './serving/guarded.ts';
import { orders } from './values/orders.ts';
import { openStand, type StandOptions } from './verify/stand.ts';

/** An authorization server at a loopback address; what it says of a token is what stands here. */
const said = new Map<string, unknown>();
const asked: { readonly token: string; readonly authorization: string | undefined }[] = [];
let status = 200;
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (piece) => {
    body += piece;
  });
  request.on('end', () => {
    const form = new URLSearchParams(body);
    const token = form.get('token') ?? '';
    asked.push({ token, authorization: request.headers.authorization });
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' });
    const answer = said.get(token) ?? { active: false };
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
after(() => {
  server.closeAllConnections();
  server.close();
});
// It listens on a port.
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/introspect`;

const schemeWith = (more: string) =>
  `schemes: { token: { type: introspection, introspect: "${address}", client: notes app, secret_env: SECRET, issuer: https://id.example, audience: notes${more}, caller: { id: claims.sub, user: claims.role } } }`;
const good = { active: true, sub: 'ann', role: 'reader', scope: 'a b', iss: 'https://id.example', aud: ['notes', 'others'] };
const environment = { SECRET: 'a secret' };

test('a token is what its server says of it, and who it says that it is', async () => {
  const guarded = await guard(notes(schemeWith('')), { environment });
  const ask = (token: string) => guarded.ask({ authorization: `Bearer ${token}` });
  for (const [token, answer, expected] of [
    ['good', good, 200],
    ['inactive', { ...good, active: false }, 401],
    ['active-by-word', { ...good, active: 'true' }, 401],
    ['ended', { ...good, exp: startSeconds - 1 }, 401],
    ['not-begun', { ...good, nbf: startSeconds + 60 }, 401],
    ['other-issuer', { ...good, iss: 'https://other.example' }, 401],
    ['without-issuer', { ...good, iss: undefined }, 401],
    ['other-audience', { ...good, aud: 'others' }, 401],
    ['nobody', { ...good, sub: undefined }, 401],
    ['no-user', { ...good, role: 'ghost' }, 401],
  ] as const) {
    said.set(token, answer);
    assert.equal((await ask(token)).status, expected, token);
  }
  const { body } = await ask('good');
  const { id, user, scopes } = body.caller as { id: string; user: string; scopes: string[] };
  assert.deepEqual([id, user, scopes], ['ann', 'reader', ['a', 'b']]);
  const basic = `Basic ${Buffer.from('notes+app:a+secret').toString('base64')}`;
  assert.ok(asked.every(({ authorization }) => authorization === basic));
  await guarded.close();
});

test('an answer holds for its time and no longer, and never beyond the end of its token', async () => {
  const guarded = await guard(notes(schemeWith(', cache: 30s')), { environment });
  const ask = async () => (await guarded.ask({ authorization: 'Bearer held' })).status;
  const count = () => asked.filter(({ token }) => token === 'held').length;
  said.set('held', { ...good, exp: startSeconds + 40 });
  assert.deepEqual([await ask(), await ask(), count()], [200, 200, 1]);
  said.set('held', { active: false });
  guarded.clock.advance(29_000);
  assert.deepEqual([await ask(), count()], [200, 1]);
  guarded.clock.advance(1_000);
  assert.deepEqual([await ask(), count()], [401, 2]);
  said.set('held', { ...good, exp: startSeconds + 40 });
  guarded.clock.advance(9_999);
  assert.deepEqual([await ask(), count()], [401, 2], 'that it is none is held for as long');
  await guarded.close();
});

test('where its server cannot be asked, nobody is let in', async () => {
  const guarded = await guard(notes(schemeWith(', cache: 0s')), { environment });
  const ask = async (token = 'there') => (await guarded.ask({ authorization: `Bearer ${token}` })).status;
  said.set('there', good);
  assert.equal(await ask(), 200);
  for (const broken of [500, 302, 401]) {
    status = broken;
    assert.equal(await ask(), 503, String(broken));
  }
  status = 200;
  said.set('garbled', '{');
  said.set('listed', [good]);
  said.set('large', { ...good, more: 'x'.repeat(70_000) });
  for (const token of ['garbled', 'listed', 'large']) assert.equal(await ask(token), 503, token);
  assert.equal(await ask('x'.repeat(9_000)), 401);
  assert.equal(await ask(), 200);
  assert.equal(guarded.failures.length, 6);
  await guarded.close();
  const lacking = await guard(notes(schemeWith('')), { environment: {} });
  assert.equal((await lacking.ask({ authorization: 'Bearer there' })).status, 503);
  await lacking.close();
});

test('requests that show one token at once ask about it once', async () => {
  const guarded = await guard(notes(schemeWith('')), { environment });
  said.set('shared', good);
  const all = await Promise.all(Array.from({ length: 8 }, () => guarded.ask({ authorization: 'Bearer shared' })));
  assert.deepEqual([...new Set(all.map((one) => one.status))], [200]);
  assert.equal(asked.filter(({ token }) => token === 'shared').length, 1);
  await guarded.close();
});

const document = orders.replace(
  /schemes: \{.*\}/,
  'schemes: { token: { type: introspection, introspect: "https://id.example/introspect", cache: 10s } }',
);

test('a scheme that asks goes through OpenAPI and comes back', () => {
  const read = parseDocument(`title: Orders\n${document}`, 'orders.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(read, to)), plain(read.tree));
});

/** A service that takes what is nearly a token for the token. */
function takes(isNear: (token: string, good: string) => boolean): Pick<StandOptions, 'bend'> {
  let good = '';
  return {
    bend: ({ headers }) => {
      const token = /^Bearer (.+)$/.exec(String(headers.authorization ?? ''))?.[1];
      if (token === undefined) return {};
      good ||= token;
      return isNear(token, good) ? { headers: { ...headers, authorization: `Bearer ${good}` } } : {};
    },
  };
}

const faults: readonly (readonly [what: string, wrong: Pick<StandOptions, 'bend'>])[] = [
  ['the end of a token is not looked at', takes((token, good) => token.startsWith(good.slice(0, -1)))],
  ['a token with something behind it is one', takes((token, good) => token.startsWith(good))],
  ['a word that nobody gave out is a token', takes((token) => token === 'ninefold-verify')],
];

for (const [what, wrong] of oneOfEach(faults, () => 'a credential')) {
  test(`verify finds that ${what}`, async () => {
    const stand = await openStand(document.replace('https://id.example/introspect', address), { ...wrong, inPairs: true });
    try {
      const { breaches } = await stand.verify({ until: ({ kind }) => kind === 'schemes' });
      assert.ok(breaches.some(({ kind }) => kind === 'schemes'));
    } finally {
      await stand.close();
    }
  });
}

test('a service whose tokens are asked about is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(document.replace('https://id.example/introspect', address), { inPairs: true });
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
