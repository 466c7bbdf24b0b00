import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Credentials, hashOfKey } from '../src/serve/callers/credentials.ts';
import { systemChance } from '../src/serve/http/clock.ts';
import { openSqlite } from '../src/store/sqlite/sqlite.ts';
import type { Reader, Store, StoredCredential } from '../src/store/store.ts';
import { startReceiver } from './events/receiver.ts';
import { listenTo } from './events/stream-reader.ts';
import { startTrial, type TrialOptions, things } from './events/trial.ts';
import { row, table } from './store-engines.ts';
import { reluctant } from './stores/reluctant.ts';

/** What serving does where its store answers later and runs bodies again. The other tests run on such a store too, by `NINEFOLD_TEST_STORE`. */

const soon = () => new Promise((resolve) => setTimeout(resolve, 30));
const opening = (path: string) => reluctant(openSqlite(path));

test('a reluctant store answers later, runs each body twice, and keeps what the second run wrote alone', async () => {
  const store = reluctant(openSqlite(':memory:'), 3);
  await store.prepare([table('row', [])], () => []);
  for (const asked of [store.nextDue(), store.due(0, 1), store.setting('a', () => 'b'), store.read(() => 1)])
    assert.ok(asked instanceof Promise);
  let runs = 0;
  for (let n = 0; n < 40; n++) {
    await store.change((rows) => {
      runs += 1;
      rows.insert('row', row(`r${runs}`));
      return rows.next('numbers') + rows.count({ table: 'row' }, []);
    });
  }
  assert.equal(runs, 80);
  const kept = await store.read((rows) => rows.scan('row', 0, 100).map(({ id }) => id));
  assert.deepEqual(
    kept,
    Array.from({ length: 40 }, (_, at) => `r${2 * (at + 1)}`),
  );
  assert.equal(await store.change((rows) => rows.next('numbers')), 41);
  const { again, stopped, later } = store.reluctance;
  assert.ok(again >= 41 && stopped > 2 && stopped < again && later > 40, JSON.stringify(store.reluctance));
  await store.close();
  await assert.rejects(async () => store.read(() => 1), /closed/);
});

test('a stream is not kept open for a caller whose key is gone, and not where nobody can say', async (context) => {
  let isDown = false;
  const failing = (path: string): Store => {
    const store = opening(path);
    return { ...store, read: (body) => (isDown ? Promise.reject(new Error('down')) : store.read(body)) };
  };
  const trial = await startTrial(context, things(), { opening: failing });
  const { key } = (await trial.service.administer('keys add', { user: 'owner', id: 'o1' })) as { key: string };
  await trial.service.administer('keys add', { user: 'owner', id: 'o2' });
  const listen = async (who: string) =>
    listenTo(await trial.service.fetch(new Request('http://127.0.0.1/stream', { headers: { 'x-who': who } })));
  const [revoked, unsure] = [await listen('owner/o1/key'), await listen('owner/o2/key')];
  const beat = async () => {
    await trial.advance(15_000);
    await soon();
  };
  await beat();
  assert.deepEqual([revoked.isOver(), unsure.isOver()], [false, false]);
  await trial.service.administer('keys revoke', { key });
  await beat();
  while (!revoked.isOver()) await soon();
  assert.deepEqual([revoked.isOver(), unsure.isOver()], [true, false]);
  isDown = true;
  await beat();
  while (!unsure.isOver()) await soon();
  isDown = false;
  assert.match(String(trial.failures[0]), /down/);
});

test('nothing is missed between the head of a stream and its first event', async (context) => {
  const trial = await startTrial(context, things(), { opening });
  const make = (name: string) => trial.send('owner/o1', 'POST', '/things', { name });
  for (let n = 0; n < 5; n++) {
    await make('before');
    const response = await trial.service.fetch(new Request('http://127.0.0.1/stream', { headers: { 'x-who': 'owner/o1' } }));
    // Others come while this one is still told what it has missed.
    await Promise.all([make('one'), make('two')]);
    const listener = listenTo(response);
    await make('three');
    await listener.until(3);
    assert.deepEqual(
      listener.heard.map(({ data }) => data.data.name),
      ['one', 'two', 'three'],
    );
    await listener.close();
  }
});

test('a delivery is sent once, though what is due is read while it is settled', async (context) => {
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things(), { opening });
  assert.equal((await trial.send('owner/o1', 'POST', '/hooks', { url: receiver.url })).status, 201);
  for (let round = 0; round < 10; round++) {
    await Promise.all([1, 2, 3, 4].map(() => trial.send('owner/o1', 'POST', '/things', { name: 'a' })));
    await soon();
  }
  await trial.service.settled();
  const outcomes = await trial.outbox((outbox) => outbox.deliveries({}, 1000).map(({ outcome }) => outcome));
  assert.deepEqual([outcomes.length, new Set(outcomes)], [40, new Set(['accepted'])]);
  assert.equal(receiver.received.length, 40);
});

