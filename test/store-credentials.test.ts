import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Store, StoredCredential } from '../src/store/store.ts';
import { engines } from './store-engines.ts';

function credential(name: string, more: Partial<StoredCredential> = {}): StoredCredential {
  return { name, serial: 1, scheme: 'key', lookup: `hash of ${name}`, user: 'reader', caller: 'r1', doc: '{}', ...more };
}

for (const engine of engines) {
  const it = (name: string, run: (store: Store, again: () => Promise<Store>) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store, again } = await engine.open(context);
      await run(store, again);
    });

  it('a credential is found by what it is looked up by, by its name and by its caller, also after reopening', async (store, again) => {
    const one = credential('a', { doc: '{"scopes":["x"]}' });
    const other = credential('b', { user: 'writer' });
    await store.change((tx) => {
      tx.putCredential(one);
      tx.putCredential(other);
    });
    for (const opened of [async () => store, again]) {
      const open = await opened();
      const find = async (search: Parameters<Parameters<Parameters<Store['read']>[0]>[0]['credentials']>[0]) =>
        open.read((rows) => rows.credentials(search));
      assert.deepEqual(await find({ scheme: 'key', lookup: 'hash of a' }), [one]);
      assert.deepEqual(await find({ scheme: 'other', lookup: 'hash of a' }), []);
      assert.deepEqual(await find({ scheme: 'key', lookup: 'hash of c' }), []);
      assert.deepEqual(await find({ name: 'b' }), [other]);
      assert.deepEqual(await find({ user: 'reader', caller: 'r1' }), [one]);
      assert.deepEqual(await find({ user: 'writer', caller: 'r2' }), []);
    }
  });

  it('several secrets share a name and a look-up, each with its serial, and one is replaced or removed alone', async (store) => {
    const [first, second] = [credential('a', { lookup: 'ann' }), credential('a', { lookup: 'ann', serial: 2 })];
    await store.change((tx) => {
      tx.putCredential(second);
      tx.putCredential(first);
      tx.putCredential({ ...first, doc: '{"n":1}' });
    });
    const found = await store.read((rows) => rows.credentials({ scheme: 'key', lookup: 'ann' }));
    assert.deepEqual(found, [{ ...first, doc: '{"n":1}' }, second]);
    await store.change((tx) => tx.removeCredential('a', 1));
    await store.change((tx) => tx.removeCredential('nobody', 1));
    assert.deepEqual(await store.read((rows) => rows.credentials({ name: 'a' })), [second]);
  });

  it('all are leafed through by name, a name at a time', async (store) => {
    await store.change((tx) => {
      for (const name of ['b', 'a', 'd', 'c']) for (const serial of [1, 2, 3]) tx.putCredential(credential(name, { serial }));
    });
    for (const most of [1, 2, 3, 4, 5, 100]) {
      const seen: string[] = [];
      for (let after = ''; ; ) {
        const page = await store.read((rows) => rows.credentials({ after, most }));
        if (page.length === 0) break;
        seen.push(...page.map(({ name, serial }) => `${name}${serial}`));
        after = page.at(-1)?.name ?? after;
      }
      assert.deepEqual(
        seen,
        ['a', 'b', 'c', 'd'].flatMap((name) => [1, 2, 3].map((serial) => name + serial)),
        `${most} a page`,
      );
    }
  });

  it('what a failed change put is not there, and what it removed is', async (store) => {
    await store.change((tx) => tx.putCredential(credential('a')));
    const failing = store.change((tx) => {
      tx.putCredential(credential('b'));
      tx.removeCredential('a', 1);
      assert.deepEqual(
        tx.credentials({ after: '', most: 9 }).map(({ name }) => name),
        ['b'],
        'a change sees what it did',
      );
      throw new Error('no');
    });
    await assert.rejects(failing, /no/);
    assert.deepEqual(
      (await store.read((rows) => rows.credentials({ after: '', most: 9 }))).map(({ name }) => name),
      ['a'],
    );
  });
}
