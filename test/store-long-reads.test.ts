import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { movableClock, parseDocument, serve } from '../src/index.ts';
import { ReadTooLong } from '../src/store/failures.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Condition, QuerySpec, Reader, Store, TableSpec } from '../src/store/store.ts';
import { folder, noRows, row, slices, table } from './store-engines.ts';

const things: TableSpec = table('thing', ['t:text', 'n:integer'], { indexes: [['n']] });
const named: QuerySpec = {
  table: 'thing',
  where: { op: 'contains', left: { column: 't' }, right: { param: 0 } },
  limit: 1,
};
const count = 200;

/** A store whose long reads take a turn of the event loop for every two rows, and its disk no time: what is counted here are turns. */
async function filled(path: string, options: object = {}): Promise<Store> {
  const store = openSqlite(path, { longReads: { ...slices, ...options }, sync: (_, done) => done(null) });
  await store.prepare([things], noRows);
  await store.change((rows) => {
    for (let n = 0; n < count; n++) rows.insert('thing', row(`${n}`, `name ${n}`, n % 3));
  });
  return store;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

for (const [where, pathOf] of [
  ['a file', (context: Parameters<typeof folder>[0]) => join(folder(context), 'store.sqlite')],
  ['memory', () => ':memory:'],
] as const) {
  test(`in ${where}, other reads and changes are answered while a long read is under way`, async (context) => {
    const store = await filled(pathOf(context));
    context.after(() => store.close());
    const told: string[] = [];
    let looks = 0;
    const reading = Promise.resolve(
      store.read(
        (rows) => rows.all(named, ['name', -1]).length,
        () => looks++,
      ),
    ).then((found) => told.push(`${found} found`));
    for (let n = 0; n < 5; n++) {
      await turn();
      assert.equal(await store.read((rows) => rows.get('thing', '7')?.id), '7');
      await store.change((rows) => rows.update('thing', row('7', `name ${n}`, 1)));
      told.push(`turn ${n}`);
    }
    await reading;
    assert.deepEqual(told, ['turn 0', 'turn 1', 'turn 2', 'turn 3', 'turn 4', `${count} found`]);
    assert.ok(looks >= count / 2, 'it is asked at each slice whether it is to go on');
  });

  test(`in ${where}, a long read ends where whoever asked does not want it any more`, async (context) => {
    const store = await filled(pathOf(context));
    context.after(() => store.close());
    let looks = 0;
    const gone = new Error('nobody waits');
    const reading = Promise.resolve(
      store.read(
        (rows) => rows.count(named, ['name']),
        () => {
          looks += 1;
          if (looks === 3) throw gone;
        },
      ),
    );
    await assert.rejects(reading, gone);
    for (let n = 0; n < 10; n++) await turn();
    assert.equal(looks, 3);
    assert.equal(await store.read((rows) => rows.count(named, ['name 19'])), 11);
  });

  test(`in ${where}, a question that fits into a turn is answered at once`, async (context) => {
    const store = openSqlite(pathOf(context));
    context.after(() => store.close());
    await store.prepare([things], noRows);
    await store.change((rows) => rows.insert('thing', row('1', 'name', 1)));
    const found = store.read((rows) => [rows.all(named, ['am', -1]).length, rows.count(named, ['am'])]);
    assert.deepEqual(found, [1, 1]);
  });

  test(`in ${where}, closing ends a long read, and none is left waiting`, async (context) => {
    const store = await filled(pathOf(context));
    const readings = Array.from({ length: 9 }, () => Promise.resolve(store.read((rows) => rows.count(named, ['name']))));
    const settled = Promise.allSettled(readings);
    await turn();
    await store.close();
    for (const { status } of await settled) assert.equal(status, 'rejected');
  });
}

test('a long read sees the rows of one moment, whatever changes meanwhile, in each of its questions', async (context) => {
  const store = await filled(join(folder(context), 'store.sqlite'));
  context.after(() => store.close());
  const look = (rows: Reader) => [
    rows.count(named, ['name']),
    rows.all(named, ['name', -1]).length,
    rows.all({ ...named, order: [{ column: 't' }] }, ['name', -1]).length,
    rows.get('thing', '9')?.id,
  ];
  const reading = store.read(look);
  for (let n = 20; n > 0; n--) {
    await store.change((rows) => rows.remove('thing', `${n}`));
    await turn();
  }
  assert.deepEqual(await reading, [count, count, count, '9']);
  assert.deepEqual(await store.read(look), [count - 20, count - 20, count - 20, undefined]);
});

test('a long read that nobody ends ends by itself, with a failure that says so', async (context) => {
  const store = await filled(':memory:', { mostMs: -1 });
  context.after(() => store.close());
  await assert.rejects(async () => store.read((rows) => rows.count(named, ['name'])), ReadTooLong);
});

test('a long read goes along the index that its rows are a part of, and looks at no others', async (context) => {
  const store = await filled(':memory:');
  context.after(() => store.close());
  const where = (part: Condition): Condition => ({ op: 'and', of: [part, named.where!] });
  const looksAt = async (query: QuerySpec): Promise<readonly [found: number, looks: number]> => {
    let looks = 0;
    const found = await store.read(
      (rows) => rows.numbers(query, ['name']).length,
      () => looks++,
    );
    return [found, looks];
  };
  await store.change((rows) => [rows.update('thing', row('7', 'name 7', 3)), rows.update('thing', row('8', 'other', 3))]);
  for (const part of [
    { op: '=', left: { column: 'n' }, right: { value: 3 } },
    { op: '>', left: { column: 'n' }, right: { value: 2 } },
  ] as const) {
    const [found, looks] = await looksAt({ table: 'thing', where: where(part) });
    assert.equal(found, 1);
    assert.ok(looks < 5, `${looks} looks`);
  }
  const [, looks] = await looksAt({ table: 'thing', where: where({ op: '!=', left: { column: 'n' }, right: { value: 3 } }) });
  assert.ok(looks > count / 4, 'without such an index all rows are looked at');
});

test('writing the file anew waits for long reads, and those that come meanwhile wait for it', async (context) => {
  const store = await filled(join(folder(context), 'store.sqlite'));
  context.after(() => store.close());
  const told: string[] = [];
  const look = (name: string) =>
    Promise.resolve(store.read((rows) => rows.count(named, ['name']))).then((found) => told.push(`${name} ${found}`));
  const first = look('first');
  await turn();
  const compacting = store.compact().then(() => told.push('compact'));
  await turn();
  await turn();
  await Promise.all([first, compacting, look('second')]);
  assert.deepEqual(told, [`first ${count}`, 'compact', `second ${count}`]);
});

const document = (limits: string) => `
resources:
  note:
    identifier: { field: id, generate: "{uuid}" }
    fields: { id: string, text: string }
    required: [id, text]
endpoints:
  POST /notes: { does: create note }
  GET /notes: { does: list note, parameters: { q: { in: query, filters: text, op: contains } } }
  GET /notes/{id}: { does: read note }
authentication: none
errors: { payload: problem, codes: { slow: { status: 504, when: limit.time } } }
limits: { pagination: { style: none }, ${limits} }
`;

async function withNotes(
  limits: string,
  longReads: object,
  body: (asked: {
    readonly get: (path: string) => Promise<Response>;
    readonly clock: ReturnType<typeof movableClock>;
    readonly failures: unknown[];
  }) => Promise<void>,
): Promise<void> {
  const clock = movableClock(Date.parse('2026-06-01T09:00:00Z'));
  const failures: unknown[] = [];
  const store = openSqlite(':memory:', { longReads: { ...slices, ...longReads } });
  const rows = { note: Array.from({ length: count }, (_, n) => ({ id: `n${n}`, text: `text ${n}` })) };
  const service = await serve(parseDocument(document(limits), 'notes.yaml'), {
    clock,
    store,
    rows,
    onFailure: (failure) => failures.push(failure),
  });
  const get = (path: string) => Promise.resolve(service.fetch(new Request(`http://127.0.0.1${path}`)));
  try {
    await body({ get, clock, failures });
  } finally {
    await service.close();
  }
}

test('the stated time ends a list that no index answers, and it is answered as the document says', () =>
  withNotes('timeout: { request: 10s }', {}, async ({ get, clock, failures }) => {
    const listing = get('/notes?q=nowhere');
    await turn();
    await turn();
    assert.equal((await get('/notes/n3')).status, 200);
    clock.advance(10_000);
    const late = await listing;
    assert.equal(late.status, 504);
    assert.equal(((await late.json()) as { code: string }).code, 'slow');
    for (let n = 0; n < count; n++) await turn();
    assert.deepEqual(failures, []);
    const found = await (await get('/notes?q=text%2059')).json();
    assert.deepEqual(found, [{ id: 'n59', text: 'text 59' }]);
  }));

test('where no time is stated a list that takes too long is 503 with Retry-After, and told', () =>
  withNotes('', { mostMs: -1 }, async ({ get, failures }) => {
    const { status, headers } = await get('/notes?q=nowhere');
    assert.deepEqual([status, headers.get('retry-after')], [503, '5']);
    assert.ok(failures[0] instanceof ReadTooLong);
  }));
