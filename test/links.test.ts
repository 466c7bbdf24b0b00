import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { editions, exported, plain, readBack } from './openapi/harness.ts';
import { type Tried, tryService } from './serving/tried.ts';
import { linked } from './values/linked.ts';

type Fields = Record<string, string | number>;

async function made({ send }: Tried, target: string, body: unknown): Promise<Fields> {
  const { status, text, json } = await send('POST', target, { body });
  assert.equal(status, 201, text);
  return json as Fields;
}

test('a row says where it is read, and where those are that it refers to, below the stated base address', async () => {
  const tried = await tryService(linked);
  const owner = await made(tried, '/v1/owners', { name: 'ann b' });
  assert.equal(owner.url, 'https://files.example/v1/owners/ann%20b');
  const shelf = await made(tried, '/v1/shelves', { owner: 'ann b', name: 'top' });
  assert.deepEqual([shelf.url, shelf.owner_url], ['https://files.example/v1/of/ann%20b/top', owner.url]);
  const file = await made(tried, '/v1/files', { shelf: shelf.id });
  assert.equal(file.url, `https://files.example/v1/files/${file.id}`);
  assert.equal(file.shelf_url, shelf.url);
  assert.equal(file.twin_url, undefined);
  const twin = await made(tried, '/v1/files', { shelf: shelf.id, twin: file.id });
  assert.equal(twin.twin_url, file.url);
  const { json, text } = await tried.send('GET', `/v1/files/${file.id}`);
  assert.deepEqual([(json as Fields).self, (json as Fields).on], [file.url, shelf.url], text);
  // What it is called by changes, and so does the address.
  const renamed = await tried.send('PATCH', '/v1/of/ann%20b/top', { body: { name: 'low' } });
  assert.equal((renamed.json as Fields).url, 'https://files.example/v1/of/ann%20b/low');
  assert.deepEqual(tried.failures, []);
  await tried.close();
});

test('where the version stands in the path, a link names the current one', async () => {
  const tried = await tryService(`${linked}
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { path: "/{version}", default: none }
  changes: { v2: [{ add: owner.url, default: "" }] }
`);
  const { url } = await made(tried, '/v1/v2/owners', { name: 'ann' });
  assert.equal(url, 'https://files.example/v1/v2/owners/ann');
  await tried.close();
});

test('without a base address a link is the path below the host', async () => {
  const tried = await tryService(linked.replace('base_url: https://files.example/v1/', 'purpose: Keeps files.'));
  assert.equal((await made(tried, '/owners', { name: 'ann' })).url, '/owners/ann');
  await tried.close();
});

const findings: readonly (readonly [stated: string, instead: string, code: string, message: RegExp])[] = [
  ['GET /owners/{name}: { does: read owner }', '', 'expressions/no-address', /No endpoint reads one `owner`/],
  [
    'GET /owners/{name}: { does: read owner }',
    'GET /owners/{name}: { does: read owner }\n  GET /people/{name}: { does: read owner, as: read person }',
    'expressions/no-address',
    /both read one `owner`/,
  ],
  [
    'GET /owners/{name}: { does: read owner }',
    'GET /lands/{land}/owners/{name}: { does: read owner }',
    'expressions/no-address',
    /Nothing of one `owner` leads to `\{land\}`/,
  ],
  ['has(next.twin) ? link(next.twin) : null', 'link(next.twin)', 'expressions/may-be-absent', /`next.twin` may be absent/],
  ['link(next.owner)', 'link(next.name)', 'expressions/wrong-type', /takes a row or a reference to one, not a string/],
  ['link(next.owner)', 'link(next.ower)', 'expressions/unknown-field', /no field `ower`/],
  ['link(next.owner)', '"link(next.owner, 1)"', 'expressions/does-not-parse', /takes one row/],
  ['link(next.owner)', 'lnk(next.owner)', 'expressions/not-in-scope', /no function `lnk`/],
  [
    'required: [id, owner, name, url, owner_url]',
    'required: [id, owner, url, owner_url]',
    'expressions/may-be-absent',
    /`next.name` may be absent here, and the address needs it/,
  ],
];

for (const [stated, instead, code, message] of findings)
  test(`${code} where ${instead === '' ? 'the endpoint is left out' : `\`${instead}\` stands`}`, () => {
    assert.ok(linked.includes(stated));
    const { findings: found } = check(
      parseDocument(
        linked.replace(stated, () => instead),
        'linked.yaml',
      ),
    );
    const errors = found.filter(({ severity }) => severity === 'error');
    assert.ok(
      errors.some((one) => one.code === code && message.test(one.message)),
      errors.map((one) => `${one.code} ${one.message}`).join('; '),
    );
  });

test('links are read back from OpenAPI as they were stated, and a sound document has no finding about them', () => {
  const document = parseDocument(linked, 'linked.yaml');
  assert.deepEqual(
    check(document).findings.filter(({ severity }) => severity === 'error'),
    [],
  );
  for (const to of Object.keys(editions)) assert.deepEqual(readBack(exported(document, to)), plain(document.tree));
});
