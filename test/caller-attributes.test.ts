import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { parseDocument, serve, Unfit } from '../src/index.ts';
import { isLong, oneOfEach } from './long.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { type Guarded, guard, startSeconds } from './serving/guarded.ts';
import { firms } from './values/firms.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const secret = 'thirty-two bytes, and not one less';
const environment = { SECRET: secret };
const document = `title: Firms\n${firms}`;

const tokenOf = (claims: Readonly<Record<string, unknown>>) =>
  new SignJWT({ ...claims, exp: startSeconds + 600 }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret));
const bearing = async (claims: Readonly<Record<string, unknown>>) => ({ authorization: `Bearer ${await tokenOf(claims)}` });

async function keyFor({ service }: Guarded, id: string, firm: string): Promise<Record<string, string>> {
  const made = await service.administer('keys add', { user: 'clerk', id, attributes: { firm } });
  return { 'x-key': String((made as { secret: string }).secret) };
}

test('a row is of the firm of whoever makes it, and who is of another firm sees nothing of it', async () => {
  const guarded = await guard(document, { environment });
  const ann = await bearing({ sub: 'ann', org: 'acme' });
  const bob = await keyFor(guarded, 'bob', 'acme');
  const eve = await keyFor(guarded, 'eve', 'other');
  const { body } = await guarded.ask(ann, 'POST /notes', { text: 'one' });
  assert.equal(body.firm, 'acme');
  const line = `/notes/${body.id}`;
  assert.equal((await guarded.ask(bob, `GET ${line}`)).status, 200);
  assert.equal((await guarded.ask(eve, `GET ${line}`)).status, 404);
  assert.equal((await guarded.ask(eve, `PATCH ${line}`, { text: 'two' })).status, 404);
  assert.equal((await guarded.ask(bob, `PATCH ${line}`, { text: 'two' })).status, 200);
  const totals = await Promise.all([ann, bob, eve].map(async (who) => (await guarded.ask(who, 'GET /notes')).body.total));
  assert.deepEqual(totals, [1, 1, 0]);
  assert.deepEqual(guarded.failures, []);
  await guarded.close();
});

test('who lacks an attribute is nobody, and no attribute takes the place of what every caller has', async () => {
  const guarded = await guard(document, { environment });
  for (const claims of [
    { sub: 'ann' },
    { sub: 'ann', org: '' },
    { sub: 'ann', org: 7 },
    { sub: 'ann', org: ['acme'] },
    { sub: 'ann', firm: 'acme' },
  ])
    assert.equal((await guarded.ask(await bearing(claims), 'GET /notes')).status, 401, JSON.stringify(claims));
  const both = { ...(await bearing({ sub: 'ann', org: 'acme' })), ...(await keyFor(guarded, 'ann', 'other')) };
  assert.equal((await guarded.ask(both, 'GET /notes')).status, 401, 'one caller is of one firm');
  await guarded.close();
});

test('who is told by somebody else has the attributes that are told, and is nobody without them', async () => {
  let attributes: Readonly<Record<string, string>> | undefined = { firm: 'acme' };
  const service = await serve(parseDocument(document, 'firms.yaml'), {
    store: ':memory:',
    identify: () => ({ id: 'ann', user: 'clerk', scopes: [], ...(attributes && { attributes }) }),
  });
  const make = async () => {
    const body = JSON.stringify({ text: 'one' });
    const headers = { 'content-type': 'application/json' };
    const answer = await service.fetch(new Request('http://localhost/notes', { method: 'POST', body, headers }));
    return { status: answer.status, firm: ((await answer.json()) as { firm?: string }).firm };
  };
  assert.deepEqual(await make(), { status: 201, firm: 'acme' });
  attributes = undefined;
  assert.equal((await make()).status, 401);
  await service.close();
});

test('a key is given out with every attribute that is stated and no other, and keeps them when it is rotated', async () => {
  const guarded = await guard(document, { environment });
  const add = (attributes: Readonly<Record<string, string>>) =>
    guarded.service.administer('keys add', { user: 'clerk', id: 'bob', attributes });
  await assert.rejects(add({}), Unfit);
  await assert.rejects(add({ firm: '' }), Unfit);
  await assert.rejects(add({ firm: 'acme', id: 'eve' }), Unfit);
  const { key } = (await add({ firm: 'acme' })) as { key: string };
  const rotated = (await guarded.service.administer('keys rotate', { key })) as { secret: string; attributes: unknown };
  assert.deepEqual(rotated.attributes, { firm: 'acme' });
  const { body } = await guarded.ask({ 'x-key': rotated.secret }, 'POST /notes', { text: 'one' });
  assert.equal(body.firm, 'acme');
  await guarded.close();
});

test('attributes of callers go through OpenAPI and come back', () => {
  const read = parseDocument(document, 'firms.yaml');
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(read, to)), plain(read.tree));
});

const field = 'allowed values:note.firm';
const rows: readonly Otherwise[] = [
  [
    'a row is of whoever makes it, and not of its firm',
    'set: { create: caller.firm }',
    'set: { create: caller.id }',
    field,
    /.*/,
  ],
  ['every row is of one firm', 'set: { create: caller.firm }', `set: { create: "'acme'" }`, field, /.*/],
  ['every row is of what its maker is', 'set: { create: caller.firm }', 'set: { create: caller.user }', field, /.*/],
];

servedOtherwise(
  firms,
  oneOfEach(rows, ([, , , breaks]) => breaks),
  { environment },
);

test('a service of firms is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(firms, { inPairs: true, serve: { environment } });
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
