import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { rateKinds } from '../src/kinds/limits/all.ts';
import type { RateKind } from '../src/kinds/limits/kind.ts';
import { StoreUnavailable } from '../src/store/failures.ts';
import { openRedisRates } from '../src/store/redis/rates.ts';
import type { AskedRate, DecidedRates, SharedRates, TakenRate } from '../src/store/sharing.ts';
import { serveWith } from './limits/limited.ts';
import { type OwnServer, startOwnRedis } from './stores/own-server.ts';

const rules = new Map(rateKinds.map(({ word, lua }) => [word as string, lua]));

let redis: OwnServer;
let runs = 0;
before(async () => {
  redis = await startOwnRedis();
});
after(() => redis.stop());

/** Rates under keys that no other test has. */
function opened(): SharedRates {
  runs += 1;
  return openRedisRates(`${redis.address}?prefix=t${runs}`, rules);
}

const startMs = Date.parse('2026-06-01T09:00:00Z');

/** Plays requests in this process: what Redis has to say of each. */
function played(kind: RateKind, rate: AskedRate, steps: readonly Step[]): DecidedRates['rates'][number][] {
  let use = { numbers: new Float64Array(kind.numbersMax), length: 0 };
  let nowMs = startMs;
  return steps.map(({ afterMs, cost, isRefusedByAnother }) => {
    nowMs += afterMs;
    const tried = { numbers: use.numbers.slice(), length: use.length };
    const decision = kind.decide(rate.facts, tried, nowMs, cost);
    if (decision.isAllowed) use = tried;
    if (decision.isAllowed && isRefusedByAnother)
      kind.giveBack(rate.facts, use, nowMs, { atMs: nowMs, cost, before: decision.before });
    return decision;
  });
}

interface Step {
  readonly afterMs: number;
  readonly cost: number;
  readonly isRefusedByAnother: boolean;
}

for (const kind of rateKinds) {
  test(`${kind.word}: inside Redis every request is decided as in this process, also after some were given back`, async () => {
    const steps = fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.integer({ min: -3, max: 5 }), fc.integer({ min: 0, max: 400 })),
      cost: fc.integer({ min: 0, max: 4 }),
      isRefusedByAnother: fc.boolean(),
    });
    const facts = fc.record({
      limit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 60, max: 90 })),
      windowMs: fc.integer({ min: 1, max: 900 }),
      capacity: fc.integer({ min: 1, max: 20 }),
    });
    const rates = opened();
    const never: AskedRate = {
      key: 'never',
      kind: 'fixed',
      facts: { limit: 0, windowMs: 1000, capacity: 0 },
      cost: 1,
      memoryMs: 1000,
    };
    let cases = 0;
    const law = fc.asyncProperty(facts, fc.array(steps, { minLength: 1, maxLength: 60, size: 'max' }), async (stated, all) => {
      cases += 1;
      const rate: AskedRate = { key: `case ${cases}`, kind: kind.word, facts: stated, cost: 1, memoryMs: 60_000 };
      const wanted = played(kind, rate, all);
      let nowMs = startMs;
      const told = [];
      for (const { afterMs, cost, isRefusedByAnother } of all) {
        nowMs += afterMs;
        const asked = { ...rate, cost };
        const { atMs, rates: decided } = await rates.count({ rates: [asked], back: [], nowMs });
        told.push(decided[0]);
        const taken: TakenRate = { ...asked, atMs, before: decided[0]!.before };
        if (decided[0]!.isAllowed && isRefusedByAnother) await rates.count({ rates: [never], back: [taken], nowMs });
      }
      assert.deepEqual(told, wanted);
    });
    await fc.assert(law, { numRuns: 60 });
    await rates.close();
  });
}

const hourly = (key: string, limit: number): AskedRate => ({
  key,
  kind: 'sliding',
  facts: { limit, windowMs: 3_600_000, capacity: limit },
  cost: 1,
  memoryMs: 3_600_000,
});

test('several processes let through exactly the limit, by the clock of Redis', async () => {
  const [one, two] = [opened(), opened()];
  runs -= 1;
  const other = openRedisRates(`${redis.address}?prefix=t${runs}`, rules);
  const ask = (rates: SharedRates) => rates.count({ rates: [hourly('everyone', 50)], back: [], nowMs: undefined });
  const decided = await Promise.all(Array.from({ length: 200 }, (_, at) => ask(at % 2 === 0 ? one : other)));
  assert.equal(decided.filter(({ rates }) => rates[0]!.isAllowed).length, 50);
  assert.equal((await ask(two)).rates[0]!.isAllowed, true, 'another prefix is another service');
  await Promise.all([one, two, other].map((rates) => rates.close()));
});

test('what one of several rates refuses is counted in none', async () => {
  const rates = opened();
  const both = () => rates.count({ rates: [hourly('wide', 10), hourly('tight', 1)], back: [], nowMs: undefined });
  const allowed = [await both(), await both(), await both()].map(({ rates: decided }) =>
    decided.map(({ remaining }) => remaining),
  );
  assert.deepEqual(allowed, [
    [9, 0],
    [8, 0],
    [8, 0],
  ]);
  const alone = await rates.count({ rates: [hourly('wide', 10)], back: [], nowMs: undefined });
  assert.equal(alone.rates[0]!.remaining, 8);
  await rates.close();
});

test('two services over one Redis never answer more than the limit; where it is gone they refuse with 503, and go on once it is back', async () => {
  const limits = '{ rate: [{ per: everyone, limit: 5, window: 1h }, { per: address, limit: 400, window: 1h }] }';
  const address = `${redis.address}?prefix=served`;
  const services = await Promise.all([serveWith(limits, { limits: address }), serveWith(limits, { limits: address })]);
  const ask = async (at: number) => (await services[at % 2]!.send('GET /parcels')).status;
  const statuses = await Promise.all(Array.from({ length: 30 }, (_, at) => ask(at)));
  assert.deepEqual(
    [200, 429].map((status) => statuses.filter((one) => one === status).length),
    [5, 25],
  );
  await redis.stop();
  assert.deepEqual(await Promise.all([0, 1].map(ask)), [503, 503]);
  assert.ok(services[0]!.failures.every((failure) => failure instanceof StoreUnavailable));
  await redis.start();
  assert.deepEqual(await Promise.all([0, 1].map(ask)), [200, 200], 'this Redis keeps nothing: its windows begin anew');
  redis.pause(true);
  assert.equal(await ask(0), 503, 'one that hangs is not waited for');
  redis.pause(false);
  assert.equal(await ask(0), 200);
  await Promise.all(services.map((service) => service.close()));
});

test('what is no address of Redis is told so', () => {
  for (const address of ['redis:', 'postgres://localhost/x', 'redis://localhost?prefix=a b', 'redis://localhost?prefx=a'])
    assert.throws(() => openRedisRates(address, rules), /no address of Redis|prefix/);
  assert.throws(
    () => openRedisRates('http://me:secret@localhost', rules),
    (error: Error) => !error.message.includes('secret'),
  );
});
