import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** Presses that are booked and matrices that are lent: bills come of work and name no booking, loans end by the clock, and few bookings are made in an hour. */
const presses = `
title: Presses
purpose: { purpose: Lets presses and lends matrices., users: { printer: Prints., founder: Keeps the shop., customer: Looks. } }
resources:
  booking:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      printer: { type: string, readOnly: true, set: { create: caller.id } }
      starts_at: { type: string, format: date-time }
      hours: { type: integer, minimum: 1, maximum: 10 }
      cost: { type: integer, readOnly: true, set: { create: next.hours * 15 } }
      status: { type: string, readOnly: true }
    required: [id, printer, starts_at, hours, cost, status]
  invoice:
    identifier: { field: number, generate: integer }
    fields:
      number: integer
      payer: { type: string, readOnly: true }
      amount: { type: integer, readOnly: true }
    required: [number, payer, amount]
  matrix:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      face: { type: string, minLength: 2, maxLength: 30 }
      borrower: { type: string, readOnly: true, set: { lend: caller.id } }
      status: { type: string, readOnly: true }
    required: [id, face, status]
  hook:
    identifier: { field: id, generate: uuid }
    fields: { id: string, owner: { type: string, readOnly: true, set: { create: caller.id } }, url: { type: string, format: uri }, kinds: { type: array, items: string }, active: { type: boolean, default: true } }
    required: [id, owner, url, kinds, active]
states:
  invoice: none
  hook: none
  booking: { field: status, initial: held, states: [held, worked], transitions: { work: { from: held, to: worked, then: { create: invoice, set: { payer: next.printer, amount: next.cost } } } } }
  matrix:
    field: status
    initial: shelved
    states: [shelved, lent, overdue]
    transitions: { lend: shelved -> lent, take_back: { from: [lent, overdue], to: shelved }, fall_due: { from: lent, to: overdue, after: 21d } }
endpoints:
  POST /bookings: { does: create booking }
  GET /bookings/{id}: { does: read booking }
  POST /bookings/{id}/work: { does: work booking }
  GET /invoices: { does: list invoice }
  POST /matrices: { does: create matrix }
  GET /matrices: { does: list matrix }
  GET /matrices/{id}: { does: read matrix, etag: strong }
  PATCH /matrices/{id}: { does: update matrix, in: [shelved], if_match: required }
  POST /matrices/{id}/lend: { does: lend matrix }
  POST /matrices/{id}/take-back: { does: take_back matrix }
  POST /hooks: { does: create hook }
  DELETE /hooks/{id}: { does: delete hook }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create booking], to: printer }
    - { allow: [read booking], to: [printer, founder] }
    - { allow: [work booking, list invoice], to: founder }
    - { allow: [list invoice], to: printer, if: resource.payer == caller.id }
    - { allow: [create matrix, update matrix, take_back matrix], to: founder }
    - { allow: [lend matrix], to: [printer, founder] }
    - { allow: [list matrix, read matrix], to: [printer, founder] }
    - { allow: [list matrix, read matrix], to: customer, fields: [id, face, status] }
    - { allow: [create hook, delete hook], to: [printer, founder, customer] }
events:
  delivery:
    webhook:
      signature: none
      retry: [10s, 2m, 1h]
      timeout: 5s
      disable_after: 3d
      subscribers: { resource: hook, url: url, events: kinds, enabled: active }
    envelope: { id: event.id, kind: event.kind, about: event.payload }
  kinds:
    matrix.overdue: { on: [fall_due matrix], payload: matrix }
    matrix.made: { on: [create matrix], payload: matrix }
    matrix.lent: { on: [lend matrix], payload: matrix }
errors:
  order: [caller, user, body, parameters, row, precondition, request, state]
  payload: problem
  codes:
    wrong: { status: 422, when: [request.invalid, request.parameter] }
    unreadable: { status: 400, when: request.malformed }
    missing: { status: 404, when: resource.missing }
    no_path: { status: 404, when: route.unknown }
    nobody: { status: 401, when: caller.unknown }
    denied: { status: 403, when: caller.forbidden }
    not_now: { status: 409, when: transition.illegal }
    stale: { status: 412, when: precondition.failed }
    which: { status: 428, when: precondition.required }
    slower: { status: 429, when: limit.rate }
limits:
  rate:
    - { per: address, limit: 2000, window: 1m }
    - { per: caller, on: [lend matrix], limit: 10, window: 10m }
    - { per: caller, on: [create booking], limit: 12, window: 1h, kind: bucket }
  quota: none
  size: none
  pagination: { style: none }
versioning: { versions: none }
`;

