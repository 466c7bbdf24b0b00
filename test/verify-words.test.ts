import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLong, oneOfEach } from './long.ts';
import { counters } from './values/counters.ts';
import { desk } from './values/desk.ts';
import { desks } from './values/desks.ts';
import { files } from './values/files.ts';
import { hooks } from './values/hooks.ts';
import { invoices } from './values/invoices.ts';
import { jobs } from './values/jobs.ts';
import { maps } from './values/maps.ts';
import { meters } from './values/meters.ts';
import { pads } from './values/pads.ts';
import { payments } from './values/payments.ts';
import { orders } from './values/refused-orders.ts';
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

const invoiceRows: readonly Otherwise[] = [
  [
    'only one line is shown',
    'position, minItems',
    'position, page: 1, minItems',
    'allowed values:invoice.lines',
    /children, sent/,
  ],
  ['lines stand the other way round', 'order: position', 'order: -position', 'allowed values:invoice.lines', /children, sent/],
  [
    'a line may be of nothing',
    'product: { ref: product }',
    'product: string',
    'allowed values:invoice.lines',
    /children, refused/,
  ],
  ['a page is too short', 'page: 2', 'page: 1', 'allowed values:invoice.notes', /children, shown/],
  ['nobody is told of more', 'page: 2', 'page: 3', 'allowed values:invoice.notes', /children, shown/],
];

servedOtherwise(
  invoices,
  oneOfEach(invoiceRows, ([, , , breaks, reason]) => `${breaks} ${reason}`),
);

test('a service that shows children in their parents is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(invoices);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const verdicts = facts.filter(({ kind, subject }) => kind === 'allowed values' && /invoice.(lines|notes)/.test(subject));
    assert.deepEqual([...new Set(verdicts.map(({ verdict }) => verdict))], ['held']);
  } finally {
    await stand.close();
  }
});

const fileRows: readonly Otherwise[] = [
  ['nothing is kept', 'keep: 30d, restore: undelete', 'keep: 0s, restore: undelete', 'transitions:file', /undelete from deleted/],
  [
    'a file comes back locked',
    'undelete: deleted -> open',
    'undelete: deleted -> locked',
    'transitions:file',
    /undelete from deleted/,
  ],
  ['what is gone never was', 'keep: 30d, restore: undelete', 'keep: 0s, restore: undelete', 'conditions:gone', /code/],
  ['nothing tells of a deleted sheet', 'keep: forever', 'keep: 0s', 'response payload shapes:GET /sheets/{id}', /deleted, told/],
];

servedOtherwise(
  files,
  oneOfEach(fileRows, ([, , , breaks]) => breaks),
);

test('a service that keeps what is deleted is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(files);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const isIt = ({ kind, subject }: (typeof facts)[number]) => `${kind}:${subject}` === 'transitions:file' || subject === 'gone';
    assert.deepEqual([...new Set(facts.filter(isIt).map(({ verdict }) => verdict))], ['held']);
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

/** The codes of two conditions, each given for the other. */
function swapped(one: string, other: string): readonly [string, string] {
  const codes = (text: string) =>
    text
      .split('\n')
      .filter(
        (line) =>
          line.includes(`when: ${one},`) ||
          line.includes(`when: ${one} }`) ||
          line.includes(`when: ${other},`) ||
          line.includes(`when: ${other} }`),
      );
  const stated = codes(orders).join('\n');
  const served = stated
    .replace(`when: ${one}`, 'when: *')
    .replace(`when: ${other}`, `when: ${one}`)
    .replace('when: *', `when: ${other}`);
  return [stated, served];
}

const orderRows: readonly Otherwise[] = [
  [
    'what is missing is told as unknown',
    ...swapped('request.invalid.missing', 'request.invalid.unknown'),
    'conditions:parameter_missing',
    /code/,
  ],
  [
    'a wrong type is told as a wrong value',
    ...swapped('request.invalid.type', 'request.invalid.value'),
    'conditions:parameter_invalid_type',
    /code/,
  ],
  [
    'what is read-only is told as a wrong value',
    ...swapped('request.invalid.value', 'request.invalid.read_only'),
    'conditions:parameter_fixed',
    /code/,
  ],
  ['no key is told as a bad one', ...swapped('caller.unknown.missing', 'caller.unknown.bad'), 'conditions:key_missing', /code/],
  ['an address is told as a head', ...swapped('limit.size.url', 'limit.size.headers'), 'conditions:long_address', /code/],
  ['an address is told as a body', ...swapped('limit.size.url', 'limit.size'), 'conditions:long_address', /code/],
  ['a body is told as an address', ...swapped('limit.size.url', 'limit.size'), 'conditions:large_body', /code/],
  [
    'the user is told as the scope',
    ...swapped('caller.forbidden.user', 'caller.forbidden.scope'),
    'conditions:wrong_role',
    /code/,
  ],
];

servedOtherwise(
  orders,
  oneOfEach(orderRows, ([, , , breaks]) => breaks),
);

test('the last thing that is wrong in a body may not name its refusal', { skip: !isLong }, async () => {
  const backwards = ({ text, method }: { readonly text: string; readonly method: string }) =>
    method === 'POST' && text.startsWith('{')
      ? { text: JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())) }
      : {};
  const stand = await openStand(orders, { bend: backwards });
  try {
    const { breaches } = await stand.verify({ only: ['errors'] });
    assert.deepEqual([...new Set(breaches.map(({ kind, reason }) => `${kind} ${reason}`))], ['conditions code']);
  } finally {
    await stand.close();
  }
});

