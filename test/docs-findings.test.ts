import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findingKinds, formFindings } from '../src/check/catalogue.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/findings.md'), 'utf8');

/** A row of a table whose first cell is a code. */
interface Row {
  readonly code: string;
  readonly severity: string;
  readonly meaning: string;
  readonly remedy: string;
  readonly example: string;
}

const rows = page.split('\n').flatMap((line): Row[] => {
  const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
  const [, code = '', severity = '', meaning = '', remedy = '', example = ''] = cells;
  return /^`[a-z]+\/[a-z0-9-]+`$/.test(code) ? [{ code: code.slice(1, -1), severity, meaning, remedy, example }] : [];
});

test('docs/findings.md has one row for each finding, in the order of the catalogue, and no other', () => {
  assert.deepEqual(
    rows.map(({ code }) => code),
    findingKinds.map(({ code }) => code),
  );
});

test('each row says what the catalogue says', () => {
  assert.deepEqual(
    rows.map(({ code, severity, meaning, remedy }) => ({ code, severity, meaning, remedy })),
    findingKinds.map(({ code, severity, meaning, remedy }) => ({ code, severity, meaning, remedy })),
  );
});

test('each row has an example of two lines, and stands under the heading of its kind', () => {
  for (const { code, example } of rows) {
    assert.equal(example.split('<br>').length, 2, code);
    const heading = page
      .slice(0, page.indexOf(`\`${code}\``))
      .match(/^## .*$/gm)
      ?.at(-1);
    assert.ok(heading?.endsWith(`\`${code.split('/')[0]}/\``), `${code} stands under ${heading}`);
  }
});

test('every finding of checking has a test; reading has a catalogue test of its own', () => {
  const files = globSync('test/**/*.ts', { cwd: root, exclude: ['**/node_modules/**'] }).filter(
    (file) => !file.includes('docs-findings'),
  );
  const tests = files.map((file) => readFileSync(join(root, file), 'utf8')).join('\n');
  assert.deepEqual(
    findingKinds.map(({ code }) => code).filter((code) => !code.startsWith('document/') && !tests.includes(code)),
    [],
  );
});

test('the catalogue has what the form finds', () => {
  const source = readFileSync(join(root, 'src/parts/form.ts'), 'utf8');
  const codes = new Set([...source.matchAll(/'(form\/[a-z-]+)'/g)].map(([, code]) => code));
  assert.deepEqual(new Set(formFindings.map(({ code }) => code)), codes);
});
