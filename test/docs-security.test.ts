import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const rows = page.split('\n').flatMap((line) => {
  const [, risk = '', does = '', shown = ''] = line.split('|').map((cell) => cell.trim());
  return /^API\d+ /.test(risk) ? [{ risk, does, shown }] : [];
});

test('docs/security.md has a row for each of the ten risks, in their order', () => {
  assert.deepEqual(
    rows.map(({ risk }) => risk.split(' ')[0]),
    Array.from({ length: 10 }, (_, n) => `API${n + 1}`),
  );
  for (const { risk, does } of rows) assert.ok(does.length > 0, risk);
});

test('each row is shown by tests that are there', () => {
  for (const { risk, shown } of rows) {
    const files = [...shown.matchAll(/`(test\/[\w./-]+)`((?:(?!`test\/).)*)/g)];
    assert.ok(files.length > 0, risk);
    for (const [, file = '', named = ''] of files) {
      assert.ok(existsSync(join(root, file)), `${risk}: there is no ${file}`);
      const text = readFileSync(join(root, file), 'utf8');
      for (const [, name = ''] of named.matchAll(/(?:^|[\s;:])\*((?:[^*]|`\*`)+)\*(?=;|$|\s)/g))
        assert.ok(text.includes(name), `${risk}: ${file} has no test "${name}"`);
    }
  }
});
