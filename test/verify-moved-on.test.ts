import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** An update closes a dig for good, and with it those of its trenches in which something was found. */
const digs = `title: Digs
purpose: { purpose: Keeps digs., users: { digger: Digs. } }
resources:
  dig:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 1, maxLength: 40 }
      status: { type: string }
    required: [id, title, status]
  trench:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      dig: { ref: dig, onDelete: restrict, immutable: true }
      finds: { type: integer, derive: "count(find.trench)" }
      status: { type: string, readOnly: true }
    required: [id, dig, finds, status]
  find:
    identifier: { field: id, generate: uuid }
    fields: { id: string, trench: { ref: trench, onDelete: restrict, immutable: true } }
    required: [id, trench]
states:
  find: none
  dig:
    field: status
    initial: open
    states: [open, closed]
    transitions:
      close: { from: open, to: closed, on: update dig, then: { do: seal trench, each: trench.dig, else: skip } }
  trench:
    field: status
    initial: open
    states: [open, sealed]
    transitions:
      seal: { from: open, to: sealed, if: "resource.finds > 0" }
endpoints:
  POST /digs: { does: create dig }
  GET /digs/{id}: { does: read dig }
  PATCH /digs/{id}: { does: update dig }
  POST /digs/{dig}/trenches: { does: create trench }
  GET /digs/{dig}/trenches: { does: list trench }
  GET /trenches/{id}: { does: read trench }
  POST /trenches/{id}/seal: { does: seal trench }
  POST /trenches/{trench}/finds: { does: create find }
  GET /finds/{id}: { does: read find }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: [all dig, all trench, all find], to: digger }]
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: { versions: none }
`;

const closes = 'close: { from: open, to: closed, on: update dig, then: { do: seal trench, each: trench.dig, else: skip } }';

const faults: readonly Otherwise[] = [
  [
    'what is closed can be opened again',
    closes,
    `${closes}\n      reopen: { from: closed, to: open, on: update dig }`,
    'transitions:dig',
    /open refused from closed/,
  ],
  [
    'nothing follows from what an update moves',
    closes,
    'close: { from: open, to: closed, on: update dig }',
    'transitions:dig',
    /follows/,
  ],
];

servedOtherwise(digs, faults);

test('what an update moves, and what follows from it, is looked at, and no breach where it is as stated', async () => {
  const stand = await openStand(digs, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({
      only: ['states/moved by update', 'states/following', 'states/transitions'],
    });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    assert.ok(facts.some(({ kind, subject, verdict }) => kind === 'transitions' && subject === 'dig' && verdict === 'held'));
  } finally {
    await stand.close();
  }
});

test('what does not follow, since its own condition does not hold and it is passed over then, is no breach', async () => {
  const stand = await openStand(digs.replace('resource.finds > 0', 'resource.finds > 90'), { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/following'] });
    assert.deepEqual(breaches, []);
    assert.notEqual(facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'dig')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});
