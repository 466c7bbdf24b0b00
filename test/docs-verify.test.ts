import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { trials } from '../src/verify/trials.ts';

const docs = join(import.meta.dirname, '../docs');
const page = (name: string): string => readFileSync(join(docs, name), 'utf8');

/** The names in the first cells of a page's tables: `endpoints/media, accepts` are two, and `rows` is one of the page's part. */
function namesIn(text: string): string[] {
  const cells = [...text.matchAll(/^\| ([^|]+?) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => {
    const [, part, names] = /^([a-z]+)\/(.+)$/.exec(cell) ?? [];
    const some = part === undefined ? [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name) : (names ?? '').split(', ');
    return some.map((name) => (part === undefined || name?.includes('/') ? String(name) : `${part}/${name}`));
  });
}

test('every trial is explained in the docs', () => {
  const explained = new Set(namesIn(page('verify.md')));
  for (const file of readdirSync(join(docs, 'verify-trials')))
    for (const name of namesIn(page(`verify-trials/${file}`))) explained.add(name);
  const missing = trials.filter(({ name }) => !explained.has(name) && !explained.has(name.replace(/^[a-z]+\//, '')));
  assert.deepEqual(
    missing.map(({ name }) => name),
    [],
  );
});

test('no two trials have one name, so that a replay finds its own', () => {
  assert.equal(new Set(trials.map(({ name }) => name)).size, trials.length);
});
