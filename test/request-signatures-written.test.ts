import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentialLines } from '../src/cli/serve/announcement.ts';
import { curlLines } from '../src/cli/serve/curl.ts';
import { check, parseDocument, serve } from '../src/index.ts';
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

test('what is printed of a key is enough to sign with, and the curl line beside it is signed already', async () => {
  for (const scheme of [byHmac, byMessage.replace('hmac-sha256, ', ''), inAuthorization]) {
    const report = check(parseDocument(vault(scheme), 'vault.yaml'));
    const service = await serve(report, { development: true });
    const server = await service.listen({ port: 0, host: '127.0.0.1' });
    try {
      const [made] = service.credentials;
      const [key = '', secret = ''] = (made?.value ?? '').split(':');
      const terminal = { columns: 200, colours: false, write: () => {}, complain: () => {} };
      const told = credentialLines(service.credentials, terminal as never).join('\n');
      assert.ok(told.includes(`key ${key}`) && told.includes(secret) && secret.length >= 32, told);
      const lines = curlLines(report.spec, `${server.url}${service.basePath}`, server.url, service.credentials);
      assert.ok(lines.length > 1 && !lines.join('').includes(secret), 'the secret is never sent');
      const line = lines[0] ?? '';
      const headers = [...line.matchAll(/-H '([^':]+): ([^']*)'/g)].map(([, name = '', value = '']) => [name, value] as const);
      const url = /http:[^ ']+/.exec(line)?.[0] ?? '';
      assert.equal((await fetch(url, { headers: Object.fromEntries(headers) })).status, 200, line);
    } finally {
      await server.close();
      await service.close();
    }
  }
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
