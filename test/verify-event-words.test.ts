import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { asking, issues } from './values/issues.ts';
import { trials } from './values/trials.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** What is listened to here is on this machine. */
const serve = { allowPrivateWebhooks: true };

const alteredRows: readonly Otherwise[] = [
  [
    'what a change altered is told as it is',
    'from: "has(event.before.title) ? event.before.title : \'\'"',
    'from: "next.title"',
    'payload shapes:issue.retitled',
    /payload/,
  ],
  [
    'nothing is told of what a change altered',
    'changes: event.before',
    'changes: "{}"',
    'payload shapes:issue.changed',
    /payload/,
  ],
  [
    'every change is told as one of the title',
    'if: "has(event.before.title)"',
    'if: "next.title != \'\'"',
    'emitting operations:issue.retitled',
    /emitted/,
  ],
];

const eachRows: readonly Otherwise[] = [
  [
    'what was there is told again',
    '!(has(resource.labels) ? resource.labels : []).exists(old, old == label)',
    'true',
    'emitting operations:issue.labelled',
    /emitted/,
  ],
  [
    'each is told as another',
    'data: { id: next.id, label: item }',
    'data: { id: next.id, label: "string(item) + \'!\'" }',
    'payload shapes:issue.labelled',
    /payload/,
  ],
  [
    'all are told as one',
    'each: "(has(next.labels) ? next.labels : [])',
    'each: "(has(next.labels) && size(next.labels) > 0 ? [next.labels[0]] : [])',
    'emitting operations:issue.labelled',
    /emitted/,
  ],
];

servedOtherwise(
  issues.replace('maxItems: 5', 'minItems: 2, maxItems: 5'),
  oneOfEach(eachRows, ([, , , breaks]) => breaks),
  serve,
);

const askingRows: readonly Otherwise[] = [
  [
    'what is not asked for is told',
    ', if: "event.kind in subscriber.topics" }',
    ' }',
    'delivery mechanism:service',
    /asks for nothing/,
  ],
  ['who is paused is told', `enabled: "subscriber.status == 'active'", `, '', 'delivery mechanism:service', /asks for nothing/],
  [
    'nobody is told',
    'in subscriber.topics',
    "in subscriber.topics && event.kind != 'issue.made'",
    'emitting operations:issue.made',
    /emitted/,
  ],
];

servedOtherwise(
  asking,
  oneOfEach(askingRows, ([, , , breaks]) => breaks),
  serve,
);

test('a service whose subscribers ask by conditions is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(asking, { serve });
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

const namedRows: readonly Otherwise[] = [
  [
    'a kind is told under its key',
    'name: issues\n      action: closed',
    'name: issue.closed\n      action: closed',
    'emitting operations:issue.closed',
    /emitted/,
  ],
  ['actions are mixed up', 'action: reopened', 'action: opened', 'emitting operations:issue.reopened', /emitted/],
  [
    'an event lacks its action',
    'data: { action: event.action, issue',
    'data: { action: "\'done\'", issue',
    'emitting operations:issue.reopened',
    /emitted/,
  ],
];

servedOtherwise(
  issues,
  oneOfEach(namedRows, ([, , , breaks]) => breaks),
  serve,
);

servedOtherwise(
  issues,
  oneOfEach(alteredRows, ([, , , breaks]) => breaks),
  serve,
);

test('a service that says what its changes altered is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(issues, { serve });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const told = facts.filter(({ kind, subject }) => kind === 'payload shapes' && subject?.startsWith('issue.'));
    assert.deepEqual([...new Set(told.map(({ verdict }) => verdict))], ['held']);
  } finally {
    await stand.close();
  }
});

const reference = 'payload: { ref: subscription }';
const referenceRows: readonly Otherwise[] = [
  ['the whole row is told', reference, 'payload: subscription', 'payload shapes:subscription.changed', /payload/],
  [
    'another field is told',
    reference,
    'payload: { type: string }, data: "operation"',
    'payload shapes:subscription.changed',
    /payload/,
  ],
  ['the event is told', reference, 'payload: { type: string }, data: event.id', 'payload shapes:subscription.changed', /payload/],
];

servedOtherwise(
  trials,
  oneOfEach(referenceRows, ([, , , breaks]) => breaks),
);

const clockRows: readonly Otherwise[] = [
  ['the clock is early', "duration('72h')", "duration('96h')", 'emitting operations:trial.ending', /at its time/],
  ['the clock is late', "duration('72h')", "duration('48h')", 'emitting operations:trial.ending', /at its time/],
  ['the clock tells something else', 'plan: resource.plan', 'plan: resource.id', 'payload shapes:trial.ending', /payload/],
];

servedOtherwise(
  trials,
  oneOfEach(clockRows, ([, , , breaks]) => breaks),
);

test('a service whose clock tells of times is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(trials);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const verdicts = facts
      .filter(({ subject }) => subject === 'trial.ending' || subject === 'subscription.changed')
      .map(({ verdict }) => verdict);
    assert.deepEqual([...new Set(verdicts)], ['held']);
  } finally {
    await stand.close();
  }
});
