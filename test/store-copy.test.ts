import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CannotCopy, type CopySide, copyStore } from '../src/store/copying.ts';
import { sqliteSide } from '../src/store/sqlite/copy-side.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { fillForCopy, lookAtCopy } from './stores/copied.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-copy-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A file with something of everything in it. */
async function filled(name: string, rows = 3) {
  const path = join(folder, name);
  const secret = await fillForCopy(path, openSqlite, rows);
  return { path, secret };
}

async function copied(from: string, to: string, change: (side: CopySide) => CopySide = (side) => side) {
  const [source, target] = [sqliteSide(from), sqliteSide(to)];
  try {
    return await copyStore(source, change(target), () => {});
  } finally {
    await target.close();
    await source.close();
  }
}

test('a copy has everything, and a service goes on over it', async () => {
  const { path, secret } = await filled('whole.sqlite', 600);
  const tables = await copied(path, join(folder, 'whole-copy.sqlite'));
  assert.equal(tables.get('lamp'), 600);
  for (const table of ['settings', 'records', 'timers', 'credentials', 'events']) assert.ok(tables.has(table), table);
  await lookAtCopy(join(folder, 'whole-copy.sqlite'), openSqlite, secret, 600);
});

test('a store that holds something already is not copied into', async () => {
  const [{ path }, other] = [await filled('one.sqlite'), await filled('other.sqlite')];
  await assert.rejects(copied(path, other.path), /other\.sqlite holds something already/);
});

test('a copy that lacks a row, or has one that differs, is none', async () => {
  const { path } = await filled('lossy.sqlite');
  for (const [name, spoil] of [
    ['lost', (rows: readonly (readonly unknown[])[]) => rows.slice(1)],
    ['changed', (rows: readonly (readonly unknown[])[]) => rows.map((row) => [...row.slice(0, -1), 'x'])],
  ] as const) {
    const to = join(folder, `${name}.sqlite`);
    const worse = (side: CopySide): CopySide => ({
      ...side,
      // The same columns, spoilt.
      add: (table, rows) => side.add(table, (table.name === 'lamp' ? spoil(rows) : rows) as typeof rows),
    });
    await assert.rejects(copied(path, to, worse), CannotCopy);
    const side = sqliteSide(to);
    assert.deepEqual(await side.resources(), []);
    await side.close();
  }
});
