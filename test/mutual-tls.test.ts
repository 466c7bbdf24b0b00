import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { request } from 'node:http';
import { test } from 'node:test';
import { check, parseDocument, serve } from '../src/index.ts';
import { mutualTls } from '../src/kinds/schemes/mutual-tls.ts';
import { exported, flaws, plain, readBack } from './openapi/harness.ts';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const document = `
title: Vault
purpose:
  purpose: Keeps notes.
  base_url: http://127.0.0.1/v1
  users: { machine: Keeps its notes here. }
  functions: { keep: [create note, read note, list note, delete note] }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields: { id: string, owner: { type: string, readOnly: true, set: { create: caller.id } }, text: { type: string, maxLength: 40 } }
    required: [id, owner, text]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note }
  GET /notes/{id}: { does: read note }
  DELETE /notes/{id}: { does: delete note }
authentication:
  schemes: { certificate: { type: mutual_tls, header: Client-Cert, placeholder: "{fingerprint}" } }
  permissions:
    - { allow: [create note], to: machine }
    - { allow: [read note, list note, delete note], to: machine, if: "resource.owner == caller.id" }
events: none
errors: { payload: problem }
limits: { rate: none, pagination: none, trust_proxies: [127.0.0.1] }
versioning: none
`;

/** A certificate of a test, as DER, and its fingerprint. */
const der = Buffer.from(
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      '/dev/null',
      '-outform',
      'DER',
      '-days',
      '2',
      '-subj',
      '/CN=machine-1',
    ],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ),
);
const shown = `:${der.toString('base64')}:`;
const fingerprint = hash('sha256', der, 'hex');

/** Asks with a header from an address of this machine. */
function ask(port: number, header: string | undefined, from = '127.0.0.1'): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = header === undefined ? {} : { 'client-cert': header };
    request({ port, host: '127.0.0.1', localAddress: from, path: '/v1/notes', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

test('who is known by its certificate calls through the trusted proxy, and through nobody else', async () => {
  const service = await serve(parseDocument(document, 'vault.yaml'));
  const server = await service.listen({ port: 0 });
  try {
    await service.administer('keys add', { user: 'machine', id: 'm1', secret: shown });
    const colons = fingerprint.replace(/..(?!$)/g, '$&:').toUpperCase();
    for (const header of [shown, fingerprint, colons]) assert.equal(await ask(server.port, header), 200, header);
    const another = `${fingerprint.startsWith('0') ? '1' : '0'}${fingerprint.slice(1)}`;
    const more = `:${Buffer.concat([der, Buffer.of(0)]).toString('base64')}:`;
    for (const header of [undefined, `${shown.slice(0, -2)}:`, more, another, `:${'A'.repeat(4_000)}:`, `${shown}, ${shown}`])
      assert.equal(await ask(server.port, header), 401, header?.slice(0, 80));
    assert.equal(await ask(server.port, shown, '127.0.0.2'), 401, 'another address of this machine is no proxy');
    await assert.rejects(service.administer('keys add', { user: 'machine', id: 'm2' }), /is brought along/);
    await assert.rejects(
      service.administer('keys add', { user: 'machine', id: 'm2', secret: 'k'.repeat(64) }),
      /is brought along/,
    );
  } finally {
    await server.close();
    await service.close();
  }
});

test('a certificate is read as RFC 9440 writes it, or as its fingerprint', () => {
  assert.equal(mutualTls.proof.read(shown), fingerprint);
  assert.equal(mutualTls.proof.read(fingerprint.toUpperCase()), fingerprint);
  for (const text of ['', '::', ':AAAA:', fingerprint.slice(1), der.toString('base64')])
    assert.equal(mutualTls.proof.read(text), undefined);
});

test('without a trusted proxy, or out of a query, it is a finding; OpenAPI has a word for it', async () => {
  const codes = (text: string) => check(parseDocument(text, 'vault.yaml')).findings.map(({ code }) => code);
  assert.deepEqual(codes(document), []);
  for (const stated of ['trust_proxies: none', 'trust_proxies: []'])
    assert.ok(
      codes(document.replace('trust_proxies: [127.0.0.1]', stated)).includes('authentication/certificate-of-anyone'),
      stated,
    );
  assert.deepEqual(codes(document.replace('header: Client-Cert', 'query: cert')), ['authentication/certificate-place']);
  for (const to of ['openapi', 'openapi-3.0']) {
    const openapi = exported(parseDocument(document, 'vault.yaml'), to);
    assert.deepEqual(await flaws(openapi), [], to);
    assert.deepEqual(readBack(openapi).authentication, plain(parseDocument(document, 'vault.yaml').tree).authentication, to);
  }
  const { components } = exported(parseDocument(document, 'vault.yaml')) as never as Written;
  assert.equal(components.securitySchemes.certificate?.type, 'mutualTLS');
});

interface Written {
  readonly components: { readonly securitySchemes: Readonly<Record<string, { readonly type: string }>> };
}

test('a service that knows its callers by certificates is held to it', async () => {
  const stand = await openStand(document, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['authentication'] });
    assert.deepEqual(breaches, []);
    assert.equal(
      facts.find(({ kind }) => kind === 'schemes')?.verdict,
      'held',
      facts.find(({ kind }) => kind === 'schemes')?.why,
    );
  } finally {
    await stand.close();
  }
});

servedOtherwise(document, [
  ['no proxy is trusted', 'trust_proxies: [127.0.0.1]', 'trust_proxies: [10.0.0.1]', 'header names:certificate', /./],
  ['it is told in another header', 'header: Client-Cert', 'header: X-Cert', 'header names:certificate', /./],
]);
servedOtherwise(document, [['any certificate is good', 'title: Vault', 'title: Vaults', 'schemes:service', /./]], {
  relax: 'auth',
});
