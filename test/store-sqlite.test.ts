import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Locked } from '../src/store/failures.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { QuerySpec } from '../src/store/store.ts';
import { folder, noRows, row, table } from './store-engines.ts';

const rows = table('row', ['n:integer'], { unique: ['n'], indexes: [['n']] });
const modules = ['sqlite/sqlite', 'failures'].map((name) => import.meta.resolve(`../src/store/${name}.ts`));
const start = (code: string) =>
  `import { openSqlite } from ${JSON.stringify(modules[0])}; import { CommitFailed } from ${JSON.stringify(modules[1])};
   const store = openSqlite(process.argv[1]); store.prepare([${JSON.stringify(rows)}], () => [null]); ${code}`;
const WRITING = start(`
  let n = store.read((reader) => reader.count({ table: 'row' }, []));
  const write = async () => {
    for (;;) {
      const mine = n++;
      const id = mine + '-' + process.pid;
      await store.change((tx) => tx.insert('row', { id, entered: 0, doc: 'x'.repeat(mine % 500), columns: [null] }));
      await store.change((tx) => tx.update('row', { id, entered: 1, doc: id, columns: [null] }));
      process.stdout.write(id + '\\n');
    }
  };
  for (let index = 0; index < 16; index++) write();`);
const FULL_DISK = start(`
  const insert = (id) => store.change((tx) => tx.insert('row', { id, entered: 0, doc: 'x'.repeat(200000), columns: [null] }));
  let stored = 0;
  for (;;) {
    const batch = await Promise.allSettled([insert('a' + stored), insert('b' + stored), store.change(() => { throw new Error('own'); })]);
    if (batch[0].status === 'fulfilled') { stored += 2; continue; }
    const left = store.read((reader) => reader.count({ table: 'row' }, []));
    // What fails by itself has its own reason where it came to another commit.
    const failed = batch.every(({ reason }, n) => reason instanceof CommitFailed || (n === 2 && reason.message === 'own'));
    console.log(JSON.stringify({ stored, left, failed, message: batch[0].reason.message }));
    process.exit();
  }`);

function run(code: string, file: string, shell = 'exec "$0" "$@"'): ChildProcess {
  const node = [process.execPath, '--input-type=module', '--eval', code, file];
  return spawn('sh', ['-c', shell, ...node], { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('what was acknowledged before the process was killed is stored whole, and its revisions are not used again', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const acknowledged: string[] = [];
  let last = 0;
  for (let round = 0; round < 10; round++) {
    const child = run(WRITING, file);
    let heard = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (heard === '') setTimeout(() => child.kill('SIGKILL'), Math.random() * 120);
      heard += text;
    });
    await once(child, 'close');
    acknowledged.push(...heard.split('\n').slice(0, -1));

    const store = openSqlite(file);
    store.prepare([rows], noRows);
    const found = new Map((await store.read((reader) => reader.scan('row', 0, 1_000_000))).map((one) => [one.id, one]));
    for (const id of acknowledged) assert.equal(found.get(id)?.doc, id);
    const revisions = [...found.values()].map(({ rev }) => rev);
    assert.equal(new Set(revisions).size, revisions.length);
    const highest = revisions.reduce((one, other) => Math.max(one, other), last);
    const { rev, seq } = await store.change((tx) => tx.insert('row', row(`round ${round}`, null)));
    assert.ok(rev > highest && seq > highest);
    last = rev;
    await store.close();
  }
  assert.ok(acknowledged.length > 0);
});

test('a commit that does not fit on the disk rejects all its changes and stores none', {
  skip: process.platform === 'win32',
}, async (context) => {
  const child = run(FULL_DISK, join(folder(context), 'store.sqlite'), `trap '' XFSZ; ulimit -f 8192; exec "$0" "$@"`);
  let heard = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  await once(child, 'close');
  const { stored, left, failed, message } = JSON.parse(heard);
  assert.ok(stored > 0);
  assert.equal(left, stored);
  assert.ok(failed);
  assert.match(message, /nothing was stored in .*store\.sqlite: .*(full|I\/O)/);
});

