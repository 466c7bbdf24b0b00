import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { shareProcesses } from './run/processes.ts';

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
