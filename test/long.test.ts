import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..');

/** What the words of `test/long.ts` come to in a process with this environment. */
function asked(NINEFOLD_TEST_LONG: string | undefined): unknown {
  const { NINEFOLD_TEST_LONG: _own, ...env } = process.env;
  const script = `
    import { isLong, isWhole, oneOfEach, share, times } from ${JSON.stringify(pathToFileURL(join(root, 'test/long.ts')).href)};
    const cases = [['a', 1], ['a', 2], ['b', 3]];
    console.log(JSON.stringify([isLong, isWhole, times(2, 20, 200), times(2, 20), oneOfEach(cases, ([subject]) => subject).map(([, which]) => which), share(cases, 2).map(([, which]) => which)]));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: NINEFOLD_TEST_LONG === undefined ? env : { ...env, NINEFOLD_TEST_LONG },
    encoding: 'utf8',
  });
  return JSON.parse(stdout);
}

test('each subject keeps its first case, and the long run has them all', () => {
  assert.deepEqual(asked(undefined), [false, false, 2, 2, [1, 3], [1, 3]]);
  assert.deepEqual(asked('1'), [true, false, 20, 20, [1, 2, 3], [1, 3]]);
  assert.deepEqual(asked('whole'), [true, true, 200, 20, [1, 2, 3], [1, 2, 3]]);
});

test('the server of checks installs from the lock file, and runs the tests and a part of those at length', () => {
  const commands = readFileSync(join(root, '.ci/run'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('npm '));
  assert.deepEqual(commands, ['npm ci', 'npm test', 'npm run test:long -- --part']);
});
