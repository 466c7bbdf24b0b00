import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { verify } from '../src/verify/verify.ts';
import { credential, type Fault, openReference } from './request-signatures/reference.ts';
import { byHmac, byMessage, vault } from './request-signatures/vault.ts';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const kinds = [
  { kind: 'hmac', document: vault(byHmac) },
  {
    kind: 'message',
    document: vault(byMessage.replace(/algorithms: \[[^\]]*\]/, 'algorithms: [hmac-sha256]').replace(' }', ', tolerance: 2m }')),
  },
] as const;

for (const { kind, document } of kinds) {
  const held = (url: string, only: readonly string[]) =>
    verify(check(parseDocument(document, 'vault.yaml')).spec, {
      url: `${url}/v1`,
      callers: [{ user: 'machine', id: 'm1', credential }],
      seed: 1,
      only: [...only],
      timeMs: 120_000,
    });

  test(`a service that somebody else wrote, and that knows who has signed, is held to it: ${kind}`, async () => {
    const reference = await openReference(kind);
    try {
      const { breaches, facts } = await held(reference.url, ['authentication']);
      assert.deepEqual(
        breaches.map(({ reason, promised, seen }) => [reason, promised, seen]),
        [],
      );
      for (const wanted of ['schemes:service', 'token formats:signed', 'header names:signed'])
        assert.equal(facts.find((fact) => `${fact.kind}:${fact.subject}` === wanted)?.verdict, 'held', wanted);
    } finally {
      await reference.close();
    }
  });

  const faults: readonly (readonly [Fault, RegExp])[] = [
    ['secret', /secret|key|signature/],
    ['body', /body/],
    ['time', /time is over/],
    ['future', /time is to come/],
    ['unsigned', /nobody|there is no/],
    ...(kind === 'hmac'
      ? ([
          ['query', /query/],
          ['target', /a query that is signed/],
          ['method', /method/],
          ['replay', /came before/],
        ] as const)
      : ([
          ['covered', /does not cover/],
          ['parameters', /another time/],
          ['algorithm', /another algorithm/],
        ] as const)),
  ];
  describe(`what is wrong with how it looks at signatures is found: ${kind}`, { concurrency: 4 }, () => {
    for (const [fault, reason] of faults)
      test(fault, async () => {
        const reference = await openReference(kind, fault);
        try {
          const { breaches } = await held(reference.url, ['authentication']);
          assert.ok(
            breaches.some((breach) => reason.test(breach.reason)),
            breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`).join('; '),
          );
          assert.ok(!JSON.stringify(breaches).includes(credential.split(':')[1] ?? ''), 'no report tells the secret');
        } finally {
          await reference.close();
        }
      });
  });
}

for (const scheme of [
  byHmac,
  byMessage,
  byMessage.replace('hmac-sha256, ', ''),
  byHmac.replace('X-Signature', 'Authorization, prefix: HMAC-SHA256'),
])
  test(`our own service is held to what it states: ${scheme.slice(0, 70)}`, async () => {
    const stand = await openStand(vault(scheme), { inPairs: true });
    try {
      const { breaches, facts } = await stand.verify({ only: ['authentication', 'errors'] });
      assert.deepEqual(
        breaches.map(({ kind, reason, promised, seen }) => [kind, reason, promised, seen]),
        [],
      );
      for (const wanted of ['schemes:service', 'token formats:signed', 'header names:signed']) {
        const fact = facts.find((one) => `${one.kind}:${one.subject}` === wanted);
        assert.equal(fact?.verdict, 'held', `${wanted} ${fact?.why}`);
      }
    } finally {
      await stand.close();
    }
  });

servedOtherwise(vault(byHmac), [
  ['old requests are good', 'tolerance: 2m', 'tolerance: 30m', 'token formats:signed', /over|to come/],
  ['a request is taken again', ', replay: refuse', '', 'token formats:signed', /before/],
]);
servedOtherwise(vault(byMessage), [
  ['a method need not be covered', '"@method", ', '', 'token formats:signed', /cover @method/],
  ['a body need not be covered', ', "content-digest"', '', 'token formats:signed', /cover content-digest|body/],
]);
servedOtherwise(vault(byMessage), [['any signature is good', 'title: Vault', 'title: Vaults', 'schemes:service', /./]], {
  relax: 'auth',
});

test('a page is asked for of a list alone, also where the parameters of a request are looked at before who signed it', async () => {
  const paged = vault(byHmac)
    .replace('  GET /notes: { does: list note, parameters: { text: { in: query, type: string } } }\n', '')
    .replace(
      '  GET /notes/{id}: { does: read note }',
      '  GET /notes/{id}: { does: read note }\n  GET /notes: { does: list note }',
    )
    .replace(
      'pagination: none',
      'pagination: { style: page, page: leaf, size: per, default: 5, max: 20, over_max: refuse, items: rows }',
    )
    .replace('errors:\n', 'errors:\n  order: [parameters, caller, user, accept, body, row, precondition, request, state]\n')
    .replace('    over:', '    question: { status: 400, when: request.parameter }\n    over:');
  const stand = await openStand(paged);
  try {
    const { breaches, facts } = await stand.verify({ only: ['authentication/signed requests'], seed: 1 });
    assert.deepEqual(
      breaches.map(({ reason, seen }) => [reason, seen]),
      [],
    );
    assert.ok((facts.find(({ kind }) => kind === 'token formats')?.shown['a query that is signed'] ?? 0) > 0);
  } finally {
    await stand.close();
  }
});