test('a body that caught an error of the engine fails all the same, and its neighbours are stored', async (context) => {
  const store = openSqlite(join(folder(context), 'store.sqlite'));
  context.after(() => store.close());
  store.prepare([rows], noRows);
  const settled = await Promise.allSettled([
    store.change((tx) => tx.insert('row', row('a', null))),
    store.change((tx) => {
      for (const value of [{} as never, null]) {
        try {
          tx.insert('row', row('b', value));
        } catch {}
      }
    }),
    store.change((tx) => tx.insert('row', row('d', null))),
  ]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(
    store.read((reader) => ['a', 'b', 'd'].map((id) => reader.get('row', id) !== undefined)),
    [true, false, true],
  );
});

test('a second opening is told that the store is in use', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const store = openSqlite(file);
  assert.throws(() => openSqlite(file, { lockMs: 0 }), Locked);
  const code = `import { openSqlite } from ${JSON.stringify(modules[0])};
    try { openSqlite(process.argv[1], { lockMs: 0 }) } catch (error) { console.log(error.constructor.name + ': ' + error.message) }`;
  const child = run(code, file);
  let heard = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  await once(child, 'close');
  assert.match(heard, /^Locked: .*store\.sqlite is in use by another process; stop that one/);
  await store.close();
  await openSqlite(file, { lockMs: 0 }).close();
});

test('between two changes readers stay in one transaction, and a tool of others reads, copies and even writes meanwhile', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const store = openSqlite(file);
  store.prepare([rows], () => [null]);
  const other = new DatabaseSync(file);
  const count = () => store.read((reader) => reader.count({ table: 'row' }, []));
  const insert = (id: string) => store.change((tx) => tx.insert('row', row(id, 1)));
  assert.equal(count(), 0);
  await insert('a');
  assert.equal(count(), 1);
  other.exec(`VACUUM INTO '${file}-copy'; UPDATE ninefold_revision SET reserved = reserved`);
  assert.equal(
    store.setting('name', () => 'made'),
    'made',
  );
  assert.equal(count(), 1);
  assert.throws(() => store.read(() => assert.fail('own')));
  assert.equal(count(), 1);
  assert.equal(
    store.setting('name', () => 'anew'),
    'made',
  );
  other.close();
  store.copyTo(`${file}-own-copy`);
  await assert.rejects(insert('a'));
  assert.equal(count(), 1);
  await store.close();
});

test('a folder that is named as a store by mistake stays open to whom it was', (context) => {
  const at = folder(context);
  chmodSync(at, 0o755);
  assert.throws(() => openSqlite(at), /cannot be opened/);
  assert.equal(statSync(at).mode & 0o777, 0o755);
  rmSync(`${at}-lock`, { force: true });
});

test('a file that is no store is left alone', async (context) => {
  const at = folder(context);
  writeFileSync(join(at, 'text'), 'not a database, but long enough to have a header of one'.repeat(20));
  assert.throws(() => openSqlite(join(at, 'text')), /text is not a store of Ninefold/);
  const other = new DatabaseSync(join(at, 'other'));
  other.exec('CREATE TABLE mine (a)');
  other.close();
  chmodSync(join(at, 'other'), 0o644);
  const before = readFileSync(join(at, 'other'));
  assert.throws(
    () => openSqlite(join(at, 'other')),
    /other cannot be opened as a store: it is a database, but not one of Ninefold/,
  );
  // Not one byte of it is changed, nor who may read it, and nothing is left beside it.
  assert.deepEqual(readFileSync(join(at, 'other')), before);
  assert.equal(statSync(join(at, 'other')).mode & 0o777, 0o644);
  assert.deepEqual(readdirSync(at).sort(), ['other', 'text']);
  const newer = join(at, 'newer');
  await openSqlite(newer).close();
  const raised = new DatabaseSync(newer);
  raised.exec('PRAGMA user_version = 2');
  raised.close();
  assert.throws(() => openSqlite(newer), /newer Ninefold/);
  assert.throws(() => openSqlite(join(at, 'none', 'store')), /none.store cannot be opened/);
});

test('a store in memory is like one in a file', async () => {
  const store = openSqlite(':memory:');
  store.prepare([rows], noRows);
  await store.change((tx) => tx.insert('row', row('a', 1)));
  assert.equal(
    store.read((reader) => reader.holder('row', 'n', 1)),
    'a',
  );
  await store.close();
});

test('the log is kept at its size and written over', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const store = openSqlite(file, { checkpointPages: 50 });
  context.after(() => store.close());
  store.prepare([rows], noRows);
  const sizes: number[] = [];
  for (let index = 0; index < 400; index++) {
    await store.change((tx) => tx.insert('row', row(String(index), index)));
    sizes.push(statSync(`${file}-wal`).size);
  }
  assert.deepEqual(
    sizes,
    [...sizes].sort((a, b) => a - b),
  );
  assert.equal(sizes.at(-1), sizes[200]);
});

