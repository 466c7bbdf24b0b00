import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('a test that fails beside others is run once more, also where it is written down in a file that several share', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-again-'));
  const files = ['once', 'fine'].map((name) => `test/fixtures/run/${name}.ts`);
  const { NODE_TEST_CONTEXT: _inTest, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'fixtures', 'run', 'runner.ts'), ...files], {
    cwd: join(import.meta.dirname, '..'),
    encoding: 'utf8',
    env: { ...env, NINEFOLD_TEST_MARK: join(folder, 'mark') },
  });
  rmSync(folder, { recursive: true });
  const last = stdout.trim().split('\n').at(-1) ?? '';
  assert.deepEqual(JSON.parse(last), { failed: [], told: files }, stderr);
});
