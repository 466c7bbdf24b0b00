import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { desk } from './values/desk.ts';
import { desks } from './values/desks.ts';
import { jobs } from './values/jobs.ts';
import { meters } from './values/meters.ts';
import { pads } from './values/pads.ts';
import { payments } from './values/payments.ts';
import { register } from './values/register.ts';
import { tracker } from './values/tracker.ts';
import { wrapped } from './values/wrapped.ts';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const countedRows: readonly Otherwise[] = [
  [
    'all repositories are counted together',
    'generate: integer, within: repository',
    'generate: integer',
    'allowed values:issue.number',
    /anew/,
  ],
  [
    'numbers are drawn by chance',
    'generate: "T-{number:4}"',
    'generate: "T-{random:4:1-9}"',
    'allowed values:issue.label',
    /counted, next/,
  ],
  [
    'every number ends in nothing',
    'generate: "T-{number:4}"',
    'generate: "T-{number:3}0"',
    'allowed values:issue.label',
    /counted, next/,
  ],
  [
    'a number has too few digits',
    'generate: "T-{number:4}"',
    'generate: "T-{number:3}"',
    'allowed values:issue.label',
    /generated/,
  ],
];

servedOtherwise(
  tracker,
  oneOfEach(countedRows, ([, , , breaks]) => breaks),
);

const movedRows: readonly Otherwise[] = [
  [
    'an update reopens what was never closed',
    'reopen: { from: closed,',
    'reopen: { from: [closed, locked],',
    'transitions:case',
    /refused from locked/,
  ],
  ['an update does not reopen', 'on: [update case], else: not_closed', 'else: not_closed', 'transitions:case', /reopen/],
  [
    'an update forgets when it was closed',
    'close: now, reopen',
    '"close case": now, reopen',
    'allowed values:case.closed_at',
    /answered|stored/,
  ],
];

servedOtherwise(
  desk,
  oneOfEach(movedRows, ([, , , breaks]) => breaks),
);

const readOnlyRows: readonly Otherwise[] = [
  ['what is read-only is ignored', 'read_only: refuse', 'read_only: ignore', 'allowed values:entry.number', /read-only refused/],
  [
    'a time may be sent',
    'readOnly: true, set: { create: now }',
    'set: { update: now }, default: "2026-01-01T00:00:00Z"',
    'allowed values:entry.made_at',
    /read-only refused|stored|answered/,
  ],
  ['the state is ignored', 'read_only: refuse', 'read_only: ignore', 'allowed values:entry.state', /read-only refused/],
];

servedOtherwise(
  register,
  oneOfEach(readOnlyRows, ([, , , breaks]) => breaks),
);

const keptRows: readonly Otherwise[] = [
  [
    'what is declined is not kept',
    '- { state: declined, answer: card_declined }',
    '- { if: "next.card == \'none\'", state: declined }',
    'conditions:card_declined',
    /code/,
  ],
  [
    'what is declined is answered like any change',
    'state: declined, answer: card_declined',
    'state: declined',
    'transitions:payment',
    /capture/,
  ],
  [
    'what is declined leads elsewhere',
    '{ state: declined, answer: card_declined }',
    '{ state: blocked, answer: card_declined }',
    'transitions:payment',
    /capture is kept/,
  ],
];

servedOtherwise(
  payments,
  oneOfEach(keptRows, ([, , , breaks]) => breaks),
);

const padRows: readonly Otherwise[] = [
  ['Accept is looked at', '    request.accept: none\n', '', 'conditions:request.accept', /not looked at/],
  ['the type of a body is looked at', '    request.media: none\n', '', 'conditions:request.media', /taken/],
  ['a method is unsupported', '    method.unsupported: none\n', '', 'conditions:method.unsupported', /405|never/],
  ['no body is a broken one', 'when: request.missing', 'when: limit.rate', 'conditions:no_body', /code/],
];

servedOtherwise(
  pads,
  oneOfEach(padRows, ([, , , breaks]) => breaks),
);

const shown = 'response payload shapes:GET /pads/{id}';
servedOtherwise(
  pads.replace('request.accept: none', 'limit.rate: none').replace('does: read pad', 'does: read pad, produces: always'),
  [['Accept is looked at after all', ', produces: always', '', shown, /not looked at/]],
);

const askedLast = desks.replace('state, precondition, request]', 'request, precondition, state]');
const deskRows: readonly Otherwise[] = [
  ['credentials come first', '[parameters, body, caller,', '[caller, parameters, body,', 'conditions:order', /before/],
  ['a tag is looked at before the body', 'request, precondition,', 'precondition, request,', 'conditions:order', /before/],
  ['parameters come late', '[parameters, body, caller,', '[body, caller, parameters,', 'conditions:order', /parameters before/],
];

servedOtherwise(
  askedLast,
  oneOfEach(deskRows, ([, , , breaks]) => breaks),
);

