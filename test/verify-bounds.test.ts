import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { inOrderOfWorth } from '../src/verify/asked.ts';
import { startBudget } from '../src/verify/exchange/budget.ts';
import { Lanes } from '../src/verify/exchange/lanes.ts';
import type { Trial } from '../src/verify/session/trial.ts';
import { CaseSlots } from '../src/verify/slots.ts';
import { notes } from './verify/notes.ts';
import { smallService } from './verify/small-service.ts';
import { openStand } from './verify/stand.ts';
import { assertWhole, openTrouble, verdictsOn } from './verify/trouble.ts';

const text = (body: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

/** A service that makes whatever it is asked for, wrongly, and counts what it is asked. */
function counting() {
  let asked = 0;
  return {
    answer(socket: Socket, request: string) {
      asked += request.split(/^(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|[A-Z]{3,}) [^ ]+ HTTP\/1\.1/m).length - 1;
      socket.write(request.startsWith('POST') ? text(`{"id":"n${asked}","text":7}`, '201 Created') : text('{}'));
    },
    get asked() {
      return asked;
    },
  };
}

for (const requests of [1, 10, 400]) {
  test(`no more than ${requests} requests are sent, whatever they are sent for`, async () => {
    const service = counting();
    const report = await verdictsOn((socket, request) => service.answer(socket, request), {
      requests,
      answerMs: 20_000,
      timeMs: 120_000,
    });
    assertWhole(report);
    assert.ok(service.asked <= requests, `${service.asked} were sent`);
    assert.equal(report.requests, service.asked);
    assert.match(report.stopped ?? '', /requests are used up/);
  });
}

test('floods and the moved clock count too', async () => {
  let [asked, moved] = [0, 0];
  const stand = await openStand(smallService, {
    bend: () => {
      asked += 1;
      return {};
    },
  });
  const clock = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    if (String(input).startsWith(stand.clockUrl)) moved += 1;
    return clock(input, init);
  };
  try {
    await stand.verify({ requests: 60, only: ['limits/rates', 'limits/quotas'] });
    assert.ok(moved > 0);
    assert.ok(asked + moved <= 60, `${asked} and ${moved} were sent`);
  } finally {
    globalThis.fetch = clock;
    await stand.close();
  }
});

test('for a row that others hold, which nothing deletes, hardly anything is asked', async () => {
  const asked = new Map<string, number>();
  // Notes refer to books, and stay.
  const stand = await openStand(notes.replace(/ {2}DELETE \/notes\/\{id\}: .*\n/, ''), {
    bend: ({ method, target }) => {
      if (method === 'DELETE') asked.set(target, (asked.get(target) ?? 0) + 1);
      return {};
    },
  });
  try {
    const { leftovers } = await stand.verify({
      only: ['resources/stored', 'resources/changed', 'resources/fixed', 'states/initial'],
    });
    const left = leftovers.find(({ resource }) => resource === 'book');
    assert.equal(left?.why, 'a note refers to it');
    assert.ok(asked.size < left.count && Math.max(0, ...asked.values()) <= 2, `${asked.size} of ${left.count} were asked for`);
  } finally {
    await stand.close();
  }
});

test('what would have sufficed is said where the requests did not', async () => {
  const stand = await openStand(smallService);
  try {
    const report = await stand.verify({ requests: 300, timeMs: 300_000 });
    assert.match(report.stopped ?? '', /requests are used up/);
    assert.ok((report.sufficing?.requests ?? 0) > 300);
    assert.ok((report.sufficing?.timeMs ?? 0) > 0);
  } finally {
    await stand.close();
  }
});

test('a run that ends early has looked at every part that has something to look at', async () => {
  const stand = await openStand(smallService, { serve: { allowPrivateWebhooks: true } });
  try {
    const report = await stand.verify({ requests: 600, timeMs: 300_000 });
    const looked = new Set(report.facts.filter(({ shown }) => Object.keys(shown).length > 0).map(({ part }) => part));
    assert.ok(report.stopped !== undefined);
    assert.deepEqual(
      Object.keys(report.parts).filter((part) => looked.has(part as never)),
      ['purpose', 'resources', 'states', 'endpoints', 'authentication', 'events', 'errors', 'limits', 'versioning'],
    );
  } finally {
    await stand.close();
  }
});

