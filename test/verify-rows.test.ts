import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Breach } from '../src/verify/report.ts';
import { isLong, oneOfEach } from './long.ts';
import { lending } from './verify/lending.ts';
import { openStand } from './verify/stand.ts';

/** A line of the document that is served otherwise than stated, and the fact that is then said to be broken, for this reason. */
type Row = readonly [fault: string, stated: string, served: string, breaks: string, reason: RegExp];

const rows: readonly Row[] = [
  [
    'what is reckoned through a reference is not reckoned again',
    ', update: "next.book.price * next.days"',
    '',
    'allowed values:loan.fee',
    /set/,
  ],
  [
    'what is reckoned through a reference is reckoned otherwise',
    'create: "next.book.price * next.days"',
    'create: "next.book.price"',
    'allowed values:loan.fee',
    /set/,
  ],
  ['two rows are alike in other letters', ', ignore_case: true', '', 'allowed values:book.title', /other letters/],
  ['a row becomes like another', '    unique: [[title]]\n', '', 'allowed values:book.title', /unique, changed/],
  ['an upsert makes a row like another', '    unique: [[label]]\n', '', 'allowed values:shelf.label', /unique/],
  [
    'a row becomes like another in one of several fields',
    "[{ fields: [book, week], while: \"next.state in ['wished', 'out']\" }]",
    '[{ fields: [book, week], while: "next.state == \'out\'" }]',
    'allowed values:loan.week',
    /unique, changed/,
  ],
  ['a secret is shorter', 'bk_{random:24}', 'bk_{random:8}', 'allowed values:book.code', /generated/],
  ['a reference is any text', 'shelf: { ref: shelf }', 'shelf: string', 'types:book.shelf', /reference/],
  ['anybody writes a field', ', writable: [keeper]', '', 'allowed values:book.remark', /stored/],
  ['anybody sees a field', 'visible: [keeper], ', '', 'required flags:book.remark', /hidden from a user/],
  [
    'an upsert does not set the time of the change',
    'set: { write: now } }\n    required: [code',
    'set: { create: now } }\n    required: [code',
    'allowed values:shelf.moved_at',
    /set/,
  ],
  [
    'a transition does not set the time of the change',
    'set: { write: now } }\n    required: [id, book',
    'set: { create: now, update: now } }\n    required: [id, book',
    'allowed values:loan.moved_at',
    /set/,
  ],
  [
    'the clock does not set the time of the change',
    'set: { write: now } }\n    required: [id, book',
    'set: { create: now, update: now, hand: now, renew: now, bring: now, drop: now, wish: now } }\n    required: [id, book',
    'allowed values:loan.moved_at',
    /set by forget/,
  ],
  [
    'a condition leaves out its own bound',
    'request.days <= resource.days',
    'request.days < resource.days',
    'transitions:loan',
    /edge/,
  ],
  [
    'a condition is off by one',
    'request.days <= resource.days',
    'request.days <= resource.days + 1',
    'transitions:loan',
    /blocked/,
  ],
  ['one of two ways is never gone', 'if: request.torn, state', 'if: "false", state', 'transitions:loan', /leads/],
  [
    'a transition depends on the one before',
    'drop: wished -> dropped',
    'drop: { from: wished, to: dropped, if: "!has(resource.renewed_at)" }',
    'transitions:loan',
    /drop from wished/,
  ],
  [
    'what the clock has done cannot be undone',
    'from: [dropped, forgotten], to: wished',
    'from: dropped, to: wished',
    'transitions:loan',
    /wish from forgotten/,
  ],
  [
    'what the clock has ended can be dropped',
    'drop: wished -> dropped',
    'drop: { from: [wished, forgotten], to: dropped }',
    'transitions:loan',
    /drop refused from forgotten/,
  ],
];

for (const [fault, stated, served, breaks, reason] of oneOfEach(rows, ([, , , breaks]) => breaks.split(':')[0] ?? '')) {
  test(`${breaks} is said to be broken where ${fault}`, async () => {
    assert.ok(lending.includes(stated), 'the document states it');
    const stand = await openStand(lending, { served: lending.replaceAll(stated, () => served) });
    try {
      const until = (one: Breach) => `${one.kind}:${one.subject}` === breaks && reason.test(one.reason);
      const { breaches } = await stand.verify({ only: [breaks], until });
      const told = breaches.map((breach) => `${breach.kind}:${breach.subject} ${breach.reason}`);
      assert.ok(breaches.some(until), told.join('; '));
    } finally {
      await stand.close();
    }
  });
}

/** Answers to requests for books that are spoilt on their way. */
const spoilt: readonly (readonly [what: string, trial: string, target: RegExp, edit: (text: string) => string, found: string])[] =
  [
    [
      'a list shows a row otherwise than reading it does',
      'resources/shown to',
      /^\/v1\/books(\?|$)/,
      (text) => text.replaceAll(/"price":\d+/g, '"price":77'),
      'allowed values:book.price listed',
    ],
    [
      'blanks at the end of a text are cut off',
      'resources/stored',
      /^\/v1\/books\/./,
      (text) => text.replaceAll(/ +"/g, '"'),
      'allowed values:book.title stored, sent',
    ],
  ];

for (const [what, trial, path, edit, wanted] of spoilt) {
  test(`${trial} finds it where ${what}`, async () => {
    const stand = await openStand(lending, {
      spoil: ({ method, target, text }) => (method === 'GET' && path.test(target) ? { text: edit(text) } : {}),
    });
    try {
      const lineOf = ({ kind, subject, reason }: Breach) => `${kind}:${subject} ${reason}`;
      const { breaches } = await stand.verify({ only: [trial], until: (breach) => lineOf(breach) === wanted });
      const told = breaches.map(lineOf);
      assert.ok(told.includes(wanted), told.join('; '));
    } finally {
      await stand.close();
    }
  });
}

for (const seed of isLong ? [1, 2, 3] : [1]) {
  test(`nothing is said to be broken where nothing is, seed ${seed}`, async () => {
    const stand = await openStand(lending);
    try {
      const { breaches, unsteady, facts, notes } = await stand.verify({ seed, only: ['resources', 'states'] });
      assert.deepEqual([...breaches, ...unsteady], []);
      assert.deepEqual(
        notes.filter((note) => note.includes('fault')),
        [],
      );
      const untested = facts.filter(
        ({ part, kind, verdict }) => part === 'states' && kind !== 'states' && verdict === 'not testable',
      );
      assert.deepEqual(
        untested.map(({ kind, subject }) => `${kind}:${subject}`),
        ['transitions:book', 'transitions:shelf'],
      );
    } finally {
      await stand.close();
    }
  });
}
