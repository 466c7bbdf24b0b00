import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { documents } from './bounds/documents.ts';
import { share } from './long.ts';

/** What one check may take of the processor, many times over. */
const msMost = 120_000;

test('whatever a document asks for, it is checked by a process of 256 MiB, in its time', () => {
  const script = join(import.meta.dirname, 'bounds/check-all.ts');
  const { stdout, stderr } = spawnSync(process.execPath, ['--disable-warning=ExperimentalWarning', script], { encoding: 'utf8' });
  const came = stdout
    .trim()
    .split('\n')
    .map((line): { kind: string; ms?: number; ended?: boolean } => JSON.parse(line));
  assert.deepEqual(
    came.map(({ kind }) => kind),
    share(Object.keys(documents), 4),
    stderr.slice(-2000),
  );
  assert.deepEqual(
    came.filter(({ ms, ended }) => ended || (ms ?? 0) > msMost),
    [],
  );
});

test('whatever a service answers, it is verified by a process of 256 MiB', () => {
  const file = join(import.meta.dirname, 'verify-hostile.test.ts');
  const words = ['--disable-warning=ExperimentalWarning', '--max-old-space-size=256', '--test-name-pattern=gets a report', file];
  const { status, stdout } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    env: { ...process.env, NODE_TEST_CONTEXT: '' },
  });
  assert.equal(status, 0, stdout.slice(-2000));
});
