import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Duplicate } from '../src/store/failures.ts';
import type { Store, Transaction } from '../src/store/store.ts';
import { engines, noRows, row, table } from './store-engines.ts';

const parcels = table('parcel', ['slug:text'], { unique: ['slug'] });
const ids = (store: Store) => store.read((reader) => reader.all({ table: 'parcel' }, []).map(({ id }) => id));

for (const engine of engines) {
  const it = (name: string, body: (store: Store) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store } = await engine.open(context);
      await store.prepare([parcels], noRows);
      await body(store);
    });
  const once = (...given: Parameters<typeof it>) => engine.runsOnce && it(...given);

  it('changes of one turn see each other in order, and no reader sees them before they settle', async (store) => {
    const first = store.change((tx) => [tx.insert('parcel', row('a', 'x')).id, tx.get('parcel', 'a')?.id]);
    const second = store.change((tx) => [
      tx.get('parcel', 'a')?.id,
      tx.holder('parcel', 'slug', 'x'),
      tx.count({ table: 'parcel' }, []),
    ]);
    const third = store.change((tx) => tx.insert('parcel', row('b', 'x')));
    third.catch(() => {});
    // Where reading has to wait, it may be waited for until they have settled.
    if (engine.runsOnce) assert.deepEqual(await ids(store), []);
    assert.deepEqual(await first, ['a', 'a']);
    assert.deepEqual(await second, ['a', 'a', 1]);
    await assert.rejects(third, Duplicate);
    assert.deepEqual(await ids(store), ['a']);
  });

  it('the text of a row is that row without the rest', async (store) => {
    await store.change((tx) => tx.insert('parcel', row('a', 'x')));
    const [whole, text, none] = await store.read((reader) => [
      reader.get('parcel', 'a'),
      reader.text('parcel', 'a'),
      reader.text('parcel', 'b'),
    ]);
    assert.deepEqual(text, { doc: whole?.doc, rev: whole?.rev });
    assert.equal(none, undefined);
  });

  it('a record that never expires is read as it is now, also by what reads for long', async (store) => {
    const keep = (body: string) =>
      store.change((tx) => tx.keep('k', { fingerprint: '', body, expiresMs: Number.MAX_SAFE_INTEGER }));
    const read = () => store.read((reader) => [reader.all({ table: 'parcel' }, []).length, reader.record('k', 1)?.body]);
    await store.change((tx) => ['a', 'b', 'c'].map((id) => tx.insert('parcel', row(id, id))));
    for (const body of ['1', '2', '3']) {
      await keep(body);
      assert.deepEqual(await read(), [3, body]);
    }
  });

  it('a body that throws has changed nothing, and its neighbours are stored', async (store) => {
    const failing = (tx: Transaction) => {
      tx.insert('parcel', row('bad', 'x'));
      tx.update('parcel', row('a', 'y'));
      tx.remove('parcel', 'b');
      tx.keep('k', { fingerprint: '', body: '', expiresMs: 9 });
      tx.setTimer({ resource: 'parcel', id: 'bad', name: 'expire', dueMs: 1, token: '' });
      throw new Error('no');
    };
    const settled = await Promise.allSettled([
      store.change((tx) => ['a', 'b'].map((id) => tx.insert('parcel', row(id, id)))),
      store.change(failing),
      store.change((tx) => tx.insert('parcel', row('c', 'x'))),
      store.change(failing),
    ]);
    assert.deepEqual(
      settled.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    assert.match(String(settled[1]?.status === 'rejected' && settled[1].reason), /^Error: no$/);
    assert.deepEqual(await ids(store), ['a', 'b', 'c']);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'y')), undefined);
    assert.equal(await store.read((reader) => reader.record('k', 0)), undefined);
    assert.equal(await store.nextDue(), undefined);
  });

  it('a body that throws after its first row was stored, or refused, takes nothing from others', async (store) => {
    await store.change((tx) => tx.insert('parcel', row('a', 'x')));
    const bodies: ((tx: Transaction) => void)[] = [
      (tx) => tx.insert('parcel', row('b', 'y')),
      (tx) => tx.insert('parcel', row('a', 'y')),
      (tx) => assert.throws(() => tx.insert('parcel', row('a', 'y')), Duplicate),
      (tx) => {
        assert.throws(() => tx.insert('parcel', row('b', 'x')), Duplicate);
        tx.insert('parcel', row('b', 'y'));
        tx.insert('parcel', row('c', 'z'));
        tx.remove('parcel', 'a');
        tx.remove('parcel', 'b');
      },
      (tx) => {
        tx.insert('parcel', row('b', 'y'));
        tx.update('parcel', row('b', 'z'));
      },
    ];
    const settled = await Promise.allSettled(
      bodies.map((body) =>
        store.change((tx) => {
          body(tx);
          throw new Error('no');
        }),
      ),
    );
    assert.ok(settled.every(({ status }) => status === 'rejected'));
    assert.deepEqual(await ids(store), ['a']);
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'x')), 'a');
    await store.change((tx) => ['b', 'c'].map((id) => tx.insert('parcel', row(id, id))));
    assert.deepEqual(await ids(store), ['a', 'b', 'c']);
  });

  it('a body that returns a promise is refused, and has changed nothing', async (store) => {
    const waiting = store.change(async (tx) => {
      tx.insert('parcel', row('a', 'x'));
      await null;
      tx.insert('parcel', row('b', 'y'));
    });
    await assert.rejects(waiting, /returned a promise/);
    assert.deepEqual(await ids(store), []);
    await assert.rejects(async () => store.read(async () => 1), /returned a promise/);
  });

  it('a transaction ends with its body', async (store) => {
    let kept: Transaction | undefined;
    await store.change((tx) => {
      kept = tx;
    });
    assert.throws(() => kept?.insert('parcel', row('a', 'x')), /has ended/);
    await store.change(() => assert.throws(() => kept?.insert('parcel', row('a', 'x')), /has ended/));
    assert.deepEqual(await ids(store), []);
  });

  once('inside a change only its own transaction reads', async (store) => {
    const words = ['read', 'due', 'nextDue', 'setting', 'prepare'] as const;
    const calls = {
      read: () => store.read(() => 1),
      due: () => store.due(1, 1),
      nextDue: () => store.nextDue(),
      setting: () => store.setting('a', () => 'a'),
      prepare: () => store.prepare([], noRows),
    };
    await store.change((tx) => {
      tx.insert('parcel', row('a', 'x'));
      for (const word of words) assert.throws(calls[word], /inside a change/, word);
    });
  });

  once('a change that is asked for inside a change runs after it', async (store) => {
    let inner: Promise<unknown> | undefined;
    await store.change((tx) => {
      inner = store.change((later) => later.update('parcel', row('a', 'y')));
      tx.insert('parcel', row('a', 'x'));
    });
    await inner;
    assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', 'y')), 'a');
  });

  once('more changes than one batch takes are all stored, in order', async (store) => {
    const order: number[] = [];
    let inner: Promise<number> | undefined;
    const opening = store.change(() => {
      inner = store.change((tx) => tx.count({ table: 'parcel' }, []));
    });
    const all = Array.from({ length: 3000 }, (_, index) =>
      store.change((tx) => tx.insert('parcel', row(String(index), null))).then(() => order.push(index)),
    );
    const closing = store.change((tx) => tx.count({ table: 'parcel' }, []));
    await Promise.all([opening, ...all]);
    assert.equal(await inner, 3000);
    assert.equal(await closing, 3000);
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
    );
  });

  it('any mix of changes leaves what running them one after another would', async (store) => {
    const step = fc.record({
      do: fc.constantFrom('insert', 'update', 'remove'),
      id: fc.constantFrom('a', 'b', 'c'),
      slug: fc.constantFrom('x', 'y', null),
    });
    const change = fc.record({ steps: fc.array(step, { maxLength: 4 }), throws: fc.boolean(), waits: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
        await store.change((tx) => ['a', 'b', 'c'].map((id) => tx.remove('parcel', id)));
        let model = new Map<string, string | null>();
        const promises: Promise<boolean>[] = [];
        const expected: boolean[] = [];
        for (const { steps, throws, waits } of changes) {
          const after = new Map(model);
          const fits = steps.every(({ do: verb, id, slug }) => {
            if (verb === 'remove') return after.delete(id) || true;
            if (after.has(id) === (verb === 'insert')) return false;
            if (slug !== null && [...after].some(([other, held]) => other !== id && held === slug)) return false;
            return after.set(id, slug);
          });
          expected.push(fits && !throws);
          if (fits && !throws) model = after;
          const promise = store.change((tx) => {
            for (const { do: verb, id, slug } of steps)
              verb === 'remove' ? tx.remove('parcel', id) : tx[verb]('parcel', row(id, slug));
            if (throws) throw new Error('no');
          });
          promises.push(promise.then(() => true).catch(() => false));
          if (waits) await promise.catch(() => {});
        }
        assert.deepEqual(await Promise.all(promises), expected);
        const stored = await store.read((reader) => ['a', 'b', 'c'].filter((id) => reader.get('parcel', id)));
        assert.deepEqual(
          stored,
          ['a', 'b', 'c'].filter((id) => model.has(id)),
        );
        for (const slug of ['x', 'y']) {
          const holder = [...model].find(([, held]) => held === slug)?.[0];
          assert.equal(await store.read((reader) => reader.holder('parcel', 'slug', slug)), holder);
        }
      }),
      { numRuns: 100 },
    );
  });
}
