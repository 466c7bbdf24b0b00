import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand, type StandOptions } from './verify/stand.ts';

/** A school of lace: what two services of others had wrong, and no look came to. */
const lace = `title: Lace
purpose: { purpose: Runs a school., base_url: "https://lace.example", users: { mistress: Teaches., pupil: Works. } }
resources:
  order:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      length: { type: integer, minimum: 1, maximum: 900 }
      measure: measure
      note: { type: string, maxLength: 40 }
      gift: boolean
      stage: { type: string, readOnly: true }
    required: [id, length, stage]
  measure:
    identifier: none
    fields: { width: { type: integer, minimum: 1, maximum: 90 } }
    required: [width]
  piece:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      order: { ref: order, immutable: true, onDelete: restrict }
      seq: { type: integer, readOnly: true, generate: integer, within: order }
      made_at: { type: string, format: date-time, readOnly: true, set: { create: now } }
      step: { type: string, readOnly: true }
    required: [id, order, seq, made_at, step]
  entry:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      title: { type: string, minLength: 2, maxLength: 40 }
      points: { type: integer, minimum: 0, maximum: 100, writable: [mistress] }
    required: [id, title]
  fair:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      opens_at: { type: string, format: date-time, readOnly: true, set: { create: "now + duration('48h')" } }
      phase: { type: string, readOnly: true }
    required: [id, opens_at, phase]
states:
  order: { field: stage, initial: asked, states: [asked, accepted], transitions: { accept: asked -> accepted } }
  piece:
    field: step
    initial: pinned
    states: [pinned, worked, spoilt]
    transitions: { work: pinned -> worked, spoil: { from: worked, to: spoilt, after: 7d } }
  entry: none
  fair:
    field: phase
    initial: announced
    states: [announced, open, closed]
    transitions:
      open_doors: { from: announced, to: open, at: resource.opens_at }
      close_doors: { from: open, to: closed, after: 3d }
endpoints:
  POST /orders: { does: create order }
  GET /orders/{id}: { does: read order }
  POST /orders/{id}/accept: { does: accept order }
  POST /orders/{order}/pieces: { does: create piece }
  GET /pieces/{id}: { does: read piece }
  POST /pieces/{id}/work: { does: work piece }
  POST /entries: { does: create entry }
  GET /entries: { does: list entry }
  GET /entries/{id}: { does: read entry }
  PATCH /entries/{id}: { does: update entry }
  POST /fairs: { does: create fair }
  GET /fairs/{id}: { does: read fair }
authentication:
  schemes: { gate: { type: basic_key, generate: "gate_{random:24}" } }
  permissions:
    - { allow: [create order, read order, accept order, create fair, read fair, read entry, list entry, update entry], to: mistress }
    - { allow: [read order], to: pupil, if: "resource.stage == 'accepted'" }
    - { allow: [create piece, read piece, work piece, create entry, read entry, list entry], to: pupil }
events: none
errors:
  order: [caller, user, accept, parameters, body, row, precondition, request, state]
  paths: dotted
  payload:
    shape: { type: object, properties: { code: { type: string }, spots: { type: array } }, required: [code] }
    data: { code: code, spots: violations }
  codes:
    unfit: { status: 422, when: request.invalid }
    broken: { status: 400, when: [request.malformed, request.parameter] }
    missing: { status: 404, when: [resource.missing, route.unknown] }
    not_yours: { status: 403, when: caller.forbidden }
    nobody: { status: 401, when: caller.unknown }
    wrong_state: { status: 409, when: transition.illegal }
    not_read: { status: 415, when: request.media }
    not_given: { status: 406, when: request.accept }
    no_way: { status: 405, when: method.unsupported }
    no_row: { status: 422, when: reference.missing }
    busy: { status: 409, when: write.conflict }
    slow: { status: 408, when: limit.time }
    no_edition: { status: 400, when: version.unknown }
    shut: { status: 503, when: service.unavailable }
    large: { status: 413, when: limit.size }
    snapped: { status: 500, when: internal }
    twin: { status: 409, when: [resource.exists, reference.held] }
limits: { rate: none, quota: none }
versioning:
  versions: { ed1: {}, ed2: { current: true } }
  select: { header: Edition, default: current }
  changes:
    ed1: none
    ed2: [{ map: entry.points, was: { type: number, minimum: 0, maximum: 10 }, down: "double(value) / 10.0", up: "int(round(value * 10.0))" }]
`;

const reasonsOf = async (only: string, options: StandOptions = {}, seed = 1): Promise<string[]> => {
  const stand = await openStand(lace, options);
  try {
    const { breaches } = await stand.verify({ only: [only], seed });
    return [...new Set(breaches.map(({ kind, subject, reason }) => `${kind}: ${subject}, ${reason}`))];
  } finally {
    await stand.close();
  }
};

/** The right service is told of nothing, and another one of what it does otherwise. */
const isSeen = async (only: string, fault: StandOptions, told: readonly string[]): Promise<void> => {
  assert.deepEqual(await reasonsOf(only), []);
  assert.deepEqual(await reasonsOf(only, fault), told);
};
const otherwise = (what: string, instead: string): StandOptions => {
  assert.ok(lace.includes(what));
  return { served: lace.replace(what, instead) };
};

test('a value that may be left out is sent with a member that is not stated', async () => {
  const fault = otherwise('identifier: none\n', 'identifier: none\n    additionalProperties: true\n');
  await isSeen('resources/fixed', fault, [
    'allowed values: order.measure, shown',
    'field names: measure, shown',
    'field names: measure, unstated refused',
  ]);
});

test('what is counted within a row is made below one that takes it', async () => {
  const fault = otherwise('generate: integer, within: order', 'generate: integer');
  await isSeen('resources/counted', fault, ['allowed values: piece.seq, counted, anew']);
});

test('what the clock does to a row that it brought there itself is waited for', async () => {
  const fault = otherwise('to: closed, after: 3d', 'to: closed, after: 300d');
  await isSeen('states/timed', fault, ['transitions: fair, close_doors in time']);
});

test('the time of a state counts from when it was entered, however old the row is', async () => {
  const fault = otherwise('to: spoilt, after: 7d', 'to: spoilt, at: "resource.made_at + duration(\'168h\')"');
  await isSeen('states/timed', fault, ['transitions: piece, spoil, entered later by work']);
});

test('what others alone write is read in older versions with a value', async () => {
  const fault = otherwise('down: "double(value) / 10.0"', 'down: "double(value)"');
  await isSeen('versioning/shapes', fault, ['version identifiers: service, entry is read']);
});

test('a key with a password behind it is none', async () => {
  const bend: StandOptions['bend'] = ({ headers }) => {
    const [, text = ''] = /^Basic (.*)$/.exec(String(headers.authorization ?? '')) ?? [];
    const [name = ''] = Buffer.from(text, 'base64').toString().split(':');
    return text === '' ? {} : { headers: { ...headers, authorization: `Basic ${btoa(`${name}:`)}` } };
  };
  await isSeen('authentication/who is calling', { bend }, ['schemes: service, gate: a password stands behind it']);
});

test('what is wrong in a body is told where the payload has its violations', async () => {
  await isSeen('errors/written places', otherwise(', spots: violations }', ' }'), ['error payload shapes: service, its place']);
});
