import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { exported, flaws, plain, readBack } from './openapi/harness.ts';
import { byHmac, byMessage, vault } from './request-signatures/vault.ts';

const inAuthorization = byHmac.replace('X-Signature', 'Authorization, prefix: HMAC-SHA256');

interface Written {
  readonly components: { readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
}

test('OpenAPI says where a signature stands, and reads back what it is over', async () => {
  for (const scheme of [byHmac, byMessage, inAuthorization])
    for (const to of ['openapi', 'openapi-3.0']) {
      const document = parseDocument(vault(scheme), 'vault.yaml');
      const openapi = exported(document, to);
      assert.deepEqual(await flaws(openapi), [], to);
      assert.deepEqual(readBack(openapi).authentication, plain(document.tree).authentication, `${to} ${scheme.slice(0, 60)}`);
    }
  const written = (scheme: string) => {
    // What an export of OpenAPI has.
    const { components } = exported(parseDocument(vault(scheme), 'vault.yaml')) as never as Written;
    const { type, in: place, name, scheme: word } = components.securitySchemes.signed ?? {};
    return { type, place, name, word };
  };
  assert.deepEqual(written(byHmac), { type: 'apiKey', place: 'header', name: 'X-Signature', word: undefined });
  assert.deepEqual(written(byMessage), { type: 'apiKey', place: 'header', name: 'Signature', word: undefined });
  assert.deepEqual(written(inAuthorization), { type: 'http', place: undefined, name: undefined, word: 'HMAC-SHA256' });
});

test('a signature that the document of somebody else speaks of lets nobody in', () => {
  const scheme = { type: 'http', scheme: 'hmac' };
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Others', version: '1' },
    paths: { '/notes': { get: { responses: { 200: { description: 'Notes.' } } } } },
    components: { securitySchemes: { signed: scheme } },
    security: [{ signed: [] }],
  };
  const { spec } = check(parseDocument(JSON.stringify(openapi), 'openapi.json'));
  const { schemes } = spec.authentication;
  assert.equal(schemes.standing === 'stated' ? schemes.value.signed?.type : undefined, 'unverifiable');
});
