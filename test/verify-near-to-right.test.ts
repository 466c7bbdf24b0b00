import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Wares on shelves, of which a format is open; the clock ends them, and one user is shown a part of each. */
const document = `
title: Wares
purpose:
  purpose: Keeps wares.
  base_url: https://wares.example
  users: { keeper: Keeps wares., auditor: Looks at them. }
  functions: { keep: [create shelf, create ware, read ware, list ware, update ware, sell ware] }
resources:
  shelf:
    identifier: { field: id, generate: uuid }
    fields: { id: string, name: { type: string, maxLength: 20 }, shut: { type: boolean, default: false } }
    required: [id, name, shut]
  ware:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      shelf: { ref: shelf, immutable: true }
      spare: { ref: shelf }
      number: { type: integer, readOnly: true, generate: integer, within: shelf }
      label: { type: string, minLength: 1, maxLength: 20 }
      price: { type: integer, minimum: 1, maximum: 90000 }
      fragile: { type: boolean, default: false }
      made_on: { type: string, format: !open "a day, or a year as well?" }
      state: { type: string, readOnly: true }
      offer: { type: integer, readOnly: true, set: { sell: request.offer } }
      ended_at: { type: string, format: date-time, readOnly: true, set: { expire: now } }
      why: { type: string, readOnly: true, set: { expire: "'too old'" } }
    required: [id, shelf, number, label, price, fragile, state]
states:
  shelf: none
  ware:
    field: state
    initial: fresh
    states: [fresh, sold, gone]
    transitions: { sell: fresh -> sold, expire: { from: fresh, to: gone, after: 2h } }
endpoints:
  POST /shelves: { does: create shelf }
  GET /shelves/{id}: { does: read shelf }
  POST /wares: { does: create ware, idempotency: { header: Once } }
  GET /wares:
    does: list ware
    order: price
    parameters: { states: { in: query, type: string, filters: state, split: "," } }
  GET /wares/{id}: { does: read ware }
  PATCH /wares/{id}: { does: update ware }
  POST /wares/{id}/sell:
    does: sell ware
    request: { type: object, properties: { offer: { type: integer, minimum: 10, maximum: 90000 } }, required: [offer], additionalProperties: false }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:24}", placeholder: "{key}" } }
  permissions:
    - { allow: [create shelf, read shelf, create ware, read ware, list ware, update ware, sell ware], to: keeper }
    - { allow: [read ware, list ware], to: auditor, fields: [label, state] }
errors:
  payload: problem
  codes:
    unknown: { status: 401, when: caller.unknown }
    denied: { status: 403, when: caller.forbidden }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    dangling: { status: 422, when: reference.missing }
    method: { status: 405, when: method.unsupported }
    unreadable: { status: 400, when: [request.malformed, request.parameter, limit.page] }
    media: { status: 415, when: request.media }
    accept: { status: 406, when: request.accept }
    invalid: { status: 422, when: request.invalid }
    reused: { status: 422, when: idempotency.reused }
    state: { status: 409, when: transition.illegal.state }
    size: { status: 413, when: limit.size }
    shut: { status: 409, on: [create ware, update ware], if: "has(next.spare) && next.spare.shut" }
    broken: { status: 500, when: internal }
    down: { status: 503, when: service.unavailable }
    late: { status: 503, when: limit.time }
events: none
limits: { rate: none, pagination: { style: cursor, cursor: from, size: count, default: 50, max: 100, over_max: clamp, items: rows, next: onward, told: body } }
versioning: none
`;

const served = (from: string, to: string): StandOptions => {
  assert.ok(document.includes(from), from);
  return { served: document.replace(from, to) };
};

/** Numbers that go on with each creation that is refused for its body. */
function skipping(): NonNullable<StandOptions['spoil']> {
  let refused = 0;
  return ({ method, target, status, text }) => {
    if (method === 'POST' && target === '/wares' && status === 422) refused += 1;
    return { text: text.replace(/"number":(\d+)/, (_all, number) => `"number":${Number(number) + refused}`) };
  };
}

