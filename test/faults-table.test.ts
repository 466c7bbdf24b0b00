import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { faultsPage, pageWithFaults } from '../bench/faults/page.ts';
import { services } from '../bench/faults/services.ts';
import { partNames } from '../src/document/document.ts';
import { check, ledgerOf, readDocument } from '../src/index.ts';

const all = services.flatMap(({ faults }) => faults);

for (const { name, document, faults } of services) {
  const report = check(await readDocument(document));

  test(`the document of the ${name} is sound, and nothing in it is open`, () => {
    assert.ok(report.sound);
    assert.equal(report.ledger.total.open, 0);
  });

  test(`each fault of the ${name} breaks a fact that its document promises, under the part that it stands in`, () => {
    assert.ok(report.sound);
    const { facts } = ledgerOf(report.spec);
    for (const { id, part, kind, subject } of faults) {
      const fact = facts.find((one) => one.kind === kind && one.subject === subject);
      assert.ok(fact && fact.standing !== 'open' && fact.standing !== 'any', `${id}: ${kind} (${subject}) is no promise`);
      assert.equal(fact.part, part, id);
    }
  });

  test(`each fault of the ${name} is a switch in its code`, () => {
    const folder = join(dirname(document), '*.ts');
    const code = globSync(folder).map((path) => readFileSync(path, 'utf8'));
    const without = code.filter((text) => !text.includes('as const satisfies readonly Fault[]')).join('\n');
    // Some are handed on as words to where they are read.
    const read = new Set([...without.matchAll(/(?:has\(|caller, |open\?: )'([a-z0-9-]+)'/g)].map(([, id]) => id));
    assert.deepEqual(
      faults.filter(({ id }) => !read.has(id)).map(({ id }) => id),
      [],
    );
  });
}

test('there are at least ten faults in each part, and ninety in all, each under a name of its own', () => {
  for (const part of partNames) assert.ok(all.filter((fault) => fault.part === part).length >= 10, part);
  assert.ok(all.length >= 90);
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
});

test('docs/faults.md has the table that the data has: node bench/faults/page.ts writes it anew', () => {
  assert.equal(faultsPage(), pageWithFaults(faultsPage()));
});
