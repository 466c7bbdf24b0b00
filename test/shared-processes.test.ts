import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { shareProcesses } from './run/processes.ts';

test('each test file is run once, alone or together with others, and what was made for that goes away', () => {
  const files = [...Array.from({ length: 25 }, (_, at) => `test/file-${at}.test.ts`), 'test/limits-counters.test.ts'];
  const { modules, close } = shareProcesses(files, 10);
  const made = modules.filter((module) => !files.includes(module));
  const together = made.flatMap((module) =>
    [...readFileSync(module, 'utf8').matchAll(/^import (".+");$/gm)].map(([, url = '""']) => fileURLToPath(JSON.parse(url))),
  );
  const alone = modules.filter((module) => files.includes(module)).map((file) => resolve(file));
  assert.deepEqual([...together, ...alone].sort(), files.map((file) => resolve(file)).sort());
  assert.ok(alone.includes(join(process.cwd(), 'test/limits-counters.test.ts')));
  assert.ok(made.length > 1 && made.length < 10);
  close();
  assert.deepEqual(made.filter(existsSync), []);
});
