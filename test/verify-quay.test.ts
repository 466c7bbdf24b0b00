import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { quay } from './verify/quay.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand, type Stand } from './verify/stand.ts';

const rows: readonly Otherwise[] = [
  ['what is told from ten on is told from eleven', 'crew >= 10', 'crew > 10', 'emitting operations:visit.big', /emitted/],
  ['the clock is not told of', 'on: [lapse visit]', 'on: [leave visit]', 'emitting operations:visit.lapsed', /lapse/],
  ['the clock does it whatever its condition', ', if: "!resource.kept"', '', 'transitions:visit', /held back/],
  ['the clock is early where it has a condition', 'after: 3d', 'after: 2d', 'transitions:visit', /not before/],
  [
    'two are in a state that one may be in',
    `unique: [{ fields: [berth], while: "next.status == 'moored'" }]`,
    'unique: []',
    'conditions:taken',
    /moor into/,
  ],
  ['a condition through a reference is not looked at', 'if: "resource.boat.out"', 'if: "false"', 'conditions:boat_out', /arises/],
  [
    'a list leaves out what its reader may see',
    '- { allow: [list visit, read visit], to: warden, if: "resource.berth.warden == caller.id" }',
    '- { allow: [read visit], to: warden, if: "resource.berth.warden == caller.id" }\n    - { allow: [list visit], to: warden, if: "resource.guest == caller.id" }',
    'permission rules:list visit',
    /shows/,
  ],
  ['an address of any length is taken', 'url: 2KiB', 'url: 8KiB', 'size limits:service', /url above/],
];

servedOtherwise(quay, rows, { allowPrivateWebhooks: true });

let stand: Stand;
before(async () => {
  stand = await openStand(quay, { inPairs: true, serve: { allowPrivateWebhooks: true } });
});
after(() => stand.close());

test('what few may ask for in a day is asked for on the next ones, whatever status says so', async () => {
  const { breaches, unsteady, facts } = await stand.verify({ seed: 1, only: ['events', 'quotas'] });
  assert.deepEqual([breaches, unsteady], [[], []]);
  const told = facts.filter(({ part, standing }) => part === 'events' && standing === 'stated');
  const refused = told.filter(({ why = '' }) => /403|enough/.test(why));
  assert.deepEqual(
    refused.map(({ kind, subject, why }) => `${kind} (${subject}): ${why}`),
    [],
  );
  assert.equal(told.find(({ kind }) => kind === 'kinds of event')?.verdict, 'held');
});

test('nothing is said to be broken of conditions, lists and sizes where nothing is, and each is held', async () => {
  const only = ['conditions:boat_out', 'permission rules:list visit', 'size limits', 'functions'];
  const { breaches, unsteady, facts } = await stand.verify({ seed: 2, only });
  assert.deepEqual([breaches, unsteady], [[], []]);
  const verdictOf = (word: string) => facts.find(({ kind, subject }) => `${kind}:${subject}`.startsWith(word));
  assert.deepEqual(
    only.map((word) => verdictOf(word)?.verdict),
    only.map(() => 'held'),
    only.map((word) => verdictOf(word)?.why).join('; '),
  );
});

test('what was subscribed by a case is gone when it is over', async () => {
  let [there, most, made] = [0, 0, 0];
  const counting = await openStand(quay, {
    inPairs: true,
    serve: { allowPrivateWebhooks: true },
    spoil: ({ method, target, status }) => {
      if (method === 'POST' && /\/hooks$/.test(target) && status === 201) [there, made] = [there + 1, made + 1];
      if (method === 'DELETE' && /\/hooks\//.test(target) && status === 204) there -= 1;
      most = Math.max(most, there);
      return {};
    },
  });
  try {
    // One case at a time, so that only what one has left behind adds up.
    await counting.verify({ seed: 1, beside: 1, only: ['resources', 'endpoints'] });
    assert.ok(made > 8, `only ${made} were made`);
    assert.ok(most <= 4, `${most} of ${made} were there at once`);
  } finally {
    await counting.close();
  }
});
