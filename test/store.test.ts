import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Duplicate } from '../src/store/failures.ts';
import type { QuerySpec, Store, Transaction } from '../src/store/store.ts';
import { engines, noRows, row, table } from './store-engines.ts';

const parcels = table('parcel', ['slug:text', 'weight:integer'], { unique: ['slug'], indexes: [['weight']] });
const every: QuerySpec = { table: 'parcel' };
const ids = async (store: Store) => (await store.read((reader) => reader.all(every, []))).map(({ id }) => id);

for (const engine of engines) {
  const it = (name: string, body: (store: Store, again: () => Promise<Store>) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store, again } = await engine.open(context);
      await store.prepare([parcels], noRows);
      await body(store, async () => {
        const opened = await again();
        await opened.prepare([parcels], noRows);
        return opened;
      });
    });

  it('a row is read as it was written, with its creation number and revision', async (store) => {
    const made = await store.change((tx) => tx.insert('parcel', { id: 'a', entered: 7, doc: '{"a":1}', columns: ['x', 1] }));
    assert.deepEqual(await store.read((reader) => reader.get('parcel', 'a')), made);
    assert.deepEqual({ ...made, seq: 0, rev: 0 }, { id: 'a', entered: 7, doc: '{"a":1}', seq: 0, rev: 0 });
    assert.equal(await store.read((reader) => reader.get('parcel', 'A')), undefined);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'x')), 'a');
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'y')), undefined);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', null)), undefined);
  });

  it('an update keeps the creation number and raises the revision, and needs its row', async (store) => {
    const made = await store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
    const updated = await store.change((tx) => tx.update('parcel', { id: 'a', entered: 9, doc: '[]', columns: ['y', null] }));
    assert.deepEqual(await store.read((reader) => reader.get('parcel', 'a')), updated);
    assert.equal(updated.seq, made.seq);
    assert.ok(updated.rev > made.rev);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'x')), undefined);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'y')), 'a');
    await assert.rejects(
      store.change((tx) => tx.update('parcel', row('b', null, null))),
      /no row b/,
    );
  });

  it('rows are scanned in pages, oldest first', async (store) => {
    await store.change((tx) => {
      for (const id of ['e', 'd', 'c', 'b', 'a']) tx.insert('parcel', row(id, null, null));
    });
    const seen: string[] = [];
    for (let after = 0; ; ) {
      const page = await store.read((reader) => reader.scan('parcel', after, 2));
      assert.ok(page.length <= 2);
      if (page.length === 0) break;
      for (const { id, seq } of page) {
        seen.push(id);
        after = seq;
      }
    }
    assert.deepEqual(seen, ['e', 'd', 'c', 'b', 'a']);
  });

  it('revisions and creation numbers are never used again, not after a removal nor after reopening', async (store, again) => {
    const seen = new Set<number>();
    let last = 0;
    let open = store;
    for (let round = 0; round < 4; round++) {
      for (const write of ['insert', 'update'] as const) {
        const { seq, rev } = await open.change((tx) => tx[write]('parcel', row('a', 'x', round)));
        assert.ok(rev > last && !seen.has(rev), `${rev} after ${last}`);
        if (write === 'insert') assert.ok(seq > last, `${seq} after ${last}`);
        seen.add(rev);
        last = rev;
      }
      await open.change((tx) => tx.remove('parcel', 'a'));
      if (round % 2) open = await again();
    }
  });

  const takes: [name: string, column: string, write: (tx: Transaction) => unknown][] = [
    ['an id on insert', 'id', (tx) => tx.insert('parcel', row('a', 'z', 1))],
    ['a unique value on insert', 'slug', (tx) => tx.insert('parcel', row('c', 'x', 1))],
    ['a unique value on update', 'slug', (tx) => tx.update('parcel', row('b', 'x', 1))],
  ];
  for (const [name, column, write] of takes) {
    it(`taking ${name} is refused, naming table and column, and writes nothing`, async (store) => {
      await store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
      await store.change((tx) => tx.insert('parcel', row('b', 'y', 1)));
      const caught = await store.change((tx) => {
        try {
          write(tx);
          return undefined;
        } catch (error) {
          tx.insert('parcel', row('after', null, null));
          return error;
        }
      });
      assert.ok(caught instanceof Duplicate);
      assert.deepEqual([caught.table, caught.column], ['parcel', column]);
      assert.deepEqual(await ids(store), ['a', 'b', 'after']);
      assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'y')), 'b');
      await assert.rejects(store.change(write), Duplicate);
    });
  }

  it('an absent value is held by any number of rows', async (store) => {
    await store.change((tx) => [tx.insert('parcel', row('a', null, 1)), tx.insert('parcel', row('b', null, 1))]);
    assert.deepEqual(await ids(store), ['a', 'b']);
  });

  it('a row that is removed is gone, and one that is not there is nothing', async (store) => {
    await store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
    await store.change((tx) => ['a', 'b'].forEach((id) => void tx.remove('parcel', id)));
    assert.deepEqual(await ids(store), []);
    await store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
  });

  it('what was written is there after reopening', async (store, again) => {
    await store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
    await store.change((tx) => tx.keep('k', { fingerprint: 'f', body: 'b', expiresMs: 100 }));
    await store.change((tx) => tx.setTimer({ resource: 'parcel', id: 'a', name: 'expire', dueMs: 5, token: 't' }));
    await store.change((tx) => tx.next('invoice'));
    const key = await store.setting('key', () => 'secret');
    const opened = await again();
    assert.equal(await opened.read((reader) => reader.holder('parcel', 'slug', 'x')), 'a');
    assert.deepEqual(await opened.read((reader) => reader.record('k', 99)), { fingerprint: 'f', body: 'b', expiresMs: 100 });
    assert.equal(await opened.nextDue(), 5);
    assert.equal(await opened.change((tx) => tx.next('invoice')), 2);
    assert.equal(await opened.setting('key', noRows), key);
  });

  it('a record is found until it expires, replaced when kept again, and purged later', async (store) => {
    const record = (expiresMs: number, body = '') => ({ fingerprint: 'f', body, expiresMs });
    await store.change((tx) => {
      for (let index = 0; index < 10; index++) tx.keep(`old${index}`, record(100));
      tx.keep('k', record(100, 'first'));
      tx.keep('k', record(200, 'second'));
    });
    assert.equal(await store.read((reader) => reader.record('k', 199)?.body), 'second');
    assert.equal(await store.read((reader) => reader.record('k', 200)), undefined);
    assert.equal(await store.read((reader) => reader.record('none', 200)), undefined);
    for (let index = 0; index < 10; index++) await store.change((tx) => tx.keep(`new${index}`, record(500)));
    const found = (key: string) => store.read((reader) => reader.record(key, 0));
    assert.equal(await found('k'), undefined);
    assert.equal(await found('old0'), undefined);
    assert.notEqual(await found('new0'), undefined);
  });

  it('what has expired is purged also where changes ask for records that never expire, which they do without a time', async (store) => {
    const record = (expiresMs: number) => ({ fingerprint: 'f', body: '', expiresMs });
    await store.change((tx) => {
      for (let index = 0; index < 10; index++) tx.keep(`old${index}`, record(100));
      tx.keep('lasting', record(Number.MAX_SAFE_INTEGER));
    });
    for (let index = 0; index < 10; index++)
      await store.change((tx) => {
        assert.equal(tx.record(`new${index}`, 200), undefined);
        assert.notEqual(tx.record('lasting', 0), undefined);
        tx.keep(`new${index}`, record(500));
      });
    const found = (key: string) => store.read((reader) => reader.record(key, 1));
    for (let index = 0; index < 10; index++) {
      assert.equal(await found(`old${index}`), undefined);
      assert.notEqual(await found(`new${index}`), undefined);
    }
    assert.notEqual(await found('lasting'), undefined);
  });

  it('timers come due earliest first, one for each resource, id and name', async (store) => {
    const timer = (id: string, name: string, dueMs: number, token = 't') => ({ resource: 'parcel', id, name, dueMs, token });
    assert.equal(await store.nextDue(), undefined);
    await store.change((tx) => {
      tx.setTimer(timer('a', 'expire', 30));
      tx.setTimer(timer('b', 'expire', 10));
      tx.setTimer(timer('b', 'renew', 20));
      tx.setTimer(timer('a', 'expire', 25, 'u'));
    });
    assert.equal(await store.nextDue(), 10);
    assert.deepEqual(await store.due(9, 9), []);
    assert.deepEqual(await store.due(25, 9), [timer('b', 'expire', 10), timer('b', 'renew', 20), timer('a', 'expire', 25, 'u')]);
    assert.deepEqual(await store.due(25, 1), [timer('b', 'expire', 10)]);
    await store.change((tx) => tx.clearTimers('parcel', 'b', 'expire'));
    assert.equal(await store.nextDue(), 20);
    await store.change((tx) => tx.clearTimers('parcel', 'b'));
    assert.deepEqual(await store.due(99, 9), [timer('a', 'expire', 25, 'u')]);
  });

  it('a timer that fired for a token is not set for it again until its row is removed', async (store) => {
    const timer = (token: string, dueMs = 10) => ({ resource: 'parcel', id: 'a', name: 'renew', dueMs, token });
    const due = async () => (await store.due(99, 9)).map(({ token }) => token);
    const change = (body: (tx: Transaction) => void) => store.change(body);
    await change((tx) => tx.setTimer(timer('may')));
    await change((tx) => tx.timerFired(timer('may')));
    assert.deepEqual(await due(), []);
    await change((tx) => tx.setTimer(timer('may')));
    assert.deepEqual(await due(), []);
    await change((tx) => tx.clearTimers('parcel', 'a'));
    await change((tx) => tx.setTimer(timer('may')));
    assert.deepEqual(await due(), []);
    await change((tx) => tx.setTimer(timer('june')));
    assert.deepEqual(await due(), ['june']);
    await change((tx) => tx.timerFired(timer('may')));
    assert.deepEqual(await due(), ['june']);
    await change((tx) => tx.setTimer(timer('may')));
    assert.deepEqual(await due(), []);
    await change((tx) => tx.remove('parcel', 'a'));
    await change((tx) => tx.setTimer(timer('may')));
    assert.deepEqual(await due(), ['may']);
  });

  it('a sequence counts from 1, for itself, and takes back what a failed change took', async (store) => {
    const next = (name: string) => store.change((tx) => tx.next(name));
    assert.deepEqual([await next('a'), await next('a'), await next('A')], [1, 2, 1]);
    const failing = store.change((tx) => {
      tx.next('a');
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.equal(await next('a'), 3);
  });

  it('a setting is made once', async (store) => {
    assert.equal(await store.setting('a', () => 'first'), 'first');
    assert.equal(await store.setting('a', noRows), 'first');
    assert.equal(await store.setting('A', () => 'other'), 'other');
  });

  it('what is not there is named: a table, a column, too few values', async (store) => {
    await assert.rejects(async () => store.read((reader) => reader.get('person', 'a')), /no table person/);
    await assert.rejects(async () => store.read((reader) => reader.holder('parcel', 'slugs', 'a')), /no column slugs/);
    await assert.rejects(
      store.change((tx) => tx.insert('parcel', row('a', 'x'))),
      /2 columns, and 1 values/,
    );
  });

  it('a store that is closed finishes what it was given and takes nothing more', async (store) => {
    const under = store.change((tx) => tx.insert('parcel', row('a', 'x', 1)));
    const closing = store.close();
    assert.equal((await under).id, 'a');
    await closing;
    await store.close();
    await assert.rejects(
      store.change(() => 1),
      /closed/,
    );
    await assert.rejects(async () => store.read(() => 1), /closed/);
  });
}
