import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isInnerList, parseList } from 'structured-headers';
import { type Limited, type LimitedService, type Sent, serveWith } from './limits/limited.ts';

/** Serves with limits for one test. */
function limited(name: string, limits: string, body: (service: LimitedService) => Promise<void>): void {
  test(name, async () => {
    const service = await serveWith(limits);
    try {
      await body(service);
      assert.deepEqual(service.failures, []);
    } finally {
      await service.close();
    }
  });
}

/** The items of a header field that is a list of structured fields, with their parameters. */
function items({ headers }: Limited, name: string): Record<string, Record<string, unknown>> {
  const list = parseList(headers.get(name) ?? '');
  return Object.fromEntries(
    list.map((item) => {
      assert.ok(!isInnerList(item) && typeof item[0] === 'string', `${name} is no list of strings`);
      return [item[0], Object.fromEntries(item[1])];
    }),
  );
}

const trusted = 'trust_proxies: ["127.0.0.1"]';
/** One that needs a caller, and one that looks at none. */
const read = 'GET /help';
const open = 'GET /about';
const list = 'GET /parcels';

for (const kind of ['sliding', 'fixed', 'bucket']) {
  limited(
    `${kind}: so many requests are answered, and the next one when it is said`,
    `{ rate: [{ per: everyone, kind: ${kind}, limit: 3, window: 1m }] }`,
    async ({ send, statuses, clock }) => {
      assert.deepEqual(await statuses(3, list), [200, 200, 200]);
      const refused = await send(list);
      assert.equal(refused.status, 429);
      assert.equal(refused.json.code, 'hurried');
      const waitS = Number(refused.headers.get('retry-after'));
      assert.equal(waitS, kind === 'bucket' ? 20 : 60);
      clock.advance(waitS * 1000 - 1);
      assert.equal((await send(list)).status, 429);
      clock.advance(1);
      assert.equal((await send(list)).status, 200);
    },
  );
}

limited(
  'the fields tell of each rate that counted, as structured fields',
  '{ rate: [{ per: caller, kind: fixed, limit: 100, window: 1m }, { per: address, on: [list parcel], limit: 20, window: 1s, burst: 40, kind: bucket }, { per: user, to: courier, limit: 5, window: 1500ms }] }',
  async ({ send, clock }) => {
    const first = await send(list);
    assert.deepEqual(items(first, 'ratelimit-policy'), {
      'address-1s-list-parcel': { q: 20, w: 1, 'ninefold-burst': 40 },
      'caller-1m': { q: 100, w: 60 },
    });
    assert.deepEqual(items(first, 'ratelimit'), { 'address-1s-list-parcel': { r: 39, t: 1 }, 'caller-1m': { r: 99, t: 60 } });
    clock.advance(30_001);
    assert.deepEqual(items(await send(read), 'ratelimit'), { 'caller-1m': { r: 98, t: 30 } });
    const courier = await send(read, { as: 'courier c1' });
    assert.deepEqual(items(courier, 'ratelimit-policy'), { 'caller-1m': { q: 100, w: 60 }, 'user-1500ms-courier': { q: 5 } });
    assert.deepEqual(items(courier, 'ratelimit')['user-1500ms-courier'], { r: 4, t: 2 });
  },
);

test('the fields can be read whatever the rates are, and say what is left and for how long', async () => {
  const rate = fc.record({
    per: fc.constantFrom('caller', 'user', 'address', 'everyone'),
    kind: fc.constantFrom('sliding', 'fixed', 'bucket'),
    limit: fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(0.5, 2.5, 1e9)),
    window: fc.constantFrom('250ms', '1s', '90s', '1m', '24h', '30d'),
    on: fc.option(fc.constantFrom('read help', 'all parcel'), { nil: undefined }),
    to: fc.option(fc.constantFrom('merchant', 'courier'), { nil: undefined }),
  });
  const model = fc.asyncProperty(fc.array(rate, { minLength: 1, maxLength: 5 }), fc.nat(100_000), async (rates, afterMs) => {
    const stated = rates.map(({ on, to, ...rest }) => ({ ...rest, ...(on && { on: [on] }), ...(to && { to: [to] }) }));
    const { send, clock, close } = await serveWith(JSON.stringify({ rate: stated }));
    try {
      for (const [n, line] of [list, read, list].entries()) {
        const answer = await send(line);
        const [left, policies] = [items(answer, 'ratelimit'), items(answer, 'ratelimit-policy')];
        assert.deepEqual(Object.keys(left), Object.keys(policies));
        if (answer.status === 429) {
          assert.ok(Object.values(left).some(({ r }) => r === 0));
          // A rate of less than one request admits none, however long one waits.
          const isNever = Object.values(policies).some(({ q }) => q === 0);
          assert.ok(Number(answer.headers.get('retry-after')) >= 1 || isNever);
        }
        for (const [name, { r, t }] of Object.entries(left)) {
          const { q, w } = policies[name]!;
          assert.ok(Number.isInteger(q) && (w === undefined || Number(w) >= 1));
          assert.ok(Number.isInteger(r) && Number(r) >= 0 && Number(r) <= Number(q), name);
          assert.ok(Number.isInteger(t) && Number(t) >= 1, name);
        }
        if (n === 1) clock.advance(afterMs);
      }
    } finally {
      await close();
    }
  });
  await fc.assert(model, { numRuns: 40 });
});