test('rows that have to be sorted, or picked out of others, are gone through once for a page that is one text', async (context) => {
  const prepared: string[] = [];
  const { prepare } = DatabaseSync.prototype;
  context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    if (!sql.startsWith('EXPLAIN')) prepared.push(sql);
    return prepare.call(this, sql);
  });
  const store = openSqlite(':memory:');
  store.prepare([table('row', ['a:text', 'b:text', 'n:integer'], { indexes: [['a', 'n'], ['b']] })], noRows);
  const equal = (column: string) => ({ op: '=', left: { column }, right: { param: 0 } }) as const;
  const order = [{ column: 'n' }];
  const questions: [read: 'off an index' | 'once', Omit<QuerySpec, 'table' | 'limit'>][] = [
    ['off an index', {}],
    ['off an index', { where: equal('a'), order }],
    ['off an index', { where: equal('b') }],
    ['once', { order }],
    ['once', { where: equal('b'), order }],
    ['once', { where: { op: 'and', of: [equal('a'), equal('b')] }, order }],
    ['once', { where: { op: 'not', of: equal('a') } }],
    ['once', { where: { op: 'or', of: [equal('a'), equal('b')] } }],
  ];
  for (const [read, query] of questions) {
    prepared.length = 0;
    store.read((reader) => reader.joined({ table: 'row', lean: true, keys: true, ...query, limit: 1 }, ['x', 20], true));
    assert.equal(prepared.some((sql) => sql.includes('group_concat')) ? 'off an index' : 'once', read, JSON.stringify(query));
    assert.equal(prepared.length, read === 'once' ? 1 : 2);
  }
  await store.close();
});

/** The steps of a plan that put the rows of others one after the other. */
const isTogether = /^(?:COMPOUND QUERY|LEFT-MOST SUBQUERY|UNION ALL|CO-ROUTINE .*|SCAN \(subquery-\d+\))$/;

test('a page anywhere in a sorted and filtered list is one range of an index, without sorting', async (context) => {
  const plans: [sql: string, plan: string][] = [];
  const { prepare } = DatabaseSync.prototype;
  context.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string) {
    if (sql.includes('ORDER BY t.') && !sql.startsWith('EXPLAIN')) {
      const plan = prepare.call(this, `EXPLAIN QUERY PLAN ${sql}`).all(...Array(sql.split('?').length - 1).fill(null));
      plans.push([sql, plan.map(({ detail }) => detail).join('; ')]);
    }
    return prepare.call(this, sql);
  });
  const store = openSqlite(':memory:');
  const index = ['a', { column: 'n', descending: true }];
  store.prepare(
    [table('row', ['a:text', 'n:integer', 't:text'], { indexes: [['a'], ['a', 'n'], index, ['a', 't', 'n']] })],
    noRows,
  );
  const orders = [[], ['n'], ['-n'], ['t', 'n'], ['-t', '-n']];
  for (const words of orders) {
    const order = words.map((word) => ({ column: word.replace('-', ''), descending: word.startsWith('-') }));
    // Turned round as a whole, or as the index that ascends.
    for (const newestFirst of words.length === 2 ? [words[0] === '-t'] : [false, true]) {
      for (const value of [1, null]) {
        const where = { op: '=', left: { column: 'a' }, right: { param: 0 } } as const;
        const query: QuerySpec = { table: 'row', where, order, newestFirst, limit: 1 };
        store.read((reader) => reader.all(query, ['x', 20]));
        const next = { ...query, after: 2 };
        const values = ['x', 20, ...order.map(() => value), 1];
        store.read((reader) => reader.all(next, values));
        store.read((reader) => reader.joined({ ...next, lean: true }, values, true));
      }
    }
  }
  await store.close();
  assert.ok(plans.filter(([sql]) => sql.includes('group_concat')).length > 10);
  assert.ok(plans.length > 50);
  for (const [sql, plan] of plans) {
    for (const step of plan.split('; ').filter((step) => !isTogether.test(step))) {
      assert.match(step, /^SEARCH t USING (?:COVERING )?INDEX .*\(a:text=\?.*\)$/, sql);
      if (/ AND t\./.test(sql)) assert.match(step, / AND /, sql);
    }
  }
});