/** What is not as stated, the fact that says so, and the trials that see it. */
const faults: readonly (readonly [
  what: string,
  fact: readonly [kind: string, subject: string],
  only: readonly string[],
  StandOptions,
])[] = [
  [
    'a bound is another one, of a row of which a format is open',
    ['allowed values', 'ware.price'],
    ['endpoints/bodies'],
    served('maximum: 90000 }\n      fragile', 'maximum: 99000 }\n      fragile'),
  ],
  [
    'the clock sets no time',
    ['allowed values', 'ware.ended_at'],
    ['states/timed'],
    served('readOnly: true, set: { expire: now }', 'readOnly: true'),
  ],
  [
    'the clock sets another word',
    ['allowed values', 'ware.why'],
    ['states/timed'],
    served(`set: { expire: "'too old'" }`, `set: { expire: "'unsold'" }`),
  ],
  [
    'a rule shows more than its fields',
    ['permission rules', 'list ware'],
    ['resources/shown to'],
    served('fields: [label, state]', 'fields: [label, state, price]'),
  ],
  [
    'what is sent with a transition is rounded',
    ['allowed values', 'ware.offer'],
    ['endpoints/bodies'],
    served('set: { sell: request.offer }', 'set: { sell: "request.offer - request.offer % 10" }'),
  ],
  [
    'a number is taken for a text',
    ['types', 'ware.label'],
    ['endpoints/bodies'],
    { bend: ({ text }) => ({ text: text.replace('"label":12345', '"label":"12345"') }) },
  ],
  [
    'the text of yes is taken for yes',
    ['types', 'ware.fragile'],
    ['endpoints/bodies'],
    { bend: ({ text }) => ({ text: text.replace('"fragile":"true"', '"fragile":true') }) },
  ],
  [
    'who makes a row says in which state it begins',
    ['allowed values', 'ware.state'],
    ['resources/stored'],
    { spoil: ({ sent, text }) => (sent.includes('"state":"') ? { text: text.replace('"fresh"', '"gone"') } : {}) },
  ],
  [
    'a reference to nothing is told as what the path names',
    ['conditions', 'dangling'],
    ['resources/references'],
    {
      spoil: ({ text }) =>
        text.includes('"dangling"') ? { status: 404, text: text.replace('"dangling"', '"missing"').replace('422', '404') } : {},
    },
  ],
  [
    'of rows that are alike the newest comes first',
    ['response payload shapes', 'GET /wares'],
    ['endpoints/lists'],
    served('order: price', 'order: price\n    ties: newest'),
  ],
  [
    'a key is not looked at',
    ['parameters', 'POST /wares'],
    ['endpoints/idempotency'],
    { bend: ({ headers }) => ({ headers: Object.fromEntries(Object.entries(headers).filter(([name]) => name !== 'once')) }) },
  ],
  ['a refusal uses up a number', ['allowed values', 'ware.number'], ['resources/counted'], { spoil: skipping() }],
  [
    'the first of several states alone is looked for',
    ['parameters', 'GET /wares'],
    ['endpoints/lists'],
    { bend: ({ target }) => ({ target: target.replace(/(states=[a-z]+)(?:,|%2C)[a-z,%C2]+/, '$1') }) },
  ],
  [
    'a change may refer to what a creation may not',
    ['conditions', 'shut'],
    ['errors/own'],
    served('on: [create ware, update ware], if', 'on: [create ware], if'),
  ],
  [
    'an operation is not there yet',
    ['functions', 'service'],
    ['purpose/functions'],
    { spoil: ({ target }) => (target.endsWith('/sell') ? { status: 501, text: '' } : {}) },
  ],
];

test('nothing is found where all is as stated', async () => {
  const right = await openStand(document, { inPairs: true });
  try {
    const { breaches } = await right.verify({ only: [...new Set(faults.flatMap(([, , only]) => only))], timeMs: 600_000 });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason}: ${seen}`),
      [],
    );
  } finally {
    await right.close();
  }
});

for (const [what, [kind, subject], only, stand] of faults)
  test(`it is found where ${what}`, async () => {
    const opened = await openStand(document, { inPairs: true, ...stand });
    try {
      const { breaches } = await opened.verify({ only: [...only], timeMs: 600_000 });
      const told = breaches.map((breach) => `${breach.kind}:${breach.subject}`);
      assert.ok(told.includes(`${kind}:${subject}`), told.join(', '));
    } finally {
      await opened.close();
    }
  });

test('the place of what is wrong is looked at where refusals tell a list of violations', async () => {
  const listed = document.replace(
    'payload: problem',
    'paths: dotted\n  payload: { shape: { type: object, properties: { code: { type: [string, "null"] }, at: { type: array, items: { type: object } } }, required: [code] }, data: { code: code, at: violations } }',
  );
  const reasons = async (stand: StandOptions) => {
    const opened = await openStand(listed, { inPairs: true, ...stand });
    try {
      const { breaches } = await opened.verify({ only: ['errors/written places'], timeMs: 600_000 });
      return [...new Set(breaches.map(({ reason }) => reason))];
    } finally {
      await opened.close();
    }
  };
  assert.deepEqual(await reasons({}), []);
  const slashed = await reasons({ spoil: ({ text }) => ({ text: text.replace(/"path":"(\w)/g, '"path":"/$1') }) });
  assert.deepEqual(slashed, ['its place']);
});
