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
async function indexesOf(
  document: JsonMap,
  body: (get: (path: string) => Promise<unknown>) => Promise<void> = async () => {},
  rows: Record<string, JsonMap[]> = { note: Array.from({ length: 6 }, (_, n) => ({ id: `${n}`, f0: n % 2, f8: -n })) },
) {
  const file = join(folder, `${++files}.sqlite`);
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

test('an order has an index of its own only where somebody may walk through all rows in it', async () => {
  const narrowed = (rules: JsonMap[], open: string[] = []): JsonMap => {
    const document = notes([], ['f8'], '-f8') as Record<string, JsonMap>;
    const note = (document.resources?.note ?? {}) as Record<string, JsonMap>;
    return {
      ...document,
      purpose: { users: { writer: 'Writes.', editor: 'Reads all.' } },
      resources: {
        note: {
          ...note,
          fields: { ...note.fields, owner: 'string', readers: 'string' },
          required: ['id', 'f8', 'owner', 'readers'],
        },
      },
      authentication: {
        schemes: { key: { type: 'api_key', header: 'X-Key', generate: '{random:32}' } },
        accept: ['key'],
        public: open.length > 0 ? open : 'none',
        permissions: rules.map((rule) => ({ allow: ['list note'], ...rule })),
      },
    } as JsonMap;
  };
  const of = (...rules: Parameters<typeof narrowed>) => indexesOf(narrowed(...rules), undefined, {});
  const own = { to: 'writer', if: 'resource.owner == caller.id' };
  const withOwn = ['owner:text, f8 DESC', 'owner:text, f8'];
  const all = ['f8 DESC', 'f8', ...withOwn];
  assert.deepEqual(await of([own]), withOwn);
  assert.deepEqual(await of([own, { to: 'editor' }]), all, 'an editor sees all');
  assert.deepEqual(await of([{ to: 'writer', if: 'resource.owner == "x"' }], ['list note']), all, 'the list is public');
  const shared = { to: 'writer', if: 'resource.readers == caller.id' };
  assert.deepEqual(
    await of([own, shared]),
    ['f8 DESC', 'f8', 'owner:text, f8 DESC', 'readers:text, f8 DESC', 'owner:text, f8', 'readers:text, f8'],
    'rows of either rule go by the order',
  );
  assert.deepEqual(await of([{ to: 'writer', if: 'resource.owner == resource.readers' }]), ['f8 DESC', 'f8']);
});
