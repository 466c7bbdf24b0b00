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
import { securityCases } from './check/cases/security.ts';
import { asked, base, changed, named } from './check/harness.ts';
import { securityWords, writtenWords } from './check/words.ts';
import { command } from './verify/command.ts';

const review = (document: Document) => check(document, { rules: [...rules, ...securityRules] });
const namesOf = (document: Document) => [...new Set(asked(document).map(named))];

/** What a reviewer asks of the base document, which every case changes. */
const usual = namesOf(base);

for (const {
  snippets,
  more = [],
  lessBelow,
  less = usual.filter((find) => lessBelow && find.includes(lessBelow)),
} of securityCases) {
  test(`of ${snippets.join(', ').slice(0, 130)} a reviewer asks ${more[0] ?? (less.length > 0 ? 'less' : 'no more')}`, () => {
    const found = namesOf(changed(snippets));
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

test('what is asked, of the base document and of each change of it besides, is written down', () => {
  assert.deepEqual(securityWords(), writtenWords('security-words.txt'), 'after a change on purpose: node test/check/words.ts');
});

test('every question has a case in which it is asked, and none is asked unless somebody wants a review', () => {
  const raised = new Set([...usual, ...securityCases.flatMap(({ more = [] }) => more)].map((find) => find.split(' ')[0]));
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
