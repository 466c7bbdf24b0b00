import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rules } from '../src/check/all.ts';
import { findingKinds } from '../src/check/catalogue.ts';
import { check } from '../src/check/check.ts';
import { securityRules } from '../src/check/security/bounds.ts';
import { waive } from '../src/check/waivers.ts';
import type { Document } from '../src/document/document.ts';
import { soundLog } from './check/cases/event-log.ts';
import { base, changed, named } from './check/harness.ts';
import { command } from './verify/command.ts';

const review = (document: Document) => check(document, { rules: [...rules, ...securityRules] });
const asked = (document: Document) =>
  [...new Set(review(document).findings.map(named))].filter((find) => find.startsWith('security/'));

/** What a reviewer asks of the base document, which every case changes. */
const usual = asked(base);

/** Snippets, and what is asked then besides what is asked of the base document, or no longer asked. */
const cases: readonly { readonly snippet: string; readonly more?: readonly string[]; readonly less?: readonly string[] }[] = [
  {
    snippet: 'authentication: { schemes: { token: { jwks: "http://id.notes.example/jwks.json" } } }',
    more: ['security/keys-over-http @ /authentication/schemes/token/jwks'],
  },
  { snippet: 'authentication: { schemes: { token: { jwks: "http://localhost/jwks.json" } } }' },
  {
    snippet:
      'authentication: { schemes: { asked: { type: introspection, header: X-Asked, introspect: "http://id.notes.example/introspect", caller: { user: "\'writer\'" } } } }',
    more: ['security/keys-over-http @ /authentication/schemes/asked/introspect'],
  },
  {
    snippet: 'authentication: { schemes: { token: { audience: notes, issuer: "https://id.notes.example", lifetime: 1h } } }',
    less: [
      'security/no-audience @ /authentication/schemes/token',
      'security/no-issuer @ /authentication/schemes/token',
      'security/no-lifetime @ /authentication/schemes/token',
    ],
  },
  {
    snippet: 'authentication: { schemes: { key: { header: null, query: api_key } } }',
    more: ['security/credential-in-query @ /authentication/schemes/key/query'],
  },
  { snippet: soundLog },
  {
    snippet: soundLog.replace('owner: row.owner', 'owner: row.owner, data: { object: event.payload }'),
    more: ['security/log-shows-more @ /events/log'],
  },
  {
    snippet:
      'authentication: { schemes: { seen: { type: hmac, header: X-Seen, value: "{key_id}:{hmac-sha256:hex}", signs: "{method} {path} {body}" } }, accept: [key, token, seen] }',
    more: ['security/signature-for-ever @ /authentication/schemes/seen', 'security/unsigned-part @ /authentication/schemes/seen'],
  },
  {
    snippet:
      'authentication: { schemes: { seen: { type: http_signature, algorithms: [ed25519], covers: ["@method", "@target-uri", "content-digest"] } }, accept: [key, token, seen] }',
  },
  { snippet: 'authentication: { origins: ["*"] }', more: ['security/any-origin @ /authentication/origins'] },
  {
    snippet: 'authentication: none',
    more: ['security/no-authentication @ /authentication'],
    less: usual.filter((find) => find.includes('/authentication/')),
  },
  {
    snippet: 'authentication: { permissions: none }',
    more: ['security/everybody-everything @ /authentication/permissions'],
    less: usual.filter((find) => find.includes('/permissions/')),
  },
  {
    snippet:
      'authentication: { public: [handler count, create book] }\nlimits: { rate: [{ per: caller, on: [list note], limit: 9, window: 1s }] }',
    more: ['security/write-for-anyone @ /authentication/public'],
  },
  {
    snippet:
      'authentication: { public: [handler count, create book] }\nlimits: { rate: [{ per: address, limit: 9, window: 1s }] }',
  },
  {
    snippet:
      'authentication: { permissions: [{ allow: [all book], to: writer }, { allow: [publish note, all hook], to: reader, if: "resource.owner == caller.id" }] }',
    more: ['security/act-without-read @ /authentication/permissions/1/allow/0'],
    less: ['security/write-to-all-rows @ /authentication/permissions/0'],
  },
  { snippet: 'limits: { rate: none }', more: ['security/no-rate @ /limits/rate'] },
  {
    snippet: 'authentication: { schemes: { login: { type: basic } } }',
    more: ['security/no-login-rate @ /authentication/schemes/login'],
  },
  {
    snippet:
      'authentication: { schemes: { login: { type: basic } } }\nlimits: { rate: [{ per: address, limit: 9, window: 1s }] }',
  },
  {
    snippet: 'limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, limit: 9, window: 1s }] }',
    more: ['security/used-up-by-strangers @ /limits/rate/1'],
  },
  {
    snippet:
      'limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, before: credentials, on: [list note], limit: 9, window: 1s }] }',
    more: ['security/used-up-by-strangers @ /limits/rate/1/before'],
  },
  {
    snippet:
      'limits: { rate: [{ per: caller, limit: 9, window: 1s }, { per: everyone, on: [list note], limit: 9, window: 1s }] }',
  },
  { snippet: 'limits: { size: { body: null } }', more: ['security/no-size @ /limits/size'] },
  { snippet: 'limits: { timeout: none }', more: ['security/no-time-out @ /limits/timeout'] },
  { snippet: 'limits: { pagination: { max: null } }', more: ['security/unbounded-page @ /limits/pagination'] },
  { snippet: 'limits: { pagination: { max: 10001 } }', more: ['security/unbounded-page @ /limits/pagination'] },
  { snippet: 'limits: { pagination: { max: 10000 } }' },
  {
    snippet: 'limits: { trust_proxies: [10.0.0.0/8, "0.0.0.0/0"] }',
    more: ['security/trusts-everybody @ /limits/trust_proxies/1'],
  },
  { snippet: 'purpose: { base_url: "http://notes.example/v1" }', more: ['security/plain-address @ /purpose/base_url'] },
  {
    snippet: 'resources: { book: { fields: { password: string } } }',
    more: ['security/secret-shown @ /resources/book/fields/password'],
  },
  { snippet: 'resources: { book: { fields: { password: { type: string, writeOnly: true } } } }' },
  {
    snippet: 'resources: { book: { identifier: { generate: integer }, fields: { id: integer } } }',
    more: ['security/countable-identifier @ /resources/book/identifier/generate'],
  },
  {
    snippet: 'resources: { note: { fields: { size: { visible: [writer] } } } }',
    more: ['security/hidden-filter @ /endpoints/GET ~1notes/parameters/min_size'],
  },
  {
    snippet:
      'resources: { note: { fields: { size: { visible: [writer] }, copy: { type: object, readOnly: true, set: { create: "{\'of\': next}" } } } } }',
    more: [
      'security/whole-row @ /resources/note/fields/copy/set/create',
      'security/hidden-filter @ /endpoints/GET ~1notes/parameters/min_size',
    ],
  },
  {
    snippet:
      'resources: { note: { fields: { copy: { type: object, readOnly: true, set: { create: "{\'of\': next.title}" } } } } }',
  },
  {
    snippet: 'events: { delivery: { webhook: { signature: none } } }',
    more: ['security/unsigned-webhook @ /events/delivery/webhook/signature'],
  },
  {
    snippet: 'resources: { book: { additionalProperties: true } }',
    more: ['security/free-fields @ /resources/book/additionalProperties'],
  },
];

