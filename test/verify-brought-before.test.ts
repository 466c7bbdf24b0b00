import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openStand, type Stand } from './verify/stand.ts';

/** Heats that neighbours see once they are announced, start when it is time, and whose entries depend on what sort of heat it is. */
const regatta = `title: Regatta
purpose: { purpose: Rows heats., users: { steward: Runs heats., guest: Watches them. } }
resources:
  heat:
    identifier: { field: id, generate: "heat_{ulid}" }
    fields:
      id: string
      by: { type: string, readOnly: true, set: { create: caller.user } }
      sort: { enum: [open, asked], default: open }
      starts_at: { type: string, format: date-time }
      phase: { type: string, readOnly: true }
    required: [id, by, sort, starts_at, phase]
  entry:
    identifier: { field: id, generate: "entry_{ulid}" }
    fields:
      id: string
      heat: { ref: heat, immutable: true, onDelete: cascade }
      crew: { type: string, minLength: 1, maxLength: 30 }
      verdict: { type: string, readOnly: true }
    required: [id, heat, crew, verdict]
  complaint:
    identifier: { field: id, generate: "complaint_{ulid}" }
    fields:
      id: string
      heat: { ref: heat, immutable: true, onDelete: cascade }
      text: { type: string, minLength: 3, maxLength: 60 }
    required: [id, heat, text]
  post:
    identifier: { field: keeper, generate: client }
    fields:
      keeper: string
      word: { type: string, minLength: 3, maxLength: 20 }
    required: [keeper, word]
states:
  heat:
    field: phase
    initial: drafted
    states: [drafted, announced, rowing]
    transitions:
      announce: drafted -> announced
      start: { from: announced, to: rowing, if: "now >= resource.starts_at - duration('1h')" }
  entry:
    field: verdict
    initial: [{ if: "next.heat.sort == 'open'", state: taken }, { state: waiting }]
    states: [waiting, taken, turned_down]
    transitions: { take: waiting -> taken, turn_down: waiting -> turned_down }
endpoints:
  POST /heats: { does: create heat }
  GET /heats/{id}: { does: read heat }
  DELETE /heats/{id}: { does: delete heat }
  POST /heats/{id}/announce: { does: announce heat }
  POST /heats/{id}/start: { does: start heat }
  POST /heats/{heat}/entries: { does: create entry }
  GET /entries/{id}: { does: read entry }
  DELETE /entries/{id}: { does: delete entry }
  POST /entries/{id}/take: { does: take entry }
  POST /entries/{id}/turn-down: { does: turn_down entry }
  POST /heats/{heat}/complaints: { does: create complaint }
  GET /complaints/{id}: { does: read complaint }
  PUT /posts/{keeper}: { does: upsert post }
  GET /posts/{keeper}: { does: read post }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create heat, read heat, delete heat, announce heat, start heat, create entry, read entry, delete entry, take entry, turn_down entry, read complaint], to: steward }
    - { allow: [read heat], to: guest, if: "resource.by == 'steward' && resource.phase in ['announced', 'rowing']" }
    - { allow: [create complaint, read complaint], to: guest }
    - { allow: [upsert post], to: [steward, guest], if: "next.keeper == caller.id" }
    - { allow: [read post], to: [steward, guest] }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    too_soon: { status: 422, on: [create heat], if: "next.starts_at < now + duration('72h')" }
    missing: { status: 404, when: resource.missing }
    barred: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    not_now: { status: 409, when: transition.illegal }
limits: { rate: none }
versioning: { versions: none }
`;

suite('what has to be so before something can be asked', () => {
  let stand: Stand;
  let deleted = { heats: 0, entries: 0 };
  let report: Awaited<ReturnType<Stand['verify']>>;
  before(async () => {
    deleted = { heats: 0, entries: 0 };
    stand = await openStand(regatta, {
      inPairs: true,
      spoil({ method, target }) {
        if (method === 'DELETE' && target.startsWith('/heats')) deleted.heats += 1;
        if (method === 'DELETE' && target.startsWith('/entries')) deleted.entries += 1;
        return {};
      },
    });
    report = await stand.verify();
  });
  after(() => stand.close());

  const factOf = (kind: string, subject: string) => {
    const fact = report.facts.find((one) => one.kind === kind && one.subject === subject);
    assert.ok(fact, `${kind}:${subject}`);
    return fact;
  };

  test('nothing is said to be broken', () => {
    assert.deepEqual(report.breaches, []);
    assert.equal(report.stopped, undefined);
  });

  test('a row is made below one that whoever asks may see, by somebody of whom that is so, in a state in which it is', () => {
    assert.equal(factOf('allowed values', 'complaint.text').verdict, 'held');
  });

  test('what is called as whoever puts it is put by that name', () => {
    const { verdict, evidence } = factOf('allowed values', 'post.word');
    const unmet = (evidence?.looks ?? []).filter(({ isMet }) => !isMet).map(({ name, why }) => [name, why]);
    assert.equal(verdict, 'held', JSON.stringify(unmet));
  });

  test('where a parent decides in which state a row begins, it is one from which the row comes where it is wanted', () => {
    const { evidence } = factOf('transitions', 'entry');
    const unmet = (evidence?.looks ?? []).filter(({ name, isMet }) => !isMet && /from waiting/.test(name));
    assert.deepEqual(unmet, []);
  });

  test('the clock is moved to where a condition that reads it is open', () => {
    const { evidence } = factOf('transitions', 'heat');
    const look = evidence?.looks.find(({ name }) => name === 'start from announced');
    assert.equal(look?.isMet, true, JSON.stringify(look));
  });

  test('what goes with a row that is deleted is not asked for by itself', () => {
    assert.ok(deleted.heats > 100, `${deleted.heats}`);
    assert.ok(deleted.entries < deleted.heats / 2, `${deleted.entries} entries beside ${deleted.heats} heats`);
  });
});