limited(
  'callers, users, addresses and everyone are counted apart',
  `{ rate: [{ per: caller, on: [list parcel], limit: 1, window: 1m }, { per: user, on: [read help], limit: 1, window: 1m }, { per: address, on: [create parcel], limit: 1, window: 1m }, { per: everyone, on: [handler weigh], limit: 1, window: 1m }], ${trusted} }`,
  async ({ send }) => {
    const status = async (line: string, as: string, from: string) => (await send(line, { as, from })).status;
    const first: [string, string][] = [
      ['merchant m1', '10.0.0.1'],
      ['merchant m2', '10.0.0.1'],
      ['courier m1', '10.0.0.2'],
    ];
    const seen = async (line: string) => {
      const statuses: number[] = [];
      for (const [as, from] of [...first, ...first]) statuses.push(await status(line, as, from));
      return statuses.map((one) => (one === 429 ? 0 : 1)).join('');
    };
    assert.equal(await seen(list), '111000');
    assert.equal(await seen(read), '101000');
    assert.equal(await seen('POST /parcels'), '101000');
    assert.equal(await seen('POST /weigh'), '100000');
  },
);

limited(
  'a rate per caller counts the address where there is no caller, apart from every caller',
  `{ rate: [{ per: caller, limit: 1, window: 1m }], ${trusted} }`,
  async ({ statuses }) => {
    const asked: [Sent, number[]][] = [
      [{ as: '', from: '10.0.0.1' }, [200, 429]],
      [{ as: '', from: '10.0.0.2' }, [200, 429]],
      [{ as: 'merchant m1', from: '10.0.0.1' }, [200, 429]],
      [{ as: 'merchant m1', from: '10.0.0.3' }, [429, 429]],
      [{ as: '', from: '2001:db8::1' }, [200, 429]],
      [{ as: '', from: '2001:db8::ffff:0:0:1' }, [429, 429]],
      [{ as: '', from: '2001:db8:0:1::1' }, [200, 429]],
    ];
    for (const [sent, expected] of asked)
      assert.deepEqual(await statuses(2, sent.as === '' ? open : read, sent), expected, JSON.stringify(sent));
  },
);

limited(
  'a rate for some users does not count the others',
  '{ rate: [{ per: address, to: courier, limit: 1, window: 1m }] }',
  async ({ statuses }) => {
    assert.deepEqual(await statuses(3, read), [200, 200, 200]);
    assert.deepEqual(await statuses(2, read, { as: 'courier c1' }), [200, 429]);
    assert.deepEqual(await statuses(2, open, { as: 'courier c1' }), [200, 200]);
  },
);

limited(
  'an address is counted as one for all users that a rate is for',
  `{ rate: [{ per: address, to: [courier], limit: 1, window: 1500ms }], ${trusted} }`,
  async ({ send, clock }) => {
    const ask = (as: string, from: string) => send(read, { as, from });
    clock.advance(1);
    assert.equal((await ask('courier c1', '10.0.0.1')).status, 200);
    assert.equal((await ask('courier c2', '10.0.0.2')).status, 200);
    clock.advance(400);
    const refused = await ask('courier c2', '10.0.0.1');
    // After 1.1 seconds, in whole ones.
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '2']);
  },
);

limited(
  'operations cost what is stated, fractions exactly',
  '{ rate: [{ per: everyone, kind: fixed, limit: 0.3, window: 1m, cost: { list parcel: 0.1, all parcel: 0.2, read help: 0 } }] }',
  async ({ send, statuses }) => {
    assert.deepEqual(await statuses(5, read), [200, 200, 200, 200, 200]);
    assert.deepEqual(await statuses(3, list), [200, 200, 200]);
    assert.equal((await send(list)).status, 429);
    assert.equal((await send(read)).status, 200);
    assert.equal((await send('GET /parcels/none')).status, 429);
  },
);

limited(
  'what can never be allowed has no time to wait',
  '{ rate: [{ per: everyone, kind: fixed, limit: 1, window: 1m, on: [read help, list parcel], cost: { list parcel: 1 } }, { per: everyone, limit: 0, window: 1h, on: [create parcel] }] }',
  async ({ send }) => {
    const refused = await send('POST /parcels');
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get('retry-after'), null);
  },
);