for (const { snippet, more = [], less = [] } of cases) {
  test(`of ${snippet.slice(0, 130)} a reviewer asks ${more[0] ?? (less.length > 0 ? 'less' : 'no more')}`, () => {
    const found = asked(changed([snippet]));
    assert.deepEqual(
      found.filter((find) => !usual.includes(find)),
      more,
    );
    assert.deepEqual(
      usual.filter((find) => !found.includes(find)),
      less,
    );
  });
}

test('every question has a case in which it is asked, and none is asked unless somebody wants a review', () => {
  const raised = new Set([...usual, ...cases.flatMap(({ more = [] }) => more)].map((find) => find.split(' ')[0]));
  assert.deepEqual(
    securityRules.map(({ code }) => code).filter((code) => !raised.has(code)),
    [],
  );
  assert.deepEqual(check(base).findings, []);
});

test('every finding that there is says what to write instead', () => {
  for (const { code, remedy, meaning } of findingKinds) {
    assert.match(remedy, /^[A-Z`].*[.?]$/, code);
    assert.notEqual(remedy, meaning, code);
  }
});

test('a warning is waived with a reason, at its place and until its day; an error never, and a waiver of nothing is found', () => {
  const report = review(changed(['limits: { rate: none, size: { body: much } }']));
  const codes = (waivers: Parameters<typeof waive>[1]) =>
    waive(report, waivers, '2026-06-01')
      .report.findings.map(({ code }) => code)
      .toSorted();
  const all = report.findings.map(({ code }) => code).toSorted();
  const without = (code: string) => all.filter((one) => one !== code);
  const reason = 'There is a gateway in front.';
  assert.deepEqual(codes([{ finding: 'security/no-rate', reason }]), without('security/no-rate'));
  assert.deepEqual(
    codes([{ finding: 'security/no-rate', at: '/limits/rate', reason, until: '2026-06-01' }]),
    without('security/no-rate'),
  );
  assert.deepEqual(codes([{ finding: 'security/no-rate', reason, until: '2026-05-31' }]), all);
  const idle = [...all, 'security/idle-waiver'].toSorted();
  assert.deepEqual(codes([{ finding: 'security/no-rate', at: '/limits', reason }]), idle);
  assert.deepEqual(codes([{ finding: 'limits/size', reason }]), idle, 'an error stays');
  assert.deepEqual(waive(report, [{ finding: 'security/no-rate', reason }], '2026-06-01').waived[0]?.reason, reason);
});

test('the command asks, fails until all is answered or waived, and tells what was waived', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-review-'));
  const [document, waivers] = [join(folder, 'notes.yaml'), join(folder, 'waivers.yaml')];
  const text =
    'title: T\npurpose: { purpose: P, base_url: "http://t.example", users: none, functions: none }\nresources: none\nstates: none\nendpoints: none\nauthentication: none\nevents: none\nerrors: none\nlimits: { rate: [{ per: address, limit: 1, window: 1s }], timeout: { request: 1s } }\nversioning: none\n';
  writeFileSync(document, text);
  const run = (...words: string[]) => command(['check', document, ...words]);
  try {
    assert.equal((await run()).code, 0);
    const failed = await run('--security');
    assert.equal(failed.code, 1, failed.out);
    assert.match(failed.out, /security\/plain-address/);
    writeFileSync(waivers, '- { finding: security/plain-address, reason: a tunnel stands around it }\n');
    const waived = await run('--security', '--waive', waivers);
    assert.equal(waived.code, 0, waived.out);
    assert.match(waived.out, /waived: security\/plain-address: a tunnel stands around it/);
    const json = JSON.parse((await run('--security', '--waive', waivers, '--json')).out) as {
      waived: { reason: string }[];
      findings: unknown[];
    };
    assert.deepEqual([json.findings, json.waived[0]?.reason], [[], 'a tunnel stands around it']);
    for (const bad of [
      '{}',
      '- { finding: a/b }',
      '- { reason: r }',
      '- { finding: a/b, reason: r, until: soon }',
      '- { finding: a/b, reason: r, why: x }',
    ]) {
      writeFileSync(waivers, bad);
      assert.equal((await run('--waive', waivers)).code, 2, bad);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
