import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longest, shareProcesses } from './run/processes.ts';

test('each test file is run once, alone or together with others, and what was made for that goes away', () => {
  const files = [...globSync('test/l*.test.ts'), 'test/authentication-secrets.test.ts'].map((file) => file.replaceAll(sep, '/'));
  const { modules, close } = shareProcesses(files, 10);
  const made = modules.filter((module) => !files.includes(module));
  const together = made.flatMap((module) =>
    [...readFileSync(module, 'utf8').matchAll(/ import\((".+")\);$/gm)].map(([, url = '""']) => fileURLToPath(JSON.parse(url))),
  );
  const alone = modules.filter((module) => files.includes(module)).map((file) => resolve(file));
  assert.deepEqual([...together, ...alone].sort(), files.map((file) => resolve(file)).sort());
  assert.ok(alone.includes(resolve('test/limits-counters.test.ts')), 'what is to be alone is');
  assert.ok(made.length > 1 && made.length < files.length / 5);
  close();
  assert.deepEqual(made.filter(existsSync), []);
});

test('of files that share a process each has its tests, also one that waits before, and one that cannot be loaded is a failure', () => {
  const { NODE_TEST_CONTEXT: _inTest, ...env } = process.env;
  const outcomeOf = (...names: readonly string[]) => {
    const { modules, close } = shareProcesses(
      names.map((name) => join(import.meta.dirname, 'fixtures', 'run', `${name}.ts`)),
      10,
    );
    const { status, stdout } = spawnSync(process.execPath, ['--test-reporter', 'tap', ...modules], { encoding: 'utf8', env });
    close();
    return { status, ran: [...stdout.matchAll(/^ok \d+ - (.+)$/gm)].map(([, name]) => name) };
  };
  assert.deepEqual(outcomeOf('fine', 'waiting-first'), {
    status: 0,
    ran: ['it passes', 'it is waited for'],
  });
  assert.notEqual(outcomeOf('waiting-first', 'not-loaded', 'fine').status, 0);
  assert.notEqual(outcomeOf('not-loaded', 'not-loaded').status, 0);
});

test('what takes longest is begun first, each in a process of its own, and what is short stands last', () => {
  const files = globSync('test/{a,c,l}*.test.ts').map((file) => file.replaceAll(sep, '/'));
  const { modules, close } = shareProcesses(files, 10);
  close();
  assert.ok(modules.length > 10);
  const first = longest.filter((file) => files.includes(file));
  assert.ok(first.length > 2);
  assert.deepEqual(modules.slice(0, first.length), first);
  const shared = modules.map((module, at) => (files.includes(module) ? -1 : at)).filter((at) => at >= 0);
  assert.deepEqual(
    shared,
    shared.map((_, at) => first.length + at),
  );
  assert.deepEqual(
    longest.filter((file) => !existsSync(file)),
    [],
  );
});
