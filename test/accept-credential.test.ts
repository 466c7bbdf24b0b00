import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';
import type { ServeOptions } from '../src/serve/service/service.ts';

const notes = (authentication: string) => `
title: Notes
purpose: { users: { writer: Writes notes. } }
resources:
  note: { identifier: { field: id, generate: uuid }, fields: { id: string, text: string, owner: { type: string, readOnly: true, set: { create: caller.id } } }, required: [id] }
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note }
  GET /about: { does: reply, response: { "200": string } }
${authentication}
`;
const withSchemes = notes(`authentication:
  schemes: { bearer: { type: oauth2, header: Authorization }, key: { type: api_key, header: X-Key } }
  permissions: [{ allow: [all note], to: writer }]
  public: [GET /about]
`);
const own = 'sk_test_4eC39HqLyjWDarjtT1zdp7dc';

async function statuses(
  document: string,
  options: ServeOptions,
  requests: readonly (readonly [string, Record<string, string>])[],
) {
  const service = await serveSpec(check(parseDocument(document, 'notes.yaml')).spec, {
    sample: true,
    development: true,
    ...options,
  });
  try {
    const told = [];
    for (const [path, headers] of requests)
      told.push((await service.fetch(new Request(`http://127.0.0.1${path}`, { headers }))).status);
    return told;
  } finally {
    await service.close();
  }
}

const shown = [
  ['/notes', { authorization: `Bearer ${own}` }],
  ['/notes', { authorization: `Token token="${own}"` }],
  ['/notes', { authorization: `AWS4-HMAC-SHA256 Credential=${own}/20261129/us-east-1, Signature=x` }],
  ['/notes', { authorization: `Basic ${btoa(`${own}:`)}` }],
  ['/notes', { authorization: `Basic ${btoa(`somebody:${own}`)}` }],
  ['/notes', { 'private-token': own }],
  [`/notes?apikey=${own}`, {}],
] as const;
const others = [
  ['/notes', {}],
  ['/notes', { authorization: `Bearer ${own}0` }],
  ['/notes', { authorization: `Bearer ${own.slice(1)}` }],
  ['/notes', { authorization: `Basic ${btoa('somebody:else')}` }],
  ['/notes', { 'x-key': 'other' }],
  ['/notes?apikey=other', {}],
  ['/notes', { cookie: `session=${own}` }],
] as const;

test('a credential that a client has anyhow is taken wherever it is shown, and no other is, whether schemes are stated or not', async () => {
  for (const document of [withSchemes, notes('')]) {
    assert.deepEqual(
      await statuses(document, { acceptCredentials: ['other one', own] }, shown),
      shown.map(() => 200),
    );
    assert.deepEqual(
      await statuses(document, { acceptCredentials: [own] }, others),
      others.map(() => 401),
    );
  }
});

test('what is public asks for none, and without the option nothing is taken that was not made here', async () => {
  assert.deepEqual(await statuses(withSchemes, { acceptCredentials: [own] }, [['/about', {}]]), [200]);
  assert.deepEqual(
    await statuses(withSchemes, {}, shown),
    shown.map(() => 401),
  );
});

test('one credential is one caller, and a page of another site is not let in by what a browser sends by itself', async () => {
  const service = await serveSpec(check(parseDocument(withSchemes, 'notes.yaml')).spec, {
    sample: true,
    acceptCredentials: [own, 'another'],
  });
  try {
    const ownerOf = async (headers: Record<string, string>) => {
      const answer = await service.fetch(
        new Request('http://127.0.0.1/notes', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{}',
        }),
      );
      return answer.status === 201 ? ((await answer.json()) as { owner: string }).owner : answer.status;
    };
    const [first, again, other] = [
      await ownerOf({ authorization: `Bearer ${own}` }),
      await ownerOf({ 'x-key': own }),
      await ownerOf({ authorization: 'Bearer another' }),
    ];
    assert.equal(first, again);
    assert.notEqual(first, other);
    assert.doesNotMatch(String(first), /sk_test/);
    const foreign = await ownerOf({ authorization: `Basic ${btoa(`${own}:`)}`, origin: 'https://evil.example' });
    assert.ok(typeof foreign === 'number' && foreign >= 400, String(foreign));
  } finally {
    await service.close();
  }
});

test('an empty text is no credential, and a service that others rely on takes none that is brought', async () => {
  const spec = check(parseDocument(withSchemes, 'notes.yaml')).spec;
  await assert.rejects(serveSpec(spec, { acceptCredentials: [own, ' '] }), /an empty text is no credential/);
  await assert.rejects(serveSpec(spec, { production: true, acceptCredentials: [own] }), /leave it out in production/);
});