test('a change whose delayed write fails fails alone, and nothing of it is left', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const store = openSqlite(file);
  context.after(() => store.close());
  await store.prepare([table('seat', ['level:integer'])], noRows);
  await store.change((tx) => tx.insert('seat', row('a', 1)));
  const event = (id: string) => ({
    id,
    kind: 'sat',
    atMs: 0,
    operation: 'sit',
    resource: null,
    row: null,
    payload: '{}',
    image: null,
  });
  const runs = [0, 0, 0];
  const settled = await Promise.allSettled([
    store.change((tx) => {
      runs[0]! += 1;
      tx.outbox.addEvent(event('one'));
      tx.insert('seat', row('b', 1));
    }),
    store.change((tx) => {
      runs[1]! += 1;
      tx.insert('seat', row('c', 1));
      tx.update('seat', row('a', 2));
      tx.keep('k', { fingerprint: '', body: '', expiresMs: 9 });
      tx.outbox.addEvent(event('one'));
    }),
    store.change((tx) => {
      runs[2]! += 1;
      tx.outbox.addEvent(event('two'));
      return tx.count({ table: 'seat' }, []);
    }),
  ]);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.match(String(settled[1]?.status === 'rejected' && settled[1].reason), /UNIQUE constraint failed: ninefold_events.id/);
  assert.equal(settled[2]?.status === 'fulfilled' && settled[2].value, 2);
  // The last one counts, so that the write of those that are committed with it was carried out, and failed, while it ran: each of these is run once more. A busy
  // machine may commit one by itself.
  assert.ok(
    runs.every((times) => times === 1 || times === 2),
    String(runs),
  );
  assert.deepEqual(await store.read((reader) => reader.scan('seat', 0, 9).map(({ id, doc }) => [id, doc])), [
    ['a', row('a', 1).doc],
    ['b', row('b', 1).doc],
  ]);
  assert.equal(await store.read((reader) => reader.record('k', 0)), undefined);
  assert.deepEqual(await store.read((reader) => reader.outbox.events(0, 9).map(({ id }) => id)), ['one', 'two']);
});

test('a change that delays very many writes is stored whole', async (context) => {
  const store = openSqlite(join(folder(context), 'store.sqlite'));
  context.after(() => store.close());
  await store.prepare([table('seat', ['level:integer'])], noRows);
  const ids = Array.from({ length: 1000 }, (_, index) => `s${index}`);
  await store.change((tx) => ids.map((id) => tx.insert('seat', row(id, 1))));
  const atTwo = { table: 'seat', where: { op: '=', left: { column: 'level' }, right: { param: 0 } } } as const;
  await store.change((tx) => ids.map((id) => tx.update('seat', row(id, 2))));
  assert.equal(await store.read((reader) => reader.count(atTwo, [2])), 1000);
});

test('what has expired is removed also where lasting records are asked for', async (context) => {
  const file = join(folder(context), 'store.sqlite');
  const store = openSqlite(file);
  const keep = (key: string, nowMs: number) =>
    store.change((tx) => {
      tx.record(key, nowMs);
      tx.record('lasting', 0);
      tx.keep(key, { fingerprint: '', body: '', expiresMs: nowMs + 10 });
    });
  await keep('a', 100);
  await keep('b', 200);
  await store.close();
  const database = new DatabaseSync(file);
  assert.deepEqual(
    database
      .prepare('SELECT key FROM ninefold_records')
      .all()
      .map(({ key }) => key),
    ['b'],
  );
  database.close();
});

test('a row that a lost batch had replaced is read as it was', async (context) => {
  const store = openSqlite(join(folder(context), 'store.sqlite'));
  context.after(() => store.close());
  await store.prepare([table('seat', ['level:integer'])], noRows);
  const sat = { id: 'one', kind: 'sat', atMs: 0, operation: 'sit', resource: null, row: null, payload: '{}', image: null };
  const before = await store.change((tx) => tx.insert('seat', row('a', 1)));
  await store.change((tx) => tx.outbox.addEvent(sat));
  let runs = 0;
  const lost = store.change((tx) => {
    // What is run again may come to something else: nothing is left of the first time.
    if (++runs > 1) throw new Error('no');
    tx.update('seat', row('a', 2));
    tx.outbox.addEvent(sat);
  });
  await assert.rejects(lost, /no/);
  assert.deepEqual(await store.read((reader) => reader.get('seat', 'a')), before);
});
