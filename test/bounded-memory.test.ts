import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

test('bodies of 4 MiB that are wrong at every place are refused by a process of 256 MiB', () => {
  const script = join(import.meta.dirname, 'bounds/wrong-everywhere.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--max-old-space-size=256', script], { encoding: 'utf8' });
  assert.equal(status, 0, stderr.slice(-2000));
  assert.deepEqual(stdout.trim().split('\n'), [
    'items: 422 with 50 violations',
    'objects: 422 with 50 violations',
    'items of another resource: 422 with 50 violations',
    'one of several forms: 422 with 50 violations',
    'none that is wanted: 422 with 1 violations',
    'members that nobody stated: 422 with 50 violations',
    'members that have a pattern: 422 with 50 violations',
    'names: 422 with 50 violations',
    'what is not evaluated: 422 with 50 violations',
  ]);
});
