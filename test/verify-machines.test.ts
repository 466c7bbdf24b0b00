import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { twoMachines as tracker } from './values/two-machines.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const text = `title: Tracker\n${tracker}`;

const rows: readonly Otherwise[] = [
  [
    'the guard that reads the other machine is left out',
    `if: { if: "next.locked == 'no'", else: is_locked }, `,
    '',
    'transitions:issue.state',
    /close blocked/,
  ],
  [
    'what moves one machine begins the time of the other anew',
    'lock: { from: no, to: yes, on: update issue, then: { create: note, set: { issue: next.id, text: "\'locked\'" } } }',
    'lock: { from: no, to: yes, on: update issue, then: { do: stay issue, to: next.id } }',
    'transitions:issue.state',
    /lapse in time/,
  ],
  [
    'a machine is not moved by the update',
    'unlock: { from: yes, to: no, on: update issue }',
    'unlock: { from: yes, to: no }',
    'transitions:issue.locked',
    /unlock from yes|unlock leads/,
  ],
  [
    'a transition leaves every state',
    'lock: { from: no,',
    'lock: { from: "*",',
    'transitions:issue.locked',
    /lock refused from yes/,
  ],
  ['a deletion asks for the state of one machine alone', 'in: [closed, no]', 'in: [no]', 'states:issue.state', /refused/],
];

servedOtherwise(
  text,
  oneOfEach(rows, ([, , , breaks]) => breaks),
);

test('a tracker with two machines is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(text);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
