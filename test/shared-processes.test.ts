import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { longest, shareProcesses } from './run/processes.ts';

test('each test file is run once, alone or together with others, and what was made for that goes away', () => {
  const files = [...globSync('test/l*.test.ts'), 'test/authentication-secrets.test.ts'].map((file) => file.replaceAll(sep, '/'));
  const { modules, close } = shareProcesses(files, 10);
  const made = modules.filter((module) => !files.includes(module));
  const together = made.flatMap((module) =>
    [...readFileSync(module, 'utf8').matchAll(/^import (".+");$/gm)].map(([, url = '""']) => fileURLToPath(JSON.parse(url))),
  );
  const alone = modules.filter((module) => files.includes(module)).map((file) => resolve(file));
  assert.deepEqual([...together, ...alone].sort(), files.map((file) => resolve(file)).sort());
  // One is to be alone, and one waits before it has its tests.
  for (const file of ['test/limits-counters.test.ts', 'test/authentication-secrets.test.ts'])
    assert.ok(alone.includes(resolve(file)));
  assert.ok(made.length > 1 && made.length < files.length / 5);
  close();
  assert.deepEqual(made.filter(existsSync), []);
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