test('a key that is revoked while it is read is not good, and is not remembered', async () => {
  const credential: StoredCredential = {
    name: 'key_1',
    serial: 1,
    scheme: 'key',
    lookup: hashOfKey('secret'),
    user: 'reader',
    caller: 'r1',
    doc: JSON.stringify({ scopes: [], createdMs: 0 }),
  };
  const stored = new Set([credential]);
  const waiting: (() => void)[] = [];
  const rows = { credentials: () => [...stored] } as unknown as Reader;
  // Credentials ask a store for nothing else.
  const store = {
    read: <T>(body: (reader: Reader) => T) => {
      const read = body(rows);
      return new Promise<T>((resolve) => waiting.push(() => resolve(read)));
    },
  } as unknown as Store;
  const credentials = new Credentials(store, systemChance);
  const answer = async () => {
    while (waiting.length > 0) {
      waiting.shift()?.();
      await soon();
    }
  };
  const first = credentials.ofKey('key', 'secret', 0);
  stored.clear();
  credentials.changed();
  await answer();
  assert.equal(await first, undefined);
  const second = credentials.ofKey('key', 'secret', 0);
  await answer();
  assert.equal(await second, undefined);
  stored.add(credential);
  credentials.changed();
  const third = credentials.ofKey('key', 'secret', 0);
  await answer();
  const good = await third;
  assert.equal(typeof good === 'object' && good.caller.id, 'r1');
});

test('timers are looked for again after the store could not say what is due', async (context) => {
  let isDown = false;
  const failing = (path: string): Store => {
    const store = opening(path);
    return { ...store, due: (nowMs, most) => (isDown ? Promise.reject(new Error('down')) : store.due(nowMs, most)) };
  };
  const trial = await startTrial(context, things(), { opening: failing });
  const { json } = await trial.send('owner/o1', 'POST', '/things', { name: 'a' });
  const status = async () => (await trial.send('owner/o1', 'GET', `/things/${json.id}`)).json.status as unknown;
  isDown = true;
  await trial.advance(30 * 86_400_000);
  assert.equal(await status(), 'new');
  assert.equal(trial.failures.length, 1);
  isDown = false;
  await trial.advance(1000);
  assert.equal(await status(), 'stale');
});

test('who calls may be found out later, and nobody is let in meanwhile', async (context) => {
  const answers = new Map<string, () => void>();
  const trial = await startTrial(context, things(), {
    identify: ({ path }) => new Promise((resolve) => answers.set(path, () => resolve(undefined))),
  });
  const sent = trial.send('', 'GET', '/things/x');
  while (!answers.has('/things/x')) await soon();
  answers.get('/things/x')?.();
  assert.equal((await sent).status, 401);
});

test('a failure of ours is noted down once, however often its body was run', async (context: TestContext) => {
  const broken = things(
    '',
    'thing.odd: { on: [create thing], payload: { type: object, properties: { n: integer } }, data: { n: "1 / (size(next.name) - 1)" } }',
  );
  const trial = await startTrial(context, broken, { opening });
  for (let n = 1; n <= 5; n++) {
    assert.equal((await trial.send('owner/o1', 'POST', '/things', { name: 'a' })).status, 500);
    assert.equal(trial.failures.length, n);
  }
});

test('the log tells of the run that counted, not of an earlier one that saw less', async (context) => {
  const noted: (readonly [number, string | undefined])[] = [];
  const blind = (path: string): Store => {
    const store = openSqlite(path);
    const nothing = { get: () => undefined, text: () => undefined };
    const less = <R extends Reader>(rows: R): R =>
      new Proxy(rows, { get: (target, name) => Reflect.get(name in nothing ? nothing : target, name) });
    return {
      prepare: store.prepare.bind(store),
      due: store.due.bind(store),
      nextDue: store.nextDue.bind(store),
      timers: store.timers.bind(store),
      tablesBeside: store.tablesBeside.bind(store),
      copyTo: store.copyTo.bind(store),
      compact: () => store.compact(),
      setting: store.setting.bind(store),
      change: store.change.bind(store),
      close: store.close.bind(store),
      async read(body) {
        await store.read((rows) => void body(less(rows)));
        return store.read(body);
      },
    };
  };
  const onExchange: TrialOptions['onExchange'] = ({ status, refused }) => noted.push([status, refused]);
  const trial = await startTrial(context, things(), { opening: blind, onExchange });
  const { json } = await trial.send('clerk/c1', 'POST', '/things', { name: 'a' });
  assert.equal((await trial.send('clerk/c1', 'GET', `/things/${json.id}`)).status, 200);
  assert.equal((await trial.send('clerk/c1', 'GET', '/things/none')).status, 404);
  assert.deepEqual(noted, [
    [201, undefined],
    [200, undefined],
    [404, 'resource.missing'],
  ]);
});

test('what waits for receivers and listeners goes out once the store can be asked again, though nothing else happens', async (context) => {
  let [hasBegun, isDown, refused] = [false, false, 0];
  const failing = (path: string): Store => {
    const store = opening(path);
    const read: Store['read'] = (body, goesOn) => {
      if (!isDown) return store.read(body, goesOn);
      refused += 1;
      return Promise.reject(new Error('down'));
    };
    const change: Store['change'] = async (body) => {
      const done = await store.change(body);
      // It is gone as soon as the thing is stored.
      isDown = hasBegun && refused === 0;
      return done;
    };
    return { ...store, read, change };
  };
  const receiver = await startReceiver(context);
  const trial = await startTrial(context, things(), { opening: failing, webhooks: [{ url: receiver.url }] });
  const listener = listenTo(
    await trial.service.fetch(new Request('http://127.0.0.1/stream', { headers: { 'x-who': 'owner/o1' } })),
  );
  hasBegun = true;
  await trial.send('owner/o1', 'POST', '/things', { name: 'one' });
  while (trial.failures.length < 2) await soon();
  isDown = false;
  await trial.advance(1000);
  await listener.until(1);
  while (receiver.received.length === 0) await soon();
  assert.deepEqual(receiver.ids(), [listener.heard[0]?.id]);
});