const base: StandOptions = { inPairs: true, serve: { allowPrivateWebhooks: true } };

/** What is told of a service over another document, or behind a bend; nothing is of the one that is right. */
async function told(only: string, options: StandOptions): Promise<string[]> {
  const [right, wrong] = [await openStand(presses, base), await openStand(presses, { ...base, ...options })];
  try {
    assert.deepEqual((await right.verify({ only: [only] })).breaches, []);
    const { breaches } = await wrong.verify({ only: [only] });
    return [...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))].sort();
  } finally {
    await right.close();
    await wrong.close();
  }
}

const served = (from: string, to: string): StandOptions => {
  assert.ok(presses.includes(from), from);
  return { served: presses.replace(from, to) };
};

test('what is made along with a change, and names nothing of it, is known by what it was told', async () => {
  const lax = served(', to: printer, if: resource.payer == caller.id }', ', to: printer }');
  assert.deepEqual(await told('authentication/lists', lax), ['permission rules, list invoice']);
});

test('a slash at the end of a list below which rows stand is no path either', async () => {
  const bend: StandOptions['bend'] = ({ target }) => (target === '/matrices/' ? { target: '/matrices' } : {});
  assert.deepEqual(await told('endpoints/routes', { bend }), ['path shapes, service']);
});

test('a tag is compared before the state is looked at, also where a row is changed in some states alone', async () => {
  const other = served(
    'order: [caller, user, body, parameters, row, precondition, request, state]',
    'order: [caller, user, body, parameters, row, state, precondition, request]',
  );
  assert.deepEqual(await told('errors/order', other), ['conditions, order']);
});

test('a time that has begun anew forgets the one before', async () => {
  // A loan that is the second of its matrix ends with the first.
  const kept =
    'due: { type: string, format: date-time, readOnly: true, visible: [], set: { lend: "has(resource.due) ? resource.due : plus(now, \'P21D\')" } }';
  const other = presses
    .replace('after: 21d', 'at: "has(resource.due) ? resource.due : null"')
    .replace('borrower: { type', `${kept}\n      borrower: { type`);
  assert.deepEqual(await told('states/timed', { served: other }), ['transitions, matrix']);
});

test('each further try waits for its time', async () => {
  assert.deepEqual(await told('events/tries', served('retry: [10s, 2m, 1h]', 'retry: [10s, 10s, 1h]')), [
    'delivery mechanism, service',
  ]);
});

test('what a rule leaves out of a row is left out of what the clock tells of it', async () => {
  assert.deepEqual(
    await told('events/by the clock', served(', to: customer, fields: [id, face, status] }', ', to: customer }')),
    ['payload shapes, matrix.overdue'],
  );
});

test('a rate of each caller is told from one of all where another has far more room', async () => {
  const other = served(
    '{ per: caller, on: [lend matrix], limit: 10, window: 10m }',
    '{ per: everyone, on: [lend matrix], limit: 10, window: 10m }',
  );
  assert.deepEqual(await told('limits/rates', other), ['rate limits, service']);
});

test('what a rate lets through in an hour is waited for where the clock is moved', async () => {
  const stand = await openStand(presses, base);
  try {
    const { facts } = await stand.verify({ only: ['endpoints/bodies'] });
    const { verdict, why } = facts.find(({ kind, subject }) => kind === 'formats' && subject === 'booking.starts_at') ?? {};
    assert.equal(verdict, 'held', why);
  } finally {
    await stand.close();
  }
});

test('a time against now is looked at close to where it turns', async () => {
  const within = (span: string) =>
    presses.replace(
      '  codes:\n',
      `  codes:\n    too_soon: { status: 422, on: [create booking], if: "timestamp(next.starts_at) < now + duration('${span}')" }\n`,
    );
  const stand = await openStand(within('24h'), { ...base, served: within('23h') });
  try {
    const { breaches } = await stand.verify({ only: ['errors/own'] });
    assert.deepEqual([...new Set(breaches.map(({ kind, subject }) => `${kind}, ${subject}`))], ['conditions, too_soon']);
  } finally {
    await stand.close();
  }
});
