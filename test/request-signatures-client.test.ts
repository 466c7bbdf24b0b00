import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { toTypescript } from '../src/convert/typescript.ts';
import { parseDocument, serve } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { byHmac, byMessage, vault } from './request-signatures/vault.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-signing-client-'));
after(() => rmSync(folder, { recursive: true }));

type AnyClient = Readonly<Record<string, (input?: object) => Promise<{ readonly ok: boolean; readonly status: number }>>>;

const withAlgorithm = (name: string) => byMessage.replace(/algorithms: \[[^\]]*\]/, `algorithms: [${name}]`);
const vendor = `{ type: hmac, header: Authorization, prefix: HMAC-SHA512, value: "Key={key_id}, Time={timestamp:ms}, Signature={hmac-sha512:base64}",
    headers: { X-Date: "{nonce}" }, signs: "{method} {path} {query} {host} {timestamp} {nonce} {header:x-shop} {body-sha256:hex}" }`;
const rich = byMessage.replace(
  '"content-digest"]',
  '"content-digest", "content-type", "content-length", "@authority", "@path", "@query", "date"]',
);
const schemes: Readonly<Record<string, string>> = {
  'an HMAC over parts': byHmac,
  'an HMAC of SHA-512 in Authorization': vendor,
  'a message by every algorithm': byMessage,
  'a message with more components': rich,
  ed25519: withAlgorithm('ed25519'),
  'ecdsa-p256-sha256': withAlgorithm('ecdsa-p256-sha256'),
  'rsa-pss-sha512': withAlgorithm('rsa-pss-sha512'),
};

for (const [name, scheme] of Object.entries(schemes))
  test(`the client that is written signs, and is let in: ${name}`, async () => {
    const document = parseDocument(vault(scheme), 'vault.yaml');
    const service = await serve(document, { onFailure: (failure) => assert.fail(String(failure)) });
    const server = await service.listen({ port: 0, host: '127.0.0.1' });
    try {
      // What `keys add` gives.
      const told = (await service.administer('keys add', { user: 'machine', id: 'm1' })) as {
        readonly key: string;
        readonly secret: string;
      };
      const path = join(folder, `${name.replaceAll(/\W/g, '-')}.ts`);
      writeFileSync(path, toTypescript(readSpec(document)));
      const { createClient } = await import(pathToFileURL(path).href);
      const clientOf = (secret: string): AnyClient =>
        createClient({ baseUrl: server.url + service.basePath, credential: { signed: { keyId: told.key, secret } } });
      const client = clientOf(told.secret);
      for (const [call, input, status] of [
        ['createNote', { body: { text: 'héllo' } }, 201],
        ['createNote', { body: { text: 'again' } }, 201],
        ['listNotes', { params: { text: 'a b&c' } }, 200],
        ['listNotes', {}, 200],
        ['readNote', { params: { id: 'a%2Fb' } }, 404],
      ] as const) {
        const answer = await (client[call] ?? client[call.replace(/s$/, '')])?.(input);
        assert.equal(answer?.status, status, `${call} ${JSON.stringify(answer)}`);
      }
      if (!scheme.includes('hmac')) return;
      const refused = await clientOf(`${told.secret}x`).createNote?.({ body: { text: 'other' } });
      assert.equal(refused?.status, 401);
    } finally {
      await server.close();
      await service.close();
    }
  });

test('a client whose callers sign nothing has nothing of it', () => {
  const written = toTypescript(readSpec(parseDocument(vault('{ type: api_key, header: X-Key }'), 'vault.yaml')));
  assert.ok(!/[Ss]ign(?:s|ed|ing|Request)\b/.test(written.replaceAll('signed', '').replaceAll('AbortSignal', '')));
});
