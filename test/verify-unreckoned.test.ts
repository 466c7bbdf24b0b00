import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import type { TrialExchange } from '../src/verify/exchange/exchange.ts';
import { membersSent } from '../src/verify/make/fields-sent.ts';
import { Model } from '../src/verify/model/model.ts';
import { isTokenOver } from '../src/verify/session/session.ts';
import { isHandedOn } from '../src/verify/trials/endpoints/members-begun.ts';
import { openStand } from './verify/stand.ts';

const jobs = `title: Jobs
resources:
  person: { identifier: { field: login, generate: client }, fields: { login: { type: string, pattern: "^[a-z]{3,9}$" } }, required: [login] }
  job:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      words: { type: array, items: { type: string, maxLength: 20 }, maxItems: 5, default: [] }
      names: { type: array, items: { type: string, maxLength: 20 }, maxItems: 5, default: [] }
    required: [id, words, names]
    created:
      then: { create: turn, each: next.names, set: { job: next.id, person: item } }
  turn:
    identifier: { field: id, generate: uuid }
    fields: { id: string, job: { ref: job, onDelete: cascade }, person: { ref: person, onDelete: restrict } }
    required: [id, job, person]
states: { person: none, job: none, turn: none }
endpoints:
  POST /people: { does: create person }
  POST /jobs: { does: create job }
authentication: none
`;

test('words by which what follows refers to rows are not every word of their shape', () => {
  const model = new Model(check(parseDocument(jobs, 'jobs.yaml')).spec, [], '');
  const [endpoint] = model.endpointsThat('create', 'job');
  assert.ok(endpoint);
  const handedOn = membersSent(model, endpoint, undefined)
    .filter((member) => isHandedOn(model, endpoint, member))
    .map(({ path }) => path.join('.'));
  assert.deepEqual(handedOn, ['names', 'names.0']);
});

test('a token that was over when it was sent says nothing of what was asked with it', () => {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const value = `Bearer ${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ sub: 'ada', exp: 1_000 })}.c2lnbmVk`;
  const credential = { value, carrier: 'authorization', scheme: { prefix: 'Bearer ' } };
  // Nothing else of an exchange is read.
  const sentAt = (fromMs: number, bad?: string) => ({ fromMs, caller: { credential, bad } }) as unknown as TrialExchange;
  assert.deepEqual([sentAt(999_999), sentAt(1_000_000), sentAt(2_000_000, 'expired')].map(isTokenOver), [false, true, false]);
});

/** A note is of one form or of another; `lock` is an update of its own, which changes nothing a second time. */
const notes = `title: Notes
resources:
  mail: { identifier: none, fields: { by: { const: mail }, to: { type: string, maxLength: 8 } }, required: [by, to] }
  call: { identifier: none, fields: { by: { const: call }, ring: { type: integer, minimum: 1, maximum: 9 } }, required: [by, ring] }
  way: { shape: { oneOf: [mail, call] } }
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      way: way
      tags: { type: array, items: { type: string, maxLength: 9 }, writeOnly: true, default: [] }
      locked: { type: boolean, readOnly: true, set: { create: "false", lock note: "true" } }
      touched: { type: string, format: date-time, readOnly: true, set: { write: now } }
    required: [id, way, locked, touched]
states: { note: none }
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
  PUT /notes/{id}/lock: { does: update note, as: lock note, body: optional, request: { type: object, properties: { why: { enum: [old, rude] } } }, response: { 204: {} } }
authentication: none
events: none
errors: { payload: problem, codes: { wrong: { status: 422, when: request.invalid }, missing: { status: 404, when: resource.missing } } }
limits: none
versioning: none
`;

test('alternatives are patched in rows that have them, and what changes nothing keeps its time', async () => {
  const stand = await openStand(notes);
  try {
    const { breaches } = await stand.verify({ only: ['endpoints/bodies', 'states/sequences', 'resources/changed'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, promised, seen }) => `${kind}:${subject} ${reason}: ${promised}, ${seen}`),
      [],
    );
  } finally {
    await stand.close();
  }
});
