import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** What two services had wrong and was held all the same: times that were set since, states before bodies, words of another case, one collection without the base address. */
const document = `title: Kiln
purpose: { purpose: Fires pots., base_url: "https://kiln.example/yard", users: { potter: Has pots. } }
resources:
  pot:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      due: { type: string, format: date-time }
      promised: { type: string, format: date-time, visible: none, set: { create: next.due } }
      stage: { type: string, readOnly: true }
    required: [id, due, stage]
  shard:
    identifier: { field: id, generate: uuid }
    fields: { id: string, weight: { type: integer, minimum: 1, maximum: 900000 }, size: { type: string, readOnly: true, set: { create: "next.weight >= 4800 ? 'large' : 'small'" } } }
    required: [id, weight, size]
states:
  shard: none
  pot:
    field: stage
    initial: wet
    states: [wet, dry, late, sold]
    transitions:
      turn: wet -> dry
      sell: dry -> sold
      miss: { from: dry, to: late, at: resource.due }
endpoints:
  POST /pots: { does: create pot }
  GET /pots/{id}: { does: read pot }
  PATCH /pots/{id}: { does: update pot, in: [wet] }
  POST /pots/{id}/turn: { does: turn pot }
  POST /pots/{id}/sell: { does: sell pot, request: { type: object, properties: { pence: { type: integer, minimum: 1 } }, required: [pence] } }
  GET /pots: { does: list pot, pagination: { style: none } }
  GET /shards: { does: list shard, pagination: { style: none } }
  POST /shards: { does: create shard }
authentication:
  schemes: { mark: { type: api_key, header: Authorization, prefix: Mark, generate: "mark_{random:24}" } }
  permissions: [{ allow: [all pot, all shard], to: potter }]
events: none
errors:
  order: [caller, user, accept, parameters, body, row, precondition, request, state]
  payload: problem
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    wrong_state: { status: 409, when: transition.illegal }
limits: { rate: none, quota: none }
versioning: { versions: none }
`;

const reasonsOf = async (
  only: string,
  { given = document, ...options }: StandOptions & { given?: string } = {},
): Promise<string[]> => {
  const stand = await openStand(given, options);
  try {
    const { breaches } = await stand.verify({ only: [only] });
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`))];
  } finally {
    await stand.close();
  }
};

test('what is due at a time of the row comes at the time that was set last', async () => {
  assert.deepEqual(await reasonsOf('states/timed'), []);
  const served = document.replace('at: resource.due', 'at: "has(resource.promised) ? resource.promised : null"');
  assert.deepEqual(await reasonsOf('states/timed', { served }), ['transitions: pot, miss, put off by PATCH /pots/{id}']);
});

/** A pot whose time its turning sets, and which is stretched to a later one. */
const stretched = document
  .replace(
    'due: { type: string, format: date-time }',
    `due: { type: string, format: date-time, readOnly: true, set: { turn: "now + duration('48h')", stretch: request.until } }`,
  )
  .replace('set: { create: next.due } }', 'set: { turn: now } }')
  .replace('required: [id, due, stage]', 'required: [id, stage]')
  .replace('at: resource.due', 'at: "has(resource.due) ? resource.due : null"')
  .replace(
    'sell: dry -> sold',
    'sell: dry -> sold\n      stretch: { from: dry, to: dry, if: "has(resource.due) && request.until > resource.due" }',
  )
  .replace('  PATCH /pots/{id}: { does: update pot, in: [wet] }\n', '')
  .replace(
    '  GET /pots: {',
    '  POST /pots/{id}/stretch: { does: stretch pot, request: { type: object, properties: { until: { type: string, format: date-time } }, required: [until] } }\n  GET /pots: {',
  );

test('what is sent as the row has it tells more from at least as much', async () => {
  assert.deepEqual(await reasonsOf('states/sent edges', { given: stretched }), []);
  const served = stretched.replace('request.until > resource.due', 'request.until >= resource.due');
  assert.deepEqual(await reasonsOf('states/sent edges', { given: stretched, served }), [
    'transitions: pot, stretch, until as due',
  ]);
});

test('a body is looked at before the state, where the order says so', async () => {
  assert.deepEqual(await reasonsOf('errors/order'), []);
  const served = document.replace('precondition, request, state]', 'precondition, state, request]');
  assert.deepEqual(await reasonsOf('errors/order', { served }), [
    'conditions: order, request before state at POST /pots/{id}/sell',
    'conditions: order, request before state at PATCH /pots/{id}',
  ]);
});

test('the word before a credential is read in any case of letters', async () => {
  assert.deepEqual(await reasonsOf('authentication/who is calling'), []);
  const bend: StandOptions['bend'] = ({ headers }) =>
    String(headers.authorization ?? '').startsWith('mark ') ? { headers: { ...headers, authorization: 'Mark nobody' } } : {};
  assert.deepEqual(await reasonsOf('authentication/who is calling', { bend }), ['header names: mark, its word in another case']);
});

test('no collection is served without the path of the base address', async () => {
  assert.deepEqual(await reasonsOf('purpose/base address'), []);
  const bend: StandOptions['bend'] = ({ target }) => (target.startsWith('/shards') ? { target: `/yard${target}` } : {});
  assert.deepEqual(await reasonsOf('purpose/base address', { bend }), ['base address: service, nowhere else']);
});

test('what a row is given is looked at where it turns', async () => {
  assert.deepEqual(await reasonsOf('resources/stored'), []);
  const served = document.replace('next.weight >= 4800', 'next.weight > 4800');
  const told = await reasonsOf('resources/stored', { served });
  assert.deepEqual(told, ['allowed values: shard.size, answered, set', 'allowed values: shard.size, stored, set']);
});

test('a text that is nearly of a format is refused in whatever way it is wrong', async () => {
  const lax = 'due: { type: string, pattern: "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|31)T[0-9:.]{8,16}(Z)?$" }';
  const served = document
    .replace('due: { type: string, format: date-time }', lax)
    .replace('format: date-time, visible: none, set: { create: next.due }', 'visible: none')
    .replace('at: resource.due', 'after: 900d');
  const reasons = await reasonsOf('formats', { served });
  assert.ok(
    reasons.some((reason) => reason.startsWith('formats: pot.due')),
    `${reasons}`,
  );
});

for (const [word, how] of [
  ['Bearer ', 'another word'],
  ['', 'none'],
] as const)
  test(`a credential behind ${how} than its own is none`, async () => {
    assert.deepEqual(await reasonsOf('header names'), []);
    const bend: StandOptions['bend'] = ({ headers }) => {
      const { authorization } = headers;
      const isSo = typeof authorization === 'string' && authorization.startsWith(`${word}mark_`);
      return isSo ? { headers: { ...headers, authorization: `Mark ${authorization.slice(word.length)}` } } : {};
    };
    const [reason, ...others] = await reasonsOf('header names', { bend });
    assert.deepEqual(others, []);
    assert.match(reason ?? '', word === '' ? /in Authorization without its word/ : /in Authorization under the word Bearer/);
  });
