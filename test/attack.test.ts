import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { attacks } from './attack/attacks.ts';
import { runAttack, runRaw, strangeStatuses } from './attack/run.ts';
import { startTarget } from './attack/target.ts';
import { type Kinds, kinds, quickKinds } from './bounds/kinds.ts';
import { standInKinds } from './bounds/of-stand-ins.ts';
import { runBounds } from './bounds/run.ts';
import { isLong, share, times } from './long.ts';

const target = await startTarget();
after(() => target.stop());

for (const attack of attacks) {
  test(`${attack.risk}: it fails that ${attack.name}`, async () => {
    const { won, control } = await runAttack(target, attack);
    assert.equal(won, undefined);
    assert.equal(control, undefined, 'the right request beside it');
  });
}

test('each of the ten risks is attacked', () => {
  assert.deepEqual(
    [...new Set(attacks.map(({ risk }) => risk))],
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
});

test('whatever asks for too much is refused by a process of 256 MiB, and others are answered after it', async () => {
  assert.ok(Object.keys(kinds).length >= 100);
  const all = await runBounds(target, isLong ? part(kinds) : part(quickKinds));
  assert.deepEqual(
    all.filter(({ wrong }) => wrong !== undefined),
    [],
  );
});

test('whatever asks for too much of a stand-in is bounded, and others are answered after it', async () => {
  const standIn = await startTarget('shelf');
  try {
    const all = await runBounds(standIn, part(standInKinds));
    assert.deepEqual(
      all.filter(({ wrong }) => wrong !== undefined),
      [],
    );
    assert.deepEqual(strangeStatuses(standIn.statuses), []);
  } finally {
    await standIn.stop();
  }
});

const part = (all: Kinds): Kinds => Object.fromEntries(share(Object.entries(all), 3));

test('requests that are nearly right bring about no failure, and take no memory for good', async () => {
  const [before, ...later] = await runRaw(target, times(400, 800), 7);
  assert.deepEqual([...(before?.failures ?? []), ...later.flatMap(({ failures }) => failures)], []);
  const grown = (later.at(-1)?.heapBytes ?? 0) - (later[0]?.heapBytes ?? 0);
  assert.ok(grown < 16 * 1024 ** 2, `${grown} bytes more in the second half`);
});

test('nothing of all that was answered 5xx but 501 and 503', () => {
  assert.deepEqual(strangeStatuses(target.statuses), []);
});
