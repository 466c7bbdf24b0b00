import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Duplicate } from '../src/store/failures.ts';
import type { Row, Scalar, Store, TableSpec } from '../src/store/store.ts';
import { engines, noRows, row, table } from './store-engines.ts';

/** Column values taken from the row's document by name, as serving does it. */
const columnsOf =
  (...specs: TableSpec[]) =>
  (name: string, { doc }: Row): Scalar[] => {
    const values = JSON.parse(doc);
    return specs.find((spec) => spec.name === name)!.columns.map((column) => values[column.name] ?? null);
  };
const add = (store: Store, name: string, values: Record<string, Scalar>, ...columns: Scalar[]) =>
  store.change((tx) => tx.insert(name, { id: String(values.id), entered: 0, doc: JSON.stringify(values), columns }));
const holder = (store: Store, column: string, value: Scalar) => store.read((reader) => reader.holder('parcel', column, value));

for (const engine of engines) {
  const it = (name: string, body: (store: Store, again: () => Promise<Store>) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store, again } = await engine.open(context);
      await body(store, again);
    });

  it('preparing says what it added, and nothing the second time', async (store, again) => {
    const before = table('parcel', ['a:text']);
    const after = table('parcel', ['b:integer', 'a:text'], { unique: ['b'], indexes: [['a', 'b']] });
    assert.deepEqual(await store.prepare([before], noRows), { added: ['parcel'], refilled: 0, renewed: 0 });
    await add(store, 'parcel', { id: '1', a: 'x', b: 5 }, 'x');
    await add(store, 'parcel', { id: '2', a: 'y' }, 'y');
    assert.deepEqual(await store.prepare([after], columnsOf(after)), { added: ['parcel.b'], refilled: 2, renewed: 0 });
    assert.equal(await holder(store, 'b', 5), '1');
    assert.equal(await holder(store, 'a', 'y'), '2');
    assert.deepEqual(await store.prepare([after], noRows), { added: [], refilled: 0, renewed: 0 });
    const opened = await again();
    assert.deepEqual(await opened.prepare([after], noRows), { added: [], refilled: 0, renewed: 0 });
    await assert.rejects(add(opened, 'parcel', { id: '3' }, 5, 'x'), Duplicate);
  });

  it('a column of another type, or made otherwise, is filled anew', async (store) => {
    const number = table('parcel', ['a:integer']);
    const text = table('parcel', ['a:text'], { unique: ['a'] });
    await store.prepare([number], noRows);
    await add(store, 'parcel', { id: '1', a: 'x' }, 5);
    assert.deepEqual(await store.prepare([text], columnsOf(text)), { added: ['parcel.a'], refilled: 1, renewed: 0 });
    assert.equal(await holder(store, 'a', 'x'), '1');
    const folded = { ...text, columns: [{ name: 'a', type: 'text', made: 'in upper case' } as const] };
    assert.deepEqual(await store.prepare([folded], () => ['X']), { added: [], refilled: 1, renewed: 0 });
    assert.equal(await holder(store, 'a', 'x'), undefined);
    assert.equal(await holder(store, 'a', 'X'), '1');
    assert.deepEqual(await store.prepare([folded], noRows), { added: [], refilled: 0, renewed: 0 });
    await store.prepare([number], () => [6]);
    assert.equal(await holder(store, 'a', 6), '1');
  });

  it('values that change places when they are made otherwise stay unique', async (store) => {
    const spec = table('parcel', ['a:text'], { unique: ['a'] });
    await store.prepare([spec], noRows);
    await add(store, 'parcel', { id: '1' }, 'x');
    await add(store, 'parcel', { id: '2' }, 'y');
    const turned = { ...spec, columns: [{ name: 'a', type: 'text', made: 'turned' } as const] };
    assert.deepEqual(await store.prepare([turned], (_, { id }) => [id === '1' ? 'y' : 'x']), {
      added: [],
      refilled: 2,
      renewed: 0,
    });
    assert.deepEqual([await holder(store, 'a', 'x'), await holder(store, 'a', 'y')], ['2', '1']);
    await assert.rejects(add(store, 'parcel', { id: '3' }, 'x'), Duplicate);
  });

  it('a column that was not asked for meanwhile is filled anew', async (store) => {
    const spec = table('parcel', ['a:text'], { unique: ['a'] });
    await store.prepare([spec], noRows);
    await add(store, 'parcel', { id: '1', a: 'x' }, 'x');
    await add(store, 'parcel', { id: '2', a: 'y' }, 'y');
    await store.prepare([table('parcel', [])], noRows);
    await store.change((tx) => tx.update('parcel', { ...row('1'), doc: '{"id":"1","a":"y"}' }));
    await store.change((tx) => tx.update('parcel', { ...row('2'), doc: '{"id":"2","a":"x"}' }));
    await add(store, 'parcel', { id: '3' });
    assert.deepEqual(await store.prepare([spec], columnsOf(spec)), { added: [], refilled: 3, renewed: 0 });
    assert.deepEqual([await holder(store, 'a', 'x'), await holder(store, 'a', 'y')], ['2', '1']);
  });

  it('a table that was not asked for meanwhile keeps its rows', async (store, again) => {
    const spec = table('parcel', ['a:text']);
    await store.prepare([spec, table('person', [])], noRows);
    await add(store, 'parcel', { id: '1' }, 'x');
    await store.prepare([table('person', [])], noRows);
    await assert.rejects(async () => store.read((reader) => reader.get('parcel', '1')), /no table parcel/);
    const opened = await again();
    assert.deepEqual(await opened.prepare([spec], noRows), { added: [], refilled: 0, renewed: 0 });
    assert.equal(await holder(opened, 'a', 'x'), '1');
  });

  it('rows that break a new unique column are named, and the store is as before', async (store) => {
    const before = table('parcel', ['b:text']);
    const after = table('parcel', ['a:text', 'b:text'], { unique: ['a'] });
    await store.prepare([before], noRows);
    await add(store, 'parcel', { id: '1', a: 'x' }, 'b');
    await add(store, 'parcel', { id: '2', a: 'x' }, 'b');
    const prepare = async () => store.prepare([table('person', []), after], columnsOf(after));
    await assert.rejects(prepare, (error) => error instanceof Duplicate && error.table === 'parcel' && error.column === 'a');
    assert.deepEqual(await store.prepare([before], noRows), { added: [], refilled: 0, renewed: 0 });
    await store.change((tx) => tx.update('parcel', { ...row('2'), columns: ['c'] }));
    assert.deepEqual(await prepare(), { added: ['person', 'parcel.a'], refilled: 2, renewed: 0 });
  });

  it('an error while columns are filled leaves the store as before', async (store) => {
    await store.prepare([table('parcel', [])], noRows);
    await add(store, 'parcel', { id: '1' });
    await assert.rejects(async () => store.prepare([table('parcel', ['a:text'])], noRows), /no row was expected/);
    assert.equal(await store.read((reader) => reader.get('parcel', '1')?.id), '1');
    assert.deepEqual(await store.prepare([table('parcel', ['a:text'])], () => [null]), {
      added: ['parcel.a'],
      refilled: 1,
      renewed: 0,
    });
  });

  it('a column is unique no longer when it is not asked for', async (store) => {
    await store.prepare([table('parcel', ['a:text'], { unique: ['a'] })], noRows);
    await store.prepare([table('parcel', ['a:text'])], noRows);
    await add(store, 'parcel', { id: '1' }, 'x');
    await add(store, 'parcel', { id: '2' }, 'x');
  });

  it('any words are names of tables and columns', async (store, again) => {
    const odd = [
      'select',
      'Select',
      'SELECT',
      'a b',
      'a"b',
      "a'b",
      'a`b',
      '"',
      '',
      'ä',
      'Ä',
      '^a',
      'A',
      'a',
      '__proto__',
      'constructor',
    ];
    const more = [
      'sqlite_master',
      'ninefold_tables',
      'rowid',
      '\0',
      'a\0b',
      ';--',
      'doc',
      'a:text',
      '😀',
      '?',
      '%',
      'rows:a',
      'x'.repeat(300),
    ];
    const words = [...odd, ...more];
    const specs = words.map((name) => ({
      ...table(name, []),
      columns: words.map((column) => ({ name: column, type: 'text' as const })),
      unique: words.slice(0, 20),
      indexes: [[name, 'a'], [{ column: name, descending: true }]],
    }));
    await store.prepare(specs, noRows);
    const write = (open: Store, id: string) =>
      open.change((tx) =>
        words.map((name) => tx.insert(name, { ...row(id), columns: words.map((word) => `${name}.${word}.${id}`) })),
      );
    await write(store, '1');
    const opened = await again();
    assert.deepEqual(await opened.prepare(specs, noRows), { added: [], refilled: 0, renewed: 0 });
    await write(opened, '2');
    for (const name of words) {
      for (const column of words) {
        const query = {
          table: name,
          where: { op: '=', left: { column }, right: { param: 0 } },
          order: [{ column }],
          keys: true,
        } as const;
        const found = await opened.read((reader) => reader.all(query, [`${name}.${column}.2`]));
        assert.deepEqual(
          found.map(({ id, keys }) => [id, keys]),
          [['2', [`${name}.${column}.2`]]],
        );
      }
    }
  });

  it('a stated column named as one of the engine comes first', async (store) => {
    await store.prepare([table('parcel', ['id:text', 'seq:integer', 'rev:text'], { unique: ['id'] })], noRows);
    await store.change((tx) => tx.insert('parcel', row('1', 'own', 2, 'r')));
    await store.change((tx) => tx.insert('parcel', row('2', 'other', 1, 'r')));
    assert.equal(await holder(store, 'id', 'own'), '1');
    const found = await store.read((reader) => reader.all({ table: 'parcel', order: [{ column: 'seq' }], keys: true }, []));
    assert.deepEqual(
      found.map(({ id, keys }) => [id, keys]),
      [
        ['2', [1]],
        ['1', [2]],
      ],
    );
    await assert.rejects(
      store.change((tx) => tx.insert('parcel', row('3', 'own', 3, 'r'))),
      (error) => error instanceof Duplicate && error.column === 'id',
    );
  });
}
