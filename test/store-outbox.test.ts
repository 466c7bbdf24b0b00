import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NewEvent } from '../src/store/outbox.ts';
import type { Store } from '../src/store/store.ts';
import { engines } from './store-engines.ts';

const event = (id: string, more: Partial<NewEvent> = {}): NewEvent => ({
  id,
  kind: 'thing.made',
  atMs: 100,
  operation: 'create thing',
  resource: 'thing',
  row: 'a',
  payload: '{}',
  image: null,
  ...more,
});
const look = async <T>(store: Store, body: (outbox: Parameters<Parameters<Store['read']>[0]>[0]['outbox']) => T): Promise<T> =>
  store.read((rows) => body(rows.outbox));

for (const engine of engines) {
  const it = (name: string, body: (store: Store, again: () => Promise<Store>) => Promise<void>) =>
    test(`${engine.name}: ${name}`, async (context) => {
      const { store, again } = await engine.open(context);
      await body(store, again);
    });

  it('an event is found by its number and its name, and read in the order in which it was recorded', async (store, again) => {
    const seqs = await store.change(({ outbox }) =>
      ['x', 'y', 'z'].map((id) => outbox.addEvent(event(id, { image: '{"fields":1}', trace: `00-${id}` }))),
    );
    const open = await again();
    assert.deepEqual(await look(open, (outbox) => outbox.event(seqs[1]!)), {
      ...event('y', { image: '{"fields":1}', trace: '00-y' }),
      seq: seqs[1],
    });
    assert.equal((await look(open, (outbox) => outbox.eventNamed('z')))?.seq, seqs[2]);
    assert.equal(await look(open, (outbox) => outbox.eventNamed('nothing')), undefined);
    assert.deepEqual(
      (await look(open, (outbox) => outbox.events(seqs[0]!, 10))).map(({ id }) => id),
      ['y', 'z'],
    );
    assert.deepEqual(
      (await look(open, (outbox) => outbox.events(0, 2))).map(({ id }) => id),
      ['x', 'y'],
    );
    assert.equal(await look(open, (outbox) => outbox.lastEvent()), seqs[2]);
  });

  it('a change that fails leaves nothing of its events, deliveries and subscribers', async (store) => {
    await assert.rejects(
      store.change(({ outbox }) => {
        const seq = outbox.addEvent(event('x'));
        outbox.addDelivery({ event: seq, subscriber: 's', lane: null, dueMs: 1 });
        outbox.keepSubscriber('s', '{}');
        throw new Error('no');
      }),
    );
    assert.equal(await look(store, (outbox) => outbox.lastEvent()), 0);
    assert.equal(await look(store, (outbox) => outbox.awaited('')), undefined);
    assert.equal(await look(store, (outbox) => outbox.subscriber('s')), undefined);
  });

  it('deliveries of one lane are due one after another, whatever became of the earlier one', async (store) => {
    const [first, second, third] = await store.change(({ outbox }) => {
      const seq = outbox.addEvent(event('x'));
      return [1, 2, 3].map((dueMs) => outbox.addDelivery({ event: seq, subscriber: 's', lane: 'l', dueMs }));
    });
    const due = async (nowMs: number) => (await look(store, (outbox) => outbox.due('s', nowMs, 10))).map(({ seq }) => seq);
    assert.deepEqual(await due(9), [first]);
    await store.change(({ outbox }) => outbox.postpone(first!, 20));
    assert.deepEqual(await due(19), []);
    assert.deepEqual(await due(20), [first]);
    await store.change(({ outbox }) => outbox.settle(first!, 'given up', 30));
    assert.deepEqual(await due(29), []);
    assert.deepEqual(await due(30), [second]);
    await store.change(({ outbox }) => {
      outbox.settle(second!, 'accepted', 40);
      outbox.settle(second!, 'given up', 41);
    });
    assert.deepEqual(await due(40), [third]);
    const settled = await look(store, (outbox) => outbox.delivery(second!));
    assert.deepEqual([settled?.outcome, settled?.settledMs, settled?.tries, settled?.dueMs], ['accepted', 40, 1, null]);
  });

  it('subscribers with something to come are gone through by name, with when the first of it is due', async (store) => {
    await store.change(({ outbox }) => {
      const seq = outbox.addEvent(event('x'));
      for (const [subscriber, dueMs] of [
        ['b', 7],
        ['b', 5],
        ['a', 9],
      ] as const)
        outbox.addDelivery({ event: seq, subscriber, lane: null, dueMs });
      outbox.settle(outbox.addDelivery({ event: seq, subscriber: 'c', lane: null, dueMs: 1 }), 'accepted', 2);
    });
    assert.deepEqual(await look(store, (outbox) => [outbox.awaited(''), outbox.awaited('a'), outbox.awaited('b')]), [
      { subscriber: 'a', dueMs: 9 },
      { subscriber: 'b', dueMs: 5 },
      undefined,
    ]);
    assert.equal(await look(store, (outbox) => outbox.dueFirst('b')), 5);
    assert.equal(await look(store, (outbox) => outbox.dueFirst('c')), undefined);
    assert.deepEqual(
      (await look(store, (outbox) => outbox.due('b', 9, 1))).map(({ dueMs }) => dueMs),
      [5],
    );
  });

  it('every attempt is kept in order, and a delivery can be asked for again', async (store) => {
    const attempt = { atMs: 1, tookMs: 2, status: 500, error: null, response: 'no' };
    const seq = await store.change(({ outbox }) => {
      const made = outbox.addDelivery({ event: outbox.addEvent(event('x')), subscriber: 's', lane: 'l', dueMs: 1 });
      outbox.attempted(made, attempt);
      outbox.attempted(made, { ...attempt, atMs: 3, status: null, error: 'gone' });
      outbox.settle(made, 'given up', 4);
      return made;
    });
    assert.deepEqual(await look(store, (outbox) => outbox.attempts(seq)), [
      attempt,
      { ...attempt, atMs: 3, status: null, error: 'gone' },
    ]);
    assert.deepEqual(
      (await look(store, (outbox) => outbox.deliveries({ outcome: 'given up' }, 9))).map((one) => one.seq),
      [seq],
    );
    assert.deepEqual(await store.change(({ outbox }) => [outbox.again(seq, 50), outbox.again(seq + 1, 50)]), [true, false]);
    const again = await look(store, (outbox) => outbox.delivery(seq));
    assert.deepEqual([again?.tries, again?.dueMs, again?.outcome, again?.settledMs], [0, 50, null, null]);
    assert.deepEqual(await look(store, (outbox) => outbox.deliveries({ outcome: 'given up' }, 9)), []);
  });

  it('what is old and done with goes, a bounded number at a time; what is still to be sent stays with its event', async (store) => {
    const made = await store.change(({ outbox }) =>
      [10, 20, 30, 40].map((atMs) => {
        const seq = outbox.addEvent(event(`e${atMs}`, { atMs }));
        const delivery = outbox.addDelivery({ event: seq, subscriber: 's', lane: null, dueMs: atMs });
        if (atMs !== 20) outbox.settle(delivery, 'accepted', atMs);
        outbox.attempted(delivery, { atMs, tookMs: 0, status: 200, error: null, response: null });
        return { seq, delivery };
      }),
    );
    const ids = async () => (await look(store, (outbox) => outbox.events(0, 9))).map(({ id }) => id);
    const prune = (after: number, most: number) =>
      store.change(({ outbox }) => outbox.prune(35, { beforeMs: 35, afterSeq: after, throughSeq: made[3]!.seq }, most));
    assert.deepEqual(await prune(0, 1), { removed: 2, reached: made[0]!.seq });
    assert.deepEqual(await ids(), ['e20', 'e30', 'e40']);
    assert.deepEqual(await prune(0, 9), { removed: 2, reached: made[2]!.seq });
    assert.deepEqual(await ids(), ['e20', 'e40']);
    assert.deepEqual(await look(store, (outbox) => outbox.attempts(made[0]!.delivery)), []);
    assert.equal((await look(store, (outbox) => outbox.attempts(made[1]!.delivery))).length, 1);
    assert.deepEqual(await prune(made[2]!.seq, 9), { removed: 0, reached: made[2]!.seq });
    const short = { beforeMs: 99, afterSeq: 0, throughSeq: made[1]!.seq };
    assert.deepEqual(await store.change(({ outbox }) => outbox.prune(0, short, 9)), { removed: 0, reached: made[1]!.seq });
  });

  it('what is remembered of a subscriber is replaced and forgotten', async (store, again) => {
    await store.change(({ outbox }) => outbox.keepSubscriber('s', '1'));
    await store.change(({ outbox }) => outbox.keepSubscriber('s', '2'));
    const open = await again();
    assert.equal(await look(open, (outbox) => outbox.subscriber('s')), '2');
    await open.change(({ outbox }) => outbox.forgetSubscriber('s'));
    assert.equal(await look(open, (outbox) => outbox.subscriber('s')), undefined);
  });
}
