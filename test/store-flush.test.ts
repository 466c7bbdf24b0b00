import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CommitFailed, CommitUnknown, ReadFailed } from '../src/store/failures.ts';
import type { Sync } from '../src/store/sqlite/files.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Store } from '../src/store/store.ts';
import { folder, noRows, row, table } from './store-engines.ts';

const bells = table('bell', ['name:text']);

/** A disk whose flushes end when they are told to. */
function heldDisk(): { readonly sync: Sync; readonly waiting: ((error: Error | null) => void)[] } {
  const waiting: ((error: Error | null) => void)[] = [];
  return { sync: (_, done) => void waiting.push(done), waiting };
}

async function openOver(context: TestContext, sync: Sync): Promise<Store> {
  const store = openSqlite(join(folder(context), 'bells.sqlite'), { sync });
  await store.prepare([bells], noRows);
  return store;
}

const insert = (store: Store, id: string) => store.change((tx) => tx.insert('bell', row(id, id)).id);
const ids = (store: Store) => store.read((reader) => reader.all({ table: 'bell' }, []).map(({ id }) => id));

/** Whether it is settled after some turns of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  promise.then(note, note);
  for (let turns = 0; turns < 10; turns++) await turn();
  return settled;
}

test('a change is told once it is on disk, and what comes meanwhile is one batch after it', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  const first = insert(store, 'a');
  assert.equal(await isSettled(first), false);
  assert.equal(waiting.length, 1);
  let isMade = false;
  const second = store.change((tx) => {
    isMade = true;
    return tx.insert('bell', row('b', 'b')).id;
  });
  const third = store.change((tx) => tx.get('bell', 'b')?.id);
  assert.equal(await isSettled(second), false);
  assert.equal(isMade, false, 'no flush could begin for it yet');
  waiting[0]!(null);
  assert.equal(await first, 'a');
  assert.equal(await isSettled(second), false);
  assert.ok(isMade);
  assert.equal(await isSettled(third), false, 'what has seen a change waits for it too');
  assert.equal(waiting.length, 2, 'one flush for both');
  waiting[1]!(null);
  assert.deepEqual(await Promise.all([second, third]), ['b', 'b']);
  await store.close();
});

test('a flush takes along what was committed while another was under way', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  const most = 512;
  const first = insert(store, 'first');
  while (waiting.length === 0) await turn();
  // So many make a batch at once.
  const many = Promise.all(Array.from({ length: most }, (_, n) => insert(store, `bell${n}`)));
  assert.equal(await isSettled(many), false);
  assert.equal(waiting.length, 1, 'one flush is under way at a time');
  waiting[0]!(null);
  await first;
  assert.equal(await isSettled(many), false);
  waiting[1]!(null);
  assert.equal((await many).length, most);
  await store.close();
});

test('what is read is told once it is on disk, and at once where it is', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  assert.deepEqual(ids(store), []);
  const made = insert(store, 'a');
  while (waiting.length === 0) await turn();
  const read = Promise.resolve(ids(store));
  assert.equal(await isSettled(read), false);
  waiting[0]!(null);
  assert.deepEqual(await read, ['a']);
  await made;
  assert.deepEqual(ids(store), ['a']);
  await store.close();
});

test('a change that wrote nothing waits for what it may have seen, and for nothing else', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  const look = () => store.change((tx) => tx.get('bell', 'a')?.id);
  assert.equal(await look(), undefined);
  assert.equal(waiting.length, 0);
  const made = insert(store, 'a');
  const seen = look();
  assert.equal(await isSettled(seen), false);
  waiting[0]!(null);
  assert.deepEqual(await Promise.all([made, seen]), ['a', 'a']);
  await store.close();
});

test('once the disk has failed, nothing more is stored or told', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  const first = insert(store, 'a');
  while (waiting.length === 0) await turn();
  const second = insert(store, 'b');
  const read = Promise.resolve(ids(store));
  // Each of them is waited for below.
  for (const one of [second, read]) one.catch(() => {});
  assert.equal(await isSettled(second), false);
  waiting[0]!(new Error('input/output error'));
  await assert.rejects(first, (error) => error instanceof CommitUnknown && /input\/output error/.test(error.message));
  await assert.rejects(second, (error) => error instanceof CommitFailed && !(error instanceof CommitUnknown));
  await assert.rejects(read, ReadFailed);
  await assert.rejects(
    insert(store, 'c'),
    (error) => error instanceof CommitFailed && /start the service again/.test(error.message),
  );
  await assert.rejects(Promise.resolve(ids(store)), ReadFailed);
  assert.equal(waiting.length, 1);
  await store.close();
});

test('a flush that gets no thread is carried out all the same', async (context) => {
  let asked = 0;
  const store = await openOver(context, () => void asked++);
  assert.equal(await insert(store, 'a'), 'a');
  assert.equal(await insert(store, 'b'), 'b');
  assert.equal(asked, 2);
  await store.close();
});

test('a store is closed once all of it is on disk', async (context) => {
  const { sync, waiting } = heldDisk();
  const store = await openOver(context, sync);
  const made = insert(store, 'a');
  while (waiting.length === 0) await turn();
  const closed = store.close();
  assert.equal(await isSettled(closed), false);
  waiting[0]!(null);
  await closed;
  assert.equal(await made, 'a');
});