limited(
  'of several rates the strictest answers, and a refused request is counted in none',
  `{ rate: [{ per: address, kind: fixed, limit: 2, window: 10s }, { per: everyone, before: credentials, kind: fixed, limit: 3, window: 1m }, { per: caller, kind: fixed, limit: 2, window: 1h, on: [list parcel] }], ${trusted} }`,
  async ({ send, statuses, clock }) => {
    const [one, other] = [{ from: '10.0.0.1' }, { from: '10.0.0.2' }];
    assert.deepEqual(await statuses(2, list, one), [200, 200]);
    // The address and the caller are both at their end; the earlier step answers.
    assert.equal((await send(list, one)).headers.get('retry-after'), '10');
    // Of everyone one is left. The caller is refused at the later step, and it stays left, however often.
    assert.deepEqual(await statuses(5, list, other), [429, 429, 429, 429, 429]);
    assert.equal((await send(list, other)).headers.get('retry-after'), '3600');
    const last = await send(read, other);
    assert.deepEqual(items(last, 'ratelimit')['everyone-1m'], { r: 0, t: 60 });
    assert.deepEqual(items(last, 'ratelimit')['address-10s'], { r: 1, t: 10 });
    clock.advance(5000);
    // Address and everyone refuse together: the longer wait is told.
    assert.equal((await send(read, one)).headers.get('retry-after'), '55');
  },
);

limited(
  'every answer but that of a rate is counted',
  '{ rate: [{ per: everyone, kind: fixed, limit: 6, window: 1m }] }',
  async ({ send }) => {
    const left = async (line: string, sent?: Sent) => {
      const answer = await send(line, sent);
      return [answer.status, items(answer, 'ratelimit')['everyone-1m']?.r];
    };
    assert.deepEqual(await left('GET /parcels/none'), [404, 5]);
    assert.deepEqual(await left('POST /parcels', { body: { weight: 11 } }), [422, 4]);
    assert.deepEqual(await left('POST /parcels', { body: { weight: 1 }, headers: { 'content-type': 'text/plain' } }), [415, 3]);
    assert.deepEqual(await left(list, { headers: { accept: 'text/html' } }), [406, 2]);
    assert.deepEqual(await left('POST /weigh', { body: {} }), [501, 1]);
    assert.deepEqual(await left(list), [200, 0]);
    assert.deepEqual(await left(list), [429, 0]);
    assert.deepEqual(await left('GET /nowhere'), [404, undefined]);
  },
);

for (const [before, known] of [
  ['', [200, 200, 429]],
  [', before: credentials', [429, 429, 429]],
] as const) {
  test(`what strangers with bad credentials send uses up what everyone has ${before ? 'where that is stated' : 'never'}`, async () => {
    const { send, close } = await serveWith(`{ rate: [{ per: everyone, limit: 2, window: 1m${before} }], ${trusted} }`);
    try {
      for (let at = 0; at < 20; at++)
        assert.match(String((await send(list, { as: '', from: `10.0.0.${at}` })).status), /401|429/);
      const statuses = [];
      for (let at = 0; at < 3; at++) statuses.push((await send(list)).status);
      assert.deepEqual(statuses, known);
    } finally {
      await close();
    }
  });
}

test('failed logins count for their address', async () => {
  const { send, close } = await serveWith(
    `{ rate: [{ per: address, limit: 2, window: 1m }, { per: caller, limit: 1, window: 1m }], ${trusted} }`,
    { identify: undefined } as never,
  );
  try {
    const wrong = { as: '', from: '10.0.0.1', headers: { 'x-key': 'wrong' } };
    assert.equal((await send(list, wrong)).status, 401);
    assert.deepEqual(items(await send(list, wrong), 'ratelimit'), { 'address-1m': { r: 0, t: 60 } });
    assert.equal((await send(list, wrong)).status, 429);
    assert.equal((await send(open, { as: '', from: '10.0.0.1' })).status, 429);
    assert.equal((await send(list, { ...wrong, from: '10.0.0.2' })).status, 401);
  } finally {
    await close();
  }
});

limited(
  'what was counted outlives the document for every rate that is still stated',
  '{ rate: [{ per: everyone, limit: 3, window: 1m }, { per: caller, limit: 9, window: 1h }] }',
  async ({ send, replace }) => {
    const left = async () =>
      Object.fromEntries(Object.entries(items(await send(read), 'ratelimit')).map(([name, { r }]) => [name, r]));
    assert.deepEqual(await left(), { 'everyone-1m': 2, 'caller-1h': 8 });
    await replace('{ rate: [{ per: caller, limit: 9, window: 1h }, { per: everyone, limit: 4, window: 1m }] }');
    assert.deepEqual(await left(), { 'everyone-1m': 3, 'caller-1h': 7 });
    await replace('{ rate: [{ per: caller, limit: 9, window: 1h }, { per: caller, limit: 9, window: 1h }] }');
    assert.deepEqual(await left(), { 'caller-1h': 6, 'caller-1h-2': 8 });
  },
);

limited('without rates nothing is counted and nothing told', '{ rate: none }', async ({ send, statuses }) => {
  assert.deepEqual(new Set(await statuses(300, read)), new Set([200]));
  const { headers } = await send(read);
  assert.deepEqual([headers.get('ratelimit'), headers.get('ratelimit-policy')], [null, null]);
});
