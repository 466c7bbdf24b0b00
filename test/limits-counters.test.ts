import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { rateKinds } from '../src/kinds/limits/all.ts';
import { fixed } from '../src/kinds/limits/fixed.ts';
import type { Use } from '../src/kinds/limits/kind.ts';
import { sliding } from '../src/kinds/limits/sliding.ts';
import { AddressIndex, NameIndex } from '../src/serve/limits/rate-counters.ts';
import { addressRoom, LogUses, nameRoom, RateCounter } from '../src/serve/limits/usage.ts';
import { type AddressBits, addressBits, addressName } from '../src/serve/limits/whom.ts';
import { times } from './long.ts';

const seeds = [0x12345678, 0x9abcdef0] as const;
const facts = { limit: 5, windowMs: 1000, capacity: 5 };
/** Looks at what a key has used; gives what keeps it. */
function keeping<Key>(counters: RateCounter<Key>, key: Key, found: Use, nowMs: number): () => void {
  const own = counters.look(key, found);
  return () => counters.keep(key, own, found, nowMs);
}
const use = (): Use => ({ numbers: new Float64Array(256), length: 0 });

for (const kind of rateKinds) {
  test(`${kind.word}: what many keys have used is kept apart, through growth, expiry and removal`, () => {
    const step = fc.tuple(fc.nat(300), fc.nat(40), fc.boolean());
    const model = fc.property(fc.array(step, { maxLength: 2000, size: 'max' }), (steps) => {
      const addresses = new RateCounter(kind, facts, new AddressIndex(seeds), addressRoom);
      const names = new RateCounter(kind, facts, new NameIndex(), nameRoom);
      const known = new Map<number, Use>();
      let nowMs = 0;
      for (const [key, afterMs, givesBack] of steps) {
        nowMs += afterMs;
        const wanted = known.get(key) ?? use();
        known.set(key, wanted);
        const taken = kind.decide(facts, wanted, nowMs, 1);
        const back = givesBack && taken.isAllowed ? { atMs: nowMs, cost: 1, before: taken.before } : undefined;
        if (back) kind.giveBack(facts, wanted, nowMs, back);
        const address = { high: key % 3, low: key };
        const tables: readonly ((found: Use) => () => void)[] = [
          (found) => keeping(addresses, address, found, nowMs),
          (found) => keeping(names, `k${key}`, found, nowMs),
        ];
        for (const look of tables) {
          const found = use();
          const keep = look(found);
          const decision = kind.decide(facts, found, nowMs, 1);
          assert.deepEqual([decision.isAllowed, decision.remaining], [taken.isAllowed, taken.remaining]);
          if (!decision.isAllowed) continue;
          keep();
          if (!back) continue;
          const again = use();
          const keepAgain = look(again);
          kind.giveBack(facts, again, nowMs, back);
          keepAgain();
        }
      }
    });
    fc.assert(model, { numRuns: 15 });
  });
}

test('counters that are over are let go of, a few with each new one', () => {
  const counters = new RateCounter(fixed, facts, new AddressIndex(seeds), addressRoom);
  const found = use();
  let most = 0;
  for (let n = 0; n < 200_000; n++) {
    const keep = keeping(counters, { high: 1, low: n }, found, n);
    fixed.decide(facts, found, n, 1);
    keep();
    most = Math.max(most, counters.size);
  }
  assert.ok(most < 2 * (facts.windowMs + 1000), `${most} were kept, of a window of ${facts.windowMs}`);
});

test('beyond so many keys those that come later share counters, and are never allowed more', () => {
  for (const index of [new AddressIndex(seeds), new AddressIndex([7, 9])]) {
    const counters = new RateCounter(fixed, facts, index, { ...addressRoom, keys: 100 });
    const found = use();
    const ask = (low: number) => {
      const keep = keeping(counters, { high: 1, low }, found, 0);
      const { isAllowed } = fixed.decide(facts, found, 0, 1);
      if (isAllowed) keep();
      return isAllowed;
    };
    for (let low = 0; low < 100; low++) assert.ok(ask(low));
    const crowd = Array.from({ length: 20_000 }, (_, n) => ask(1000 + n)).filter((isAllowed) => isAllowed);
    assert.ok(crowd.length <= 1024 * facts.limit, `${crowd.length} were allowed by the shared counters`);
    assert.ok(counters.size <= 100 + 1024);
    // Those who were there before are counted as they were.
    for (let n = 0; n < facts.limit - 1; n++) assert.ok(ask(50));
    assert.ok(!ask(50));
  }
  const names = new RateCounter(fixed, facts, new NameIndex(), { ...nameRoom, keys: 1 });
  const found = use();
  for (const name of ['a', 'b', 'c', 'd']) {
    const keep = keeping(names, name, found, 0);
    fixed.decide(facts, found, 0, 2);
    keep();
  }
  assert.equal(names.size, 2);
});

test('a log that would take too much room is kept coarser: forgotten late, never early', () => {
  const uses = new LogUses(4);
  const [one, other] = [use(), use()];
  const fill = (into: Use, ...pairs: number[]) => {
    into.numbers.set(pairs);
    into.length = pairs.length;
  };
  uses.open(0);
  fill(one, 1, 1, 2, 1, 3, 1, 4, 1, 5, 1);
  uses.save(0, one);
  uses.open(1);
  fill(other, 10, 1, 20, 2, 30, 3, 40, 4);
  uses.save(1, other);
  uses.load(1, other);
  assert.deepEqual([...other.numbers.subarray(0, other.length)], [20, 3, 30, 3, 40, 4]);
  uses.load(0, one);
  assert.deepEqual([...one.numbers.subarray(0, one.length)], [1, 1, 2, 1, 3, 1, 4, 1, 5, 1]);
  uses.drop(0);
  fill(other, 20, 3, 30, 3, 40, 4, 50, 1);
  uses.save(1, other);
  uses.load(1, other);
  assert.deepEqual([...other.numbers.subarray(0, other.length)], [20, 3, 30, 3, 40, 4, 50, 1]);
});

test('a million addresses take at most 64 MiB, and fewer in proportion, whatever their kind and however much they ask', () => {
  const count = times(250_000, 1_000_000);
  const wide = { limit: 600, windowMs: 60_000, capacity: 600 };
  for (const kind of rateKinds) {
    const counters = new RateCounter(kind, wide, new AddressIndex(seeds), addressRoom);
    const found = use();
    for (let n = 0; n < 3 * count; n++) {
      const address: AddressBits = { high: 0xffffffff, low: n % count };
      // Far enough apart to be remembered apart; a bucket would be full again by then.
      const nowMs = kind === sliding ? Math.floor(n / 200) : 0;
      const own = counters.look(address, found);
      kind.decide(wide, found, nowMs, 1);
      counters.keep(address, own, found, nowMs);
    }
    assert.equal(counters.size, count);
    assert.ok(counters.bytes <= times(24, 64) * 2 ** 20, `${kind.word}: ${counters.bytes / count} bytes for each address`);
  }
});

test('an address is the network that whoever asks has to himself', () => {
  const names: readonly (readonly [string, string])[] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['64:ff9b::203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
  ];
  for (const [text, name] of names) assert.equal(addressName(addressBits(text)), name, text);
  const wrong = [
    '',
    'unknown',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '1.2.3.4x',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    'g::1',
  ];
  for (const text of wrong) assert.equal(addressName(addressBits(text)), '0.0.0.0', text);
});
