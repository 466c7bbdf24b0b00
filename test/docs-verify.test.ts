import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type ClassRow, heldRules, wholes } from '../src/verify/model/promises.ts';
import { observers, trials } from '../src/verify/trials.ts';

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

const classRows: readonly ClassRow[] = [...wholes, ...Object.entries(heldRules).map(([what, row]) => ({ ...row, what }))];

test('the docs say of every trial and observer what it is founded on, as the code has it', () => {
  const told = [...page('verify.md').matchAll(/^\| (`[^|]+`) \| ([^|]*) ?\| (\w+) \| (\w+) \| ([^|]+) \|$/gm)].flatMap(
    ([, names = '', what = '', stated, readOff, because]) =>
      names.split(', ').map((name) => [name.replaceAll('`', ''), what.trim(), stated, readOff, because]),
  );
  const meant = classRows.map(({ of, what = '', stated, readOff, because }) => [of, what, stated, readOff, because]);
  assert.deepEqual(told.map(String).sort(), meant.map(String).sort());
});

test('every trial and observer has a class, and no class is of a trial that there is not', () => {
  const names = new Set([...trials, ...observers].map(({ name }) => name));
  assert.deepEqual(
    [...names].filter((name) => !classRows.some(({ of }) => of === name)),
    [],
  );
  assert.deepEqual(
    classRows.filter(({ of }) => !names.has(of)),
    [],
  );
});