const mapRows: readonly Otherwise[] = [
  [
    'everybody has the rate of nobody',
    'per: address, to: anyone',
    'per: address',
    'rate limits:service',
    /apart|alone|not earlier/,
  ],
  [
    'what is counted together is counted apart',
    `per: "caller.user + ' ' + operation"`,
    'per: caller',
    'rate limits:service',
    /together/,
  ],
  [
    'what is counted for some is counted for all',
    `if: "has(caller.user) && caller.user == 'guest'", `,
    '',
    'rate limits:service',
    /alone/,
  ],
  ['what is not there counts', ', uncounted: [304, 4XX]', ', uncounted: [304]', 'rate limits:service', /uncounted 404/],
  ['what has not changed counts', ', uncounted: [304, 4XX]', ', uncounted: [4XX]', 'rate limits:service', /uncounted 304/],
  ['a quota is of each caller', 'quota: [{ per: caller.user', 'quota: [{ per: caller', 'quotas:service', /together/],
];

servedOtherwise(maps, mapRows);

test('a service that counts whom and what it says is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(maps, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const held = facts.filter(({ kind }) => kind === 'rate limits' || kind === 'quotas').map(({ verdict }) => verdict);
    assert.deepEqual(held, ['held', 'held']);
  } finally {
    await stand.close();
  }
});

const hookRows: readonly Otherwise[] = [
  ['there may be one more', 'while: next.is_on, limit: 3', 'while: next.is_on, limit: 4', 'quotas:rows of hook', /kept/],
  ['there may be any number', '    - { of: folder, limit: 4 }\n', '', 'quotas:rows of folder', /kept/],
  ['callers are counted together', 'of: hook, per: caller.id', 'of: hook', 'quotas:rows of hook', /apart/],
];

servedOtherwise(hooks, hookRows);

test('a service that allows a few rows is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(hooks, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const held = facts.filter(({ subject }) => subject.startsWith('rows of ')).map(({ verdict }) => verdict);
    assert.deepEqual(held, ['held', 'held']);
  } finally {
    await stand.close();
  }
});

const counterRows: readonly Otherwise[] = [
  ['there may be one more', 'on: [create parcel], limit: 3', 'on: [create parcel], limit: 4', 'rate limits:at once', /kept/],
  ['there may be fewer', 'on: [create parcel], limit: 3', 'on: [create parcel], limit: 2', 'rate limits:at once', /kept/],
  [
    'any number may be under way',
    '  at_once: { per: caller, on: [create parcel], limit: 3 }\n',
    '',
    'rate limits:at once',
    /kept/,
  ],
];

servedOtherwise(
  counters,
  oneOfEach(counterRows, ([, , , breaks]) => breaks),
);

test('a service that takes a few requests at once is found without a fault', { skip: !isLong }, async () => {
  const stand = await openStand(counters, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    assert.equal(facts.find(({ subject }) => subject === 'at once')?.verdict, 'held');
  } finally {
    await stand.close();
  }
});

test('a service that tells what exactly was wrong is found without a fault, and each way of it is held', {
  skip: !isLong,
}, async () => {
  const stand = await openStand(orders, {
    inPairs: true,
    async besides({ administer }) {
      const add = async (input: { readonly scopes?: string[]; readonly expiresMs?: number }) =>
        ((await administer('keys add', { user: 'customer', id: 'besides', ...input })) as { readonly secret: string }).secret;
      return [
        { user: 'customer', scopes: [], credential: await add({ scopes: [] }) },
        { user: 'customer', bad: 'expired', credential: await add({ expiresMs: 1 }) },
      ];
    },
  });
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(breaches, []);
    const left = facts.filter(
      ({ kind, standing, verdict }) => kind === 'conditions' && standing === 'stated' && verdict !== 'held',
    );
    assert.deepEqual(
      left.map(({ subject }) => subject),
      [],
    );
  } finally {
    await stand.close();
  }
});
