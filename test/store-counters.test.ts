import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engines } from './store-engines.ts';

for (const engine of engines) {
  test(`${engine.name}: a counter adds up, apart from others, and over a restart`, async (context) => {
    const { store, again } = await engine.open(context);
    const add = (name: string, amount: number) => store.change((rows) => rows.addTo(name, amount, 0, 100));
    assert.deepEqual(await Promise.all([add('a', 1), add('a', 2), add('b', 5), add('a', 0.5)]), [1, 3, 5, 3.5]);
    const reopened = await again();
    assert.equal(await reopened.change((rows) => rows.addTo('a', 1, 99, 100)), 4.5);
  });

  test(`${engine.name}: a counter is nothing once it has ended`, async (context) => {
    const { store } = await engine.open(context);
    await store.change((rows) => rows.addTo('a', 7, 0, 100));
    assert.equal(await store.change((rows) => rows.addTo('a', 1, 100, 200)), 1);
    assert.equal(await store.change((rows) => rows.addTo('a', 1, 150, 200)), 2);
  });

  test(`${engine.name}: a change that fails has counted nothing`, async (context) => {
    const { store } = await engine.open(context);
    await store.change((rows) => rows.addTo('a', 1, 0, 100));
    const failing = store.change((rows) => {
      rows.addTo('a', 1, 0, 100);
      rows.addTo('b', 1, 0, 100);
      throw new Error('no');
    });
    await assert.rejects(failing, /^Error: no$/);
    assert.deepEqual(await store.change((rows) => [rows.addTo('a', 1, 0, 100), rows.addTo('b', 1, 0, 100)]), [2, 1]);
  });

  test(`${engine.name}: counters that have ended make room for others, and those that have not stay`, async (context) => {
    const { store } = await engine.open(context);
    for (let n = 0; n < 100; n++) await store.change((rows) => rows.addTo(`old ${n}`, 1, 0, 50));
    await store.change((rows) => rows.addTo('kept', 1, 0, 1000));
    for (let n = 0; n < 100; n++) await store.change((rows) => rows.addTo(`new ${n}`, 1, 60, 1000));
    assert.equal(await store.change((rows) => rows.addTo('kept', 1, 60, 1000)), 2);
    assert.equal(await store.change((rows) => rows.addTo('new 7', 1, 60, 1000)), 2);
    // Were it still kept, it would not have ended at a time before its end.
    assert.equal(await store.change((rows) => rows.addTo('old 7', 1, 0, 50)), 1);
  });
}
