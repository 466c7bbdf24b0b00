import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { type JsonMap, serve } from '../src/index.ts';

/** Which indexes lists ask for: every write has to keep them. */
const folder = mkdtempSync(join(tmpdir(), 'ninefold-indexes-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** The columns of each index of the rows of a document. */
async function indexesOf(document: JsonMap, body: (get: (path: string) => Promise<unknown>) => Promise<void> = async () => {}) {
  const file = join(folder, `${++files}.sqlite`);
  const rows = { note: Array.from({ length: 6 }, (_, n) => ({ id: `${n}`, f0: n % 2, f8: -n })) };
  const service = await serve(document, { store: file, rows });
  await body(async (path) => (await service.fetch(new Request(`http://127.0.0.1${path}`))).json());
  await service.close();
  const database = new DatabaseSync(file, { readOnly: true });
  const found = database.prepare(
    `SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'rows:note' AND sql IS NOT NULL`,
  );
  const lists = found.all().map(({ sql }) => (/\((.*)\)$/.exec(String(sql))?.[1] ?? '').replaceAll(/"|:integer/g, ''));
  database.close();
  return lists;
}

function notes(filters: readonly string[], sorts: readonly string[], order: string | undefined): JsonMap {
  const names = [...new Set([...filters, ...sorts.map((sort) => sort.replace('-', ''))])];
  const parameters = Object.fromEntries(filters.map((name) => [name, { in: 'query' }]));
  return {
    title: 'Notes',
    resources: {
      note: {
        identifier: { field: 'id', generate: 'client' },
        fields: { id: 'string', ...Object.fromEntries(names.map((name) => [name, 'integer'])) },
        required: ['id'],
      },
    },
    endpoints: {
      'GET /notes': {
        does: 'list note',
        parameters: { ...parameters, ...(sorts.length > 0 && { sort: { in: 'query', enum: sorts, sorts: true } }) },
        ...(order !== undefined && { order }),
      },
    },
    authentication: 'none',
    limits: { pagination: { style: 'none' } },
  } as JsonMap;
}

test('a filter has an index with each order, and one for itself only where rows go by creation', async () => {
  assert.deepEqual(await indexesOf(notes(['f0'], ['f8'], '-f8')), ['f8 DESC', 'f8', 'f0, f8 DESC', 'f0, f8']);
  assert.deepEqual(await indexesOf(notes(['f0'], ['f8'], undefined)), ['f8', 'f0', 'f0, f8']);
});

test('very many filters and orders make no more indexes than writes can keep, and lists are right without them', async () => {
  const filters = Array.from({ length: 8 }, (_, n) => `f${n}`);
  const document = notes(filters, ['f8', '-f8', 'f9', '-f9', 'f10', '-f10'], undefined);
  const lists = await indexesOf(document, async (get) => {
    assert.deepEqual(
      ((await get('/notes?f0=1&sort=f8')) as { id: string }[]).map(({ id }) => id),
      ['5', '3', '1'],
    );
  });
  assert.equal(lists.length, 24);
  for (const name of filters) assert.ok(lists.includes(name), name);
});
