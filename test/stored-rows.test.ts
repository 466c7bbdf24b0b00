import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { main } from '../src/cli.ts';
import { type JsonMap, Misfits, openStore, type ServeOptions, type Service, serve } from '../src/index.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import { times } from './long.ts';

/** Rows that were stored under an older document are carried to the one that is served: all of them, or none. */
const folder = mkdtempSync(join(tmpdir(), 'ninefold-stored-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const newFile = () => join(folder, `${++files}.sqlite`);

interface Words {
  readonly fields: JsonMap;
  readonly required?: readonly string[];
  readonly more?: JsonMap;
  readonly versions?: JsonMap;
  readonly changes?: JsonMap;
  readonly resources?: JsonMap;
  readonly unique?: readonly (readonly string[])[];
}

function parcels({ fields, required = [], more = {}, versions, changes, resources = {}, unique }: Words): JsonMap {
  return {
    title: 'Parcels',
    resources: {
      parcel: {
        identifier: { field: 'id', generate: 'integer' },
        fields: { id: 'integer', ...fields },
        required: ['id', ...required],
        ...(unique && { unique }),
      },
      ...resources,
    },
    endpoints: {
      'POST /parcels': { does: 'create parcel' },
      'GET /parcels': { does: 'list parcel' },
      'GET /parcels/{id}': { does: 'read parcel', etag: 'strong' },
    },
    authentication: 'none',
    ...(versions && {
      versioning: { versions, select: { header: 'V', default: 'current' }, ...(changes && { changes }) },
    }),
    ...more,
  } as JsonMap;
}

const v1 = { v1: { current: true } };
const v2 = { v1: {}, v2: { current: true } };

/** Serves a document over a file for as long as something is done with it. */
async function over<T>(
  store: string,
  document: JsonMap,
  act: (service: Service) => Promise<T>,
  options: ServeOptions = {},
): Promise<T> {
  const service = await serve(document, { ...options, store });
  try {
    return await act(service);
  } finally {
    await service.close();
  }
}

async function post(service: Service, path: string, body: JsonMap): Promise<JsonMap> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const answer = await service.fetch(new Request(`http://127.0.0.1${path}`, init));
  assert.equal(answer.status, 201, await answer.clone().text());
  return (await answer.json()) as JsonMap;
}

async function read(service: Service, path: string): Promise<unknown> {
  return (await service.fetch(new Request(`http://127.0.0.1${path}`))).json();
}

async function filled(document: JsonMap, ...rows: readonly JsonMap[]): Promise<string> {
  const store = newFile();
  await over(store, document, async (service) => {
    for (const row of rows) await post(service, '/parcels', row);
  });
  return store;
}

async function misfitsOf(store: string, document: JsonMap, options?: ServeOptions): Promise<Misfits> {
  const before = fingerprint(store);
  const failure = await over(store, document, async () => undefined, options).catch((error: unknown) => error);
  assert.ok(failure instanceof Misfits, `${failure} is told`);
  assert.deepEqual(fingerprint(store), before, 'nothing was changed');
  return failure;
}

/** All rows and what is remembered of them. */
function fingerprint(store: string): unknown {
  const database = new DatabaseSync(store, { readOnly: true });
  try {
    const tables = database
      .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'rows:%' ORDER BY name`)
      .all();
    const rows = tables.map(({ name }) => [name, database.prepare(`SELECT id, rev, doc FROM "${name}" ORDER BY seq`).all()]);
    return [rows, database.prepare('SELECT * FROM ninefold_records ORDER BY key').all()];
  } finally {
    database.close();
  }
}

test('every conversion of part nine carries stored rows, each once, and their ETags are others', async () => {
  const before = parcels({
    fields: { weight: 'number', kind: { enum: ['normal', 'fast'] }, price: 'number', code: 'string' },
    required: ['weight', 'kind', 'price', 'code'],
    versions: v1,
  });
  const store = newFile();
  const tag = await over(store, before, async (service) => {
    await post(service, '/parcels', { weight: 2, kind: 'normal', price: 12.5, code: 'x' });
    return (await service.fetch(new Request('http://127.0.0.1/parcels/1'))).headers.get('etag');
  });
  const now = parcels({
    fields: { weight_g: 'number', kind: { enum: ['standard', 'fast'] }, price: 'integer', service: 'string' },
    required: ['weight_g', 'kind', 'price', 'service'],
    versions: v2,
    changes: {
      v2: [
        { rename: 'parcel.weight', to: 'weight_g' },
        { enum: 'parcel.kind', values: { normal: 'standard' } },
        { map: 'parcel.price', was: 'number', down: 'double(value) / 100.0', up: 'int(round(value * 100.0))' },
        { remove: 'parcel.code', was: { type: 'string' }, down: "'none'" },
        { add: 'parcel.service', default: 'post' },
      ],
    },
  });
  const carried = { id: 1, weight_g: 2, kind: 'standard', price: 1250, service: 'post' };
  await over(store, now, async (service) => {
    const answer = await service.fetch(new Request('http://127.0.0.1/parcels/1'));
    assert.deepEqual(await answer.json(), carried);
    assert.notEqual(answer.headers.get('etag'), tag);
    assert.match(service.notes.join('\n'), /parcel\.weight becomes weight_g\./);
  });
  // What has no other shape afterwards, such as a mapped price, would show it if it were carried twice.
  await over(store, now, async (service) => {
    assert.deepEqual(await read(service, '/parcels/1'), carried);
    assert.doesNotMatch(service.notes.join('\n'), /becomes/);
  });
});

test('rows of an unversioned document are those of the oldest version that has their fields', async () => {
  const store = await filled(parcels({ fields: { text: 'string' }, required: ['text'] }), { text: 'a' });
  const changes = { v2: [{ rename: 'parcel.text', to: 'title' }] };
  await over(store, parcels({ fields: { title: 'string' }, required: ['title'], versions: v2, changes }), async (service) => {
    assert.deepEqual(await read(service, '/parcels/1'), { id: 1, title: 'a' });
  });
  const newest = await filled(parcels({ fields: { title: 'string' }, required: ['title'] }), { title: 'b' });
  await over(newest, parcels({ fields: { title: 'string' }, required: ['title'], versions: v2, changes }), async (service) => {
    assert.deepEqual(await read(service, '/parcels/1'), { id: 1, title: 'b' });
  });
  const neither = await filled(parcels({ fields: { word: 'string' }, required: ['word'] }), { word: 'c' });
  const { message } = await misfitsOf(
    neither,
    parcels({ fields: { title: 'string' }, required: ['title'], versions: v2, changes }),
  );
  assert.match(message, /fields of no version .* --from VERSION/);
});

test('a change that is added to the current version is carried alone, and a document that goes back is refused', async () => {
  const first = { v2: [{ map: 'parcel.price', was: 'integer', down: 'value / 10', up: 'value * 10' }] };
  const second = { v2: [...first.v2, { rename: 'parcel.price', to: 'cost' }] };
  const store = await filled(parcels({ fields: { price: 'integer' }, versions: v1 }), { price: 1 });
  await over(store, parcels({ fields: { price: 'integer' }, versions: v2, changes: first }), async (service) => {
    assert.deepEqual(await read(service, '/parcels/1'), { id: 1, price: 10 });
  });
  await over(store, parcels({ fields: { cost: 'integer' }, versions: v2, changes: second }), async (service) => {
    assert.deepEqual(await read(service, '/parcels/1'), { id: 1, cost: 10 });
  });
  const back = parcels({
    fields: { cost: 'integer' },
    versions: { v0: {}, v1: { current: true } },
    changes: { v1: [{ add: 'parcel.cost' }] },
  });
  assert.match((await misfitsOf(store, back)).message, /of version v2, which the document does not list/);
});

test('a required field that rows lack gets its default, and is asked for by name where it has none', async () => {
  const store = await filled(parcels({ fields: { text: 'string' } }), { text: 'a' }, {});
  const plain = parcels({ fields: { text: 'string', count: 'integer' }, required: ['count'] });
  const { rows } = await misfitsOf(store, plain);
  assert.deepEqual(
    rows.map(({ resource, count }) => [resource, count]),
    [['parcel', 2]],
  );
  assert.match(String(rows[0]?.examples), /1: \/count is/);
  const told: string[] = [];
  const migration = { before: (plan: readonly string[]) => void told.push(...plan) };
  const usual = parcels({ fields: { text: 'string', count: { type: 'integer', default: 3 } }, required: ['count'] });
  await over(store, usual, async (service) => assert.deepEqual(await read(service, '/parcels/2'), { id: 2, count: 3 }), {
    migration,
  });
  assert.deepEqual(told, ['parcel.count is 3 where a row has none.']);
});

test('the library copies a file before its rows become others, too, unless it is told what to do before', async () => {
  const store = await filled(parcels({ fields: { text: 'string' } }), { text: 'a' });
  const copies = () =>
    readdirSync(folder).filter((name) => join(folder, name).startsWith(`${store}.before-`) && name.endsWith('Z'));
  const count = { type: 'integer', default: 3 };
  const same = parcels({ fields: { text: 'string' } });
  await over(store, same, async () => {});
  assert.deepEqual(copies(), [], 'where nothing becomes anything else there is no copy');
  await over(store, parcels({ fields: { text: 'string', count }, required: ['count'] }), async () => {});
  const [copy, ...others] = copies();
  assert.deepEqual(others, []);
  await over(join(folder, copy!), same, async (service) =>
    assert.deepEqual(await read(service, '/parcels/1'), { id: 1, text: 'a' }),
  );
  const more = parcels({ fields: { text: 'string', count, size: count }, required: ['count', 'size'] });
  await over(store, more, async () => {}, { migration: { before: () => {} } });
  assert.equal(copies().length, 1);
});

test('what no change covers is refused by name with counts and examples: lost fields, values that nothing carries, tightened rules', async () => {
  const store = await filled(parcels({ fields: { a: 'string', b: 'string' }, versions: v1 }), { a: 'x', b: 'y' }, { a: 'long' });
  const renamed = parcels({ fields: { c: 'string' }, versions: v2, changes: { v2: [{ rename: 'parcel.a', to: 'c' }] } });
  assert.match((await misfitsOf(store, renamed)).message, /1 of parcel \(1: \/b: no change says .* remove: parcel\.b/);
  const unmapped = parcels({
    fields: { a: 'integer', b: 'string' },
    versions: v2,
    changes: { v2: [{ map: 'parcel.a', was: 'string', down: 'string(value)', up: 'int(value)' }] },
  });
  assert.match((await misfitsOf(store, unmapped)).message, /2 of parcel \(1: \/a: int\(value\) came to nothing/);
  const tight = parcels({ fields: { a: { type: 'string', maxLength: 2 }, b: 'string' }, versions: v1 });
  assert.match((await misfitsOf(store, tight)).message, /1 of parcel \(2: \/a is 4 characters/);
});

test('a new unique rule over rows that agree names them', async () => {
  const store = await filled(parcels({ fields: { name: 'string' } }), { name: 'a' }, { name: 'b' }, { name: 'a' });
  const { message } = await misfitsOf(store, parcels({ fields: { name: 'string' }, unique: [['name']] }));
  assert.match(message, /parcel is to be unique by name, and several rows hold 1 value: 1 and 3\./);
});

test('a reference that leads nowhere is told before anything starts', async () => {
  const city = { city: { identifier: { field: 'id', generate: 'client' }, fields: { id: 'string' }, required: ['id'] } };
  const store = await filled(parcels({ fields: { to: 'string' }, resources: city }), { to: 'rome' }, {});
  const { message } = await misfitsOf(store, parcels({ fields: { to: { ref: 'city' } }, resources: city }));
  assert.match(message, /1 of parcel \(1: \/to refers to no city\)/);
});

test('rows of a resource that the document has no more are told, renamed with all that is theirs, or given up', async () => {
  const one = (name: string) => ({
    ...parcels({ fields: {} }),
    resources: {
      [name]: { identifier: { field: 'id', generate: 'integer' }, fields: { id: 'integer', text: 'string' }, required: ['id'] },
    },
    endpoints: { 'POST /rows': { does: `create ${name}` }, 'GET /rows': { does: `list ${name}` } },
  });
  const store = newFile();
  await over(store, one('courier'), (service) => post(service, '/rows', { text: 'a' }));
  const { message } = await misfitsOf(store, one('driver'));
  assert.match(message, /1 row of courier are stored|1 row of courier/);
  assert.match(message, /--rename courier=NEW, or --drop courier/);
  await over(
    store,
    one('driver'),
    async (service) => {
      assert.deepEqual(await read(service, '/rows'), [{ id: 1, text: 'a' }]);
      // The numbers go on where they were.
      assert.equal((await post(service, '/rows', {})).id, 2);
    },
    { migration: { renamed: [{ from: 'courier', to: 'driver' }] } },
  );
  await over(store, one('courier'), async (service) => assert.deepEqual(await read(service, '/rows'), []), {
    migration: { dropped: ['driver'] },
  });
  await over(store, one('driver'), async (service) => assert.deepEqual(await read(service, '/rows'), []));
});

test('rows that were accepted although they do not fit stay as they are, and are told again', async () => {
  const store = await filled(parcels({ fields: { a: 'string' } }), { a: 'long' }, { a: 's' });
  const tight = parcels({ fields: { a: { type: 'string', maxLength: 2 }, b: { type: 'integer', default: 1 } }, required: ['b'] });
  await over(
    store,
    tight,
    async (service) => {
      assert.deepEqual(await read(service, '/parcels/1'), { id: 1, a: 'long' });
      assert.deepEqual(await read(service, '/parcels/2'), { id: 2, a: 's', b: 1 });
    },
    { acceptMisfits: true },
  );
  await misfitsOf(store, tight);
});

test('a store from before, which does not say of which version its rows are, is taken as it is or asked for', async () => {
  const document = parcels({
    fields: { title: 'string' },
    versions: v2,
    changes: { v2: [{ rename: 'parcel.text', to: 'title' }] },
  });
  const store = await filled(document, { title: 'a' });
  const database = new DatabaseSync(store);
  database.exec(`UPDATE ninefold_records SET body = '' WHERE key LIKE 'shapes%'`);
  database.close();
  await over(store, document, async (service) => assert.deepEqual(await read(service, '/parcels/1'), { id: 1, title: 'a' }));
  const again = new DatabaseSync(store);
  again.exec(`UPDATE ninefold_records SET body = '', fingerprint = 'of another' WHERE key LIKE 'shapes%'`);
  again.close();
  assert.match((await misfitsOf(store, document)).message, /does not say which version/);
  await over(store, document, async (service) => assert.deepEqual(await read(service, '/parcels/1'), { id: 1, title: 'a' }), {
    migration: { from: 'v2' },
  });
});

/** What a command writes and its exit code. */
async function run(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
  let out = '';
  const write = (text: string) => {
    out += text;
  };
  const code = await main(words, { write, complain: write, isTTY: false, columns: 120, colour: false });
  return { code, out };
}

function documentFile(document: JsonMap): string {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, JSON.stringify(document));
  return path;
}

test('store check says what migrate does, which keeps a copy; backup copies a store in use, and restore puts it back', async () => {
  const store = await filled(parcels({ fields: { a: 'string' } }), { a: 'x' });
  const next = documentFile(parcels({ fields: { a: 'string', n: { type: 'integer', default: 7 } }, required: ['n'] }));
  const checked = await run('store', 'check', next, '--store', store);
  assert.equal(checked.code, 0, checked.out);
  assert.match(checked.out, /parcel\.n is 7 where a row has none\.\nEvery row would fit\./);
  const migrated = await run('store', 'migrate', next, '--store', store, '--json');
  const told = JSON.parse(migrated.out) as { readonly renewed: number; readonly copy: string };
  assert.deepEqual([migrated.code, told.renewed], [0, 1]);
  assert.match(readRow(store), /"n":7/);
  assert.doesNotMatch(readRow(told.copy), /"n"/);
  assert.match((await run('store', 'check', next, '--store', store)).out, /nothing to do/);

  const copy = join(folder, 'copy.sqlite');
  const service = await serve(next, { store });
  const busy = await run('store', 'restore', '--store', store, '--copy', told.copy);
  assert.deepEqual([busy.code, /in use by another process/.test(busy.out)], [2, true]);
  assert.equal((await run('store', 'backup', '--store', store, '--copy', copy)).code, 0);
  await service.close();
  assert.match(readRow(copy), /"n":7/);
  const twice = await run('store', 'backup', '--store', store, '--copy', copy);
  assert.deepEqual([twice.code, /is there already/.test(twice.out)], [2, true]);

  const restored = await run('store', 'restore', '--store', store, '--copy', told.copy, '--json');
  assert.equal(restored.code, 0, restored.out);
  assert.doesNotMatch(readRow(store), /"n"/);
  assert.match(readRow((JSON.parse(restored.out) as { kept: string }).kept), /"n":7/);
  const tight = documentFile(parcels({ fields: { a: 'integer' } }));
  const unfit = await run('store', 'migrate', tight, '--store', store);
  assert.equal(unfit.code, 1);
  assert.match(unfit.out, /1 row of parcel\n {4}1: \/a is "x", not an integer\nNothing was changed\./);
});

function readRow(store: string): string {
  const database = new DatabaseSync(store, { readOnly: true });
  try {
    return String(database.prepare('SELECT group_concat(doc) AS all_of FROM "rows:parcel"').get()?.all_of);
  } finally {
    database.close();
  }
}

test('a damaged file, one that may not be written and one that is no store are told for what they are', async () => {
  const store = await filled(parcels({ fields: { a: 'string' } }), ...Array.from({ length: 40 }, () => ({ a: 'x'.repeat(900) })));
  const document = documentFile(parcels({ fields: { a: 'string' } }));
  const database = new DatabaseSync(store);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const page = Number(database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'rows:parcel'`).get()?.rootpage);
  database.close();
  const bytes = readFileSync(store);
  bytes.fill(0xa5, (page - 1) * 4096, page * 4096);
  writeFileSync(store, bytes);
  assert.throws(() => openStore(store), /is damaged \(.*restore a copy of it/);
  const checked = await run('store', 'check', document, '--store', store);
  assert.equal(checked.code, 1, checked.out);
  assert.match(checked.out, /is damaged; restore a copy/);
  const other = join(folder, 'no-store.sqlite');
  writeFileSync(other, 'not a database at all, but long enough to be looked at as one, which it is not in any way whatsoever');
  const refused = await run('store', 'backup', '--store', other, '--copy', join(folder, 'never.sqlite'));
  assert.deepEqual([refused.code, /is not a store of Ninefold/.test(refused.out)], [2, true]);
  assert.ok(!existsSync(join(folder, 'never.sqlite')));
});

