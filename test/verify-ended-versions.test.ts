import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Cups in three versions: one ends some day, of one the end is announced alone. */
const cups = `
title: Cups
resources:
  cup:
    identifier: { field: id, generate: uuid }
    fields: { id: string, size: { type: integer, minimum: 1, maximum: 9 } }
    required: [id, size]
states: none
endpoints:
  POST /cups: { does: create cup }
  GET /cups: { does: list cup }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: request.invalid }
    missing: { status: 404, when: [route.unknown, version.unknown] }
    gone: { status: 410, when: version.sunset }
versioning:
  versions:
    v1: { deprecated: 2020-01-01, sunset: 2097-06-01 }
    v2: { deprecated: 2020-01-01, sunset: { on: 2096-06-01, then: serves } }
    v3: { current: true }
  select: { header: Cups-Version, default: current }
  guarantee: additive
  changes: { v1: none, v2: none, v3: none }
`;

async function told(options: StandOptions): Promise<string[]> {
  const stand = await openStand(cups, options);
  try {
    const { breaches } = await stand.verify({ only: ['versioning/ended'] });
    return breaches.map(({ kind, subject, reason }) => `${kind}, ${subject}, ${reason}`);
  } finally {
    await stand.close();
  }
}

test('a version whose last day is still to come is asked for after it', async () => {
  assert.deepEqual(await told({}), []);
  const later = cups.replace('sunset: 2097-06-01', 'sunset: 2099-06-01');
  assert.deepEqual(await told({ served: later }), ['deprecation rules, v1, ended']);
  // How it is told that it is gone is open: any refusal will do.
  const untold = cups.replace('    gone: { status: 410, when: version.sunset }\n', '');
  const stand = await openStand(untold);
  assert.deepEqual((await stand.verify({ only: ['versioning/ended'] })).breaches, []);
  await stand.close();
  const over = cups.replace('{ on: 2096-06-01, then: serves }', '2096-06-01');
  assert.deepEqual(await told({ served: over }), ['deprecation rules, v2, ended']);
});

test('a version past whose last day the clock was moved meanwhile is asked for all the same', async () => {
  for (const [served, found] of [
    [cups, []],
    [cups.replace('sunset: 2097-06-01', 'sunset: 2099-06-01'), ['deprecation rules, v1, ended']],
  ] as const) {
    const stand = await openStand(cups, { served });
    try {
      await fetch(stand.clockUrl, { method: 'POST', body: JSON.stringify({ now: '2097-09-01T00:00:00Z' }) });
      const { breaches, facts } = await stand.verify({ only: ['versioning/ended'] });
      assert.deepEqual(
        breaches.map(({ kind, subject, reason }) => `${kind}, ${subject}, ${reason}`),
        found,
      );
      const why = facts.find(({ kind, subject }) => kind === 'deprecation rules' && subject === 'v1')?.why ?? '';
      assert.doesNotMatch(why, /its last day is over/);
    } finally {
      await stand.close();
    }
  }
});

test('a version is served to its very end and not a day longer, where that is a moment', async () => {
  for (const [served, found] of [
    [cups.replace('sunset: 2097-06-01', 'sunset: 2097-06-02'), 'ended'],
    [cups.replace('sunset: 2097-06-01', 'sunset: 2097-05-31'), 'served to its end'],
  ] as const) {
    // It tells of the end that is stated.
    const spoil: StandOptions['spoil'] = ({ headers }) =>
      headers.sunset === undefined ? {} : { headers: { ...headers, sunset: 'Sat, 01 Jun 2097 00:00:00 GMT' } };
    const stand = await openStand(cups, { served, spoil });
    try {
      const { breaches, notes } = await stand.verify({ only: ['versioning/ended'] });
      assert.deepEqual(
        breaches.map(({ subject, reason, reproduced: { shown, runs } }) => [subject, reason, shown === runs]),
        [['v1', found, true]],
      );
      assert.deepEqual(notes, []);
    } finally {
      await stand.close();
    }
  }
  // A day that nobody tells as a moment ends elsewhere later, and another one ends sooner there.
  const untold: StandOptions['spoil'] = ({ headers: { sunset: _sunset, ...headers } }) => ({ headers });
  assert.deepEqual(await told({ served: cups.replace('sunset: 2097-06-01', 'sunset: 2097-06-02'), spoil: untold }), []);
});

test('a refusal for too many requests says nothing of the end of a version', async () => {
  // One request goes on at a time by then.
  let version: unknown;
  const found = await told({
    bend: ({ headers }) => {
      version = headers['cups-version'];
      return {};
    },
    spoil: ({ status }) => (version === 'v1' && status === 410 ? { status: 429, text: '' } : {}),
  });
  // The answer has no payload, which is told of errors.
  assert.deepEqual(
    found.filter((one) => one.startsWith('deprecation rules')),
    [],
  );
});

test('what was broken before is proved before the clock goes past the last day', async () => {
  const served = cups.replace('v1: { deprecated: 2020-01-01', 'v1: { deprecated: 2021-01-01');
  const stand = await openStand(cups, { served });
  try {
    const { breaches, notes } = await stand.verify({ only: ['versioning'] });
    assert.deepEqual(
      breaches.map(({ subject, reason, reproduced: { from, shown, runs } }) => [subject, reason, from, shown === runs]),
      [['v1', 'told', 'alone', true]],
    );
    assert.deepEqual(notes, []);
  } finally {
    await stand.close();
  }
});