const meterRows: readonly Otherwise[] = [
  [
    'errors lack a header',
    'headers: { X-Error-Code: code, X-Error-Status',
    'headers: { X-Error-Status',
    'error payload shapes:service',
    /X-Error-Code/,
  ],
  ['a header of a code says something else', `"'unprocessable'"`, `"'wrong'"`, 'error payload shapes:service', /X-Error-Status/],
  ['answers lack a header', '{ X-Operation: operation, ', '{ ', 'response payload shapes:GET /readings/{id}', /X-Operation/],
  [
    'the rate is told under another name',
    'remaining: X-RateLimit-Remaining',
    'remaining: X-Left',
    'rate limits:service',
    /Remaining/,
  ],
  ['the reset is told in seconds', '{ X-RateLimit-Reset: unix }', 'X-RateLimit-Reset', 'rate limits:service', /Reset/],
];

servedOtherwise(
  meters,
  oneOfEach(meterRows, ([, , , breaks]) => breaks),
);

test('a service with header fields of its own is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(meters);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

test('a service that keeps a stated order of refusals is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(desks);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    assert.equal(facts.find(({ kind, subject }) => kind === 'conditions' && subject === 'order')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});

test('where no order of refusals is stated, nobody is held to one', async () => {
  const stand = await openStand(desks.replace(/ {2}order: .*\n/, ''), { served: desks });
  try {
    const { breaches } = await stand.verify({ only: ['authentication', 'errors'] });
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

const jobCodes = (state: string, condition: string) =>
  `wrong_state: { status: 409, when: ${state} }\n    not_paid: { status: 402, when: ${condition} }`;
const [ofState, ofCondition] = ['transition.illegal.state', 'transition.illegal.condition'] as const;
const bothTold = jobCodes(ofState, ofCondition);
const jobRows: readonly Otherwise[] = [
  ['the condition is told as the state', bothTold, jobCodes('transition.illegal', 'limit.rate'), 'conditions:not_paid', /code/],
  [
    'the state is told as the condition',
    bothTold,
    jobCodes('limit.rate', 'transition.illegal'),
    'conditions:wrong_state',
    /code/,
  ],
  ['each is told as the other', bothTold, jobCodes(ofCondition, ofState), 'conditions:not_paid', /code/],
];

for (const [fault, stated, served, breaks, reason] of oneOfEach(jobRows, ([, , , subject]) => subject)) {
  test(`${breaks} is said to be broken where ${fault}`, async () => {
    const stand = await openStand(jobs, { served: jobs.replace(stated, served), inPairs: true });
    try {
      const { breaches } = await stand.verify({ only: ['states'] });
      assert.ok(breaches.some((one) => `${one.kind}:${one.subject}` === breaks && reason.test(one.reason)));
    } finally {
      await stand.close();
    }
  });
}

test('a service that tells states from conditions is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(jobs);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

test('a service that never refuses some things is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(pads);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const verdicts = facts.filter(({ standing, kind }) => standing === 'none' && kind === 'conditions');
    const held = verdicts.filter(({ verdict }) => verdict === 'held').map(({ subject }) => subject);
    assert.deepEqual(held, ['request.accept', 'request.media', 'method.unsupported']);
  } finally {
    await stand.close();
  }
});

const madeRows: readonly Otherwise[] = [
  [
    'a value inside is another field',
    'title: result.title, twice',
    'title: result.id, twice',
    'response payload shapes:GET /letters/{id}',
    /computed/,
  ],
  ['the code inside is the message', 'code: code, message', 'code: message, message', 'conditions:missing', /code/],
  [
    'the status inside is another',
    'request: request_id, status: status',
    'request: request_id, status: 200',
    'error payload shapes:service',
    /status within/,
  ],
];

servedOtherwise(
  wrapped,
  oneOfEach(madeRows, ([, , , breaks]) => breaks),
);

test('a service whose answers are maps in maps is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(wrapped);
  try {
    assert.deepEqual((await stand.verify()).breaches, []);
  } finally {
    await stand.close();
  }
});

test('a service that counts is found without a fault, and each counted field is held', { skip: !isLong }, async () => {
  const stand = await openStand(tracker);
  try {
    const { breaches, facts } = await stand.verify({ only: ['resources'] });
    assert.deepEqual(breaches, []);
    const verdicts = facts
      .filter(({ kind, subject }) => kind === 'allowed values' && /issue.(number|label)/.test(subject))
      .map(({ verdict }) => verdict);
    assert.deepEqual([...new Set(verdicts)], ['held']);
  } finally {
    await stand.close();
  }
});

test('a service that is moved by updates is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(desk);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    assert.deepEqual(
      facts.filter(({ kind, subject }) => kind === 'transitions' && subject === 'case').map(({ verdict }) => verdict),
      ['held'],
    );
  } finally {
    await stand.close();
  }
});

test('a service that refuses what is read-only is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(register);
  try {
    const { breaches } = await stand.verify({ only: ['resources'] });
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});

test('a service that keeps what it answers with an error is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(payments);
  try {
    const { breaches } = await stand.verify();
    assert.deepEqual(breaches, []);
  } finally {
    await stand.close();
  }
});