test('a store that serves is read by SQLite’s own tools meanwhile', async () => {
  const store = newFile();
  await over(store, parcels({ fields: { a: 'string' } }), async (service) => {
    await post(service, '/parcels', { a: 'x' });
    const copy = `${store}.copy`;
    const reader = new DatabaseSync(store, { readOnly: true });
    reader.prepare('VACUUM INTO ?').run(copy);
    reader.close();
    assert.match(readRow(copy), /"a":"x"/);
    await post(service, '/parcels', { a: 'y' });
  });
});

/** A process that brings a store up to a document, and says when it begins and when it is done. */
const migrating = `import { main } from ${JSON.stringify(join(import.meta.dirname, '../src/cli.ts'))};
  process.stdout.write('ready\\n');
  await main(['store', 'migrate', process.argv[1], '--store', process.argv[2]]);`;

test('a migration that is killed at any moment is whole or not there at all, and so is its copy', async () => {
  const rows = 3000;
  const store = newFile();
  const seeded = Array.from({ length: rows }, (_, index) => ({ text: `row ${index}` }));
  await over(store, parcels({ fields: { text: 'string' }, versions: v1 }), async () => undefined, { rows: { parcel: seeded } });
  const next = documentFile(
    parcels({ fields: { title: 'string' }, versions: v2, changes: { v2: [{ rename: 'parcel.text', to: 'title' }] } }),
  );
  const whole = new Set<string>();
  let ms = 0;
  for (let round = 0; round < 40 && !whole.has('title'); round++) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', migrating, next, store], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise((resolve) => child.once('close', resolve));
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, ms));
    child.kill('SIGKILL');
    await closed;
    ms = ms === 0 ? 80 : ms * times(3, 2, 1.2);
    const database = new DatabaseSync(store);
    const keys = database
      .prepare(`SELECT DISTINCT json_each.key AS key FROM "rows:parcel", json_each(doc) WHERE json_each.key <> 'id'`)
      .all();
    assert.equal(keys.length, 1, 'rows are of one shape');
    assert.equal(database.prepare('SELECT count(*) AS n FROM "rows:parcel"').get()?.n, rows);
    assert.equal(database.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
    database.close();
    whole.add(String(keys[0]?.key));
    for (const name of readdirSync(folder)) {
      // What is being written is beside it, and so is what SQLite keeps of that until it is.
      if (!name.startsWith(`${files - 1}.sqlite.before-`) || /\.part(?:-|$)/.test(name)) continue;
      const copy = new DatabaseSync(join(folder, name), { readOnly: true });
      assert.equal(copy.prepare('PRAGMA integrity_check').get()?.integrity_check, 'ok');
      assert.equal(copy.prepare('SELECT count(*) AS n FROM "rows:parcel"').get()?.n, rows);
      copy.close();
    }
  }
  assert.deepEqual([...whole].sort(), ['text', 'title'], 'some were killed before the end, and the last was not');
  openSqlite(store).close();
});