test('what is owed for cleaning up is kept back from trials and from looking again', () => {
  const budget = startBudget(100, 60_000);
  let owed = 0;
  budget.owes(() => owed);
  for (let sent = 0; sent < 60; sent++) budget.take('trial');
  owed = 20;
  for (let sent = 60; sent < 63; sent++) budget.take('trial');
  assert.throws(() => budget.take('trial'), /used up/);
  for (let sent = 63; sent < 75; sent++) budget.take('again');
  assert.throws(() => budget.take('again'), /used up/);
  for (let sent = 75; sent < 100; sent++) budget.take('last');
  assert.throws(() => budget.take('last'), /used up/);
  assert.equal(budget.requests, 100);
});

test('more time is kept for looking again with each breach, and no more than its share', () => {
  const budget = startBudget(100, 60_000);
  const keptMs = () => Math.round((budget.leftMs('again') - budget.leftMs('trial')) / 100) * 100;
  assert.equal(keptMs(), 3_300);
  let breaches = 1;
  budget.looksAgainAt(() => breaches);
  assert.equal(keptMs(), 5_000);
  breaches = 20;
  assert.equal(keptMs(), 10_000);
});

test('a rate that has refused lets no more be sent than it allows, and holds nothing up that it does not count', () => {
  const lanes = new Lanes();
  const [list, all] = [
    { key: 'list', limit: 2, windowMs: 1_000 },
    { key: 'all', limit: 100, windowMs: 1_000 },
  ];
  for (const ms of [0, 10, 20]) lanes.note([all, list], ms);
  lanes.close([all, list], 30, 500);
  assert.equal(lanes.waitMs([all], 30), 0);
  assert.equal(lanes.waitMs([all, list], 30), 980);
  assert.equal(lanes.waitMs([list], 1_005), 5);
  assert.equal(lanes.waitMs([list], 1_010), 0);
});

test('a case that waits lets another one go on', async () => {
  const slots = new CaseSlots(1);
  const first = await slots.begin();
  const waits = Promise.withResolvers<void>();
  const waited = first.pausing(waits.promise);
  const second = await slots.begin();
  waits.resolve();
  let isBack = false;
  const back = waited.then(() => {
    isBack = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isBack, false);
  second.end();
  await back;
  first.end();
  (await slots.begin()).end();
});

test('cases come by what they show that nothing before them shows, parts in turn', () => {
  const trial = (name: string, part: Trial['part']): Trial => ({ name, part, about: '', noise: 'quiet', cases: () => [] });
  const [shape, code] = [trial('resources/a', 'resources'), trial('errors/b', 'errors')];
  const one = (of: Trial, name: string, ...subjects: string[]) => ({
    trial: of,
    testCase: { name, facts: subjects.map((subject) => ({ kind: 'types', subject })), run: async () => {} },
  });
  const cases = [
    one(shape, 'x', 'x'),
    one(shape, 'x again', 'x'),
    one(shape, 'x, y and z', 'x', 'y', 'z'),
    one(code, 'v', 'v'),
    one(code, 'v and w', 'v', 'w'),
  ];
  assert.deepEqual(
    inOrderOfWorth(cases).map(({ testCase }) => testCase.name),
    ['x, y and z', 'v', 'x', 'v and w', 'x again'],
  );
  // A part that has shown all of its own once does not look a second time while others still have a first look to take.
  const other = trial('errors/c', 'errors');
  const many = [
    one(shape, 'p', 'p'),
    one(shape, 'q', 'q'),
    one(shape, 'r', 'r'),
    one(code, 'v', 'v'),
    one(other, 'v otherwise', 'v'),
  ];
  assert.deepEqual(
    inOrderOfWorth(many).map(({ testCase }) => testCase.name),
    ['p', 'v', 'q', 'r', 'v otherwise'],
  );
});

test('a service that nobody listens at any more is told of by a clock that cannot be reached', async () => {
  const { url, close } = await openTrouble((socket) => socket.end(text('{"now":"never"}')));
  try {
    await assert.rejects(
      verdictsOn((socket) => socket.write(text('{}')), { clockUrl: url }),
      /cannot be used/,
    );
  } finally {
    close();
  }
});
