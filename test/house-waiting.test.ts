import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwaited } from './house/waiting.ts';

const root = join(import.meta.dirname, '..');

test('nothing that serving is answered later is taken for the answer', () => {
  assert.deepEqual(
    unwaited(root, (path) => /^src\/(serve|store|cli)\/|^src\/[^/]+$/.test(path)),
    [],
    'go on with it by after (src/serve/exchange/after.ts), or await it',
  );
});

const told = `
interface Row { readonly id: string }
type Soon<T> = T | Promise<T>;
declare const store: { holds(): Soon<boolean>; row(): Soon<Row | undefined>; due(): Soon<number | undefined>; done(): Soon<void> };
declare const answer: () => Soon<Row> | undefined;
declare const rows: Row[];
let running: Promise<void> | undefined;
`;

/** Each line with whether it is wrong. */
const lines: readonly (readonly [string, boolean])[] = [
  ['if (store.holds()) rows.pop();', true],
  ['const a = store.holds() ? 1 : 2;', true],
  ['const b = !store.holds();', true],
  ['const c = rows.length > 0 && (store.row() || rows[0]);', true],
  ['const d = store.row() ?? rows[0];', true],
  ['while (rows.length > 0 && store.holds()) rows.pop();', true],
  ['if (store.due() === undefined) rows.pop();', true],
  ["const e = 'id' in (answer() ?? rows[0]!);", true],
  ['const f = rows.filter(() => store.holds());', true],
  ['const g = rows.some(function () { return store.row(); });', true],
  ['store.done();', true],
  ['if (await store.holds()) rows.pop();', false],
  ['if ((await store.due()) === undefined) rows.pop();', false],
  ['if (store.row() instanceof Promise) rows.pop();', false],
  ['if (answer()) rows.pop();', false],
  ['while (running || rows.length > 0) await running;', false],
  ['const h = rows.map(() => store.holds());', false],
  ['await store.done();', false],
];

test('what may be a promise is neither tested, compared, looked into, thrown away nor given as a verdict', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ninefold-waiting-'));
  try {
    mkdirSync(join(folder, 'src'));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const compilerOptions = { strict: true, target: 'es2024', module: 'nodenext', types: [], noEmit: true };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }));
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'src', 'told.ts'), `export {};${told}${lines.map(([line]) => line).join('\n')}\n`);
    const before = told.split('\n').length;
    const wrong = lines.flatMap(([_line, isWrong], at) => (isWrong ? [`src/told.ts:${before + at}`] : []));
    assert.deepEqual(
      unwaited(folder, () => true),
      wrong.sort(),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
