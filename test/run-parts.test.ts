import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { partAt, partOf, partsMost } from './run/parts.ts';

const files = globSync('test/**/*.test.ts', { exclude: ['**/node_modules/**'] });
const commits = Array.from({ length: 60 }, (_, at) => createHash('sha1').update(`${at}`).digest('hex'));

test('every test file has its turn within some commits, and no commit has many more than its share', () => {
  const of = commits.map((commit) => files.filter(partAt(commit, new Set())));
  assert.equal(new Set(of.flat()).size, files.length);
  assert.equal(new Set(commits.map(partOf)).size, partsMost);
  for (const part of of) assert.ok(part.length < (1.5 * files.length) / partsMost && part.length > files.length / partsMost / 2);
});

test('what a commit changes is tried with it', () => {
  for (const commit of commits) assert.ok(partAt(commit, new Set(['test/verify-given.test.ts']))('test/verify-given.test.ts'));
});
