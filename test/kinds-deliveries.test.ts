import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  comparePulls,
  comparePushes,
  deliveryKinds,
  pullKinds,
  pushKind,
  pushKinds,
  usualPush,
} from '../src/kinds/deliveries/all.ts';

const opposite = { same: 'same', tighter: 'looser', looser: 'tighter', other: 'other' } as const;

test('each way of delivery has words of its own, and there is one of each manner', () => {
  const words = deliveryKinds.flatMap(({ word, channel }) => [word, channel.operation]);
  assert.equal(new Set(words).size, words.length);
  assert.ok(pushKinds.length > 0 && pullKinds.length > 0);
  assert.equal(pushKind(undefined), usualPush);
});

for (const kind of pushKinds) {
  test(`what is sent is taken for what it is, and what nearly is that is not: ${kind.word}`, () => {
    const headers = { 'content-type': kind.mediaType };
    assert.equal(kind.flaw({ method: kind.method, headers }), undefined);
    for (const { how, came } of kind.nearMisses) assert.ok(kind.flaw(came), how);
    assert.ok(kind.nearMisses.length > 0);
  });

  test(`a status says one thing, and success is told: ${kind.word}`, () => {
    assert.deepEqual(
      [200, 204, 299, 301, 400, 410, 429, 500].map((status) => kind.verdict(status)),
      ['accepted', 'accepted', 'accepted', 'again', 'again', 'gone', 'again', 'again'],
    );
    assert.ok(kind.usual.retryMs.every((waitMs, at, all) => at === 0 || waitMs > (all[at - 1] ?? 0)));
  });

  test(`statements of it compare both ways alike: ${kind.word}`, () => {
    const stated = [
      { word: kind.word, retryMs: [] },
      { word: kind.word, retryMs: [5_000] },
      { word: kind.word, retryMs: [5_000, 60_000] },
      { word: kind.word, retryMs: [5_000], timeoutMs: 1_000 },
      { word: kind.word, retryMs: [5_000], disableAfterMs: 60_000 },
      { word: kind.word, retryMs: [9_000], order: 'any' as const },
    ];
    for (const one of stated) for (const two of stated) assert.equal(comparePushes(one, two), opposite[comparePushes(two, one)]);
    const [none, once, twice, quick, disabled, loose] = stated;
    assert.ok(none && once && twice && quick && disabled && loose);
    assert.equal(comparePushes(once, { ...once }), 'same');
    assert.equal(comparePushes(once, twice), 'looser');
    assert.equal(comparePushes(once, none), 'tighter');
    assert.equal(comparePushes(once, quick), 'tighter', 'an answer that took long is not waited for');
    assert.equal(comparePushes(once, disabled), 'tighter');
    assert.equal(comparePushes(quick, disabled), 'other');
    assert.equal(comparePushes(once, loose), 'other');
  });
}

for (const kind of pullKinds) {
  test(`where it is listened to, and how long it is kept: ${kind.word}`, () => {
    const stated = { word: kind.word, method: kind.method, path: '/events' };
    assert.deepEqual(kind.problems(stated), []);
    assert.equal(kind.problems({ ...stated, method: 'PATCH' }).length, 1);
    assert.equal(kind.problems({ ...stated, path: 'events' }).length, 1);
    assert.equal(comparePulls(stated, { ...stated }), 'same');
    assert.equal(comparePulls(stated, { ...stated, keepMs: kind.usualKeepMs }), 'same', 'what is usual is what is meant');
    assert.equal(comparePulls(stated, { ...stated, keepMs: kind.usualKeepMs * 2 }), 'looser');
    assert.equal(comparePulls(stated, { ...stated, keepMs: 1 }), 'tighter');
    assert.equal(comparePulls(stated, { ...stated, path: '/news' }), 'other');
    assert.ok(kind.beatMs > 0);
  });
}
