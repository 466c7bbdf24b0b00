import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openStand, type Stand } from './verify/stand.ts';

/** Globes are made on moulds that have to fit, strips are printed for those alone that are in the making, and ink is drawn of what was filled in. */
const globes = `title: Globes
purpose: { purpose: Makes globes., users: { keeper: Makes them. } }
resources:
  mould:
    identifier: { field: id, generate: "mould_{ulid}" }
    fields:
      id: string
      sphere: { enum: [terrestrial, celestial] }
      diameter: { type: integer, minimum: 50, maximum: 1200 }
      state: { type: string, readOnly: true }
    required: [id, sphere, diameter, state]
  globe:
    identifier: { field: id, generate: "globe_{ulid}" }
    fields:
      id: string
      mould: { ref: mould, onDelete: restrict }
      sphere: { enum: [terrestrial, celestial] }
      price: { type: integer, minimum: 100, maximum: 500000 }
      due: { type: string, format: date-time }
      stage: { type: string, readOnly: true }
    required: [id, mould, sphere, price, due, stage]
  strip:
    identifier: { field: id, generate: "strip_{ulid}" }
    fields:
      id: string
      globe: { ref: globe, immutable: true, onDelete: cascade }
      tint: { type: string, minLength: 3, maxLength: 9 }
    required: [id, globe, tint]
  ink:
    identifier: { field: id, generate: "ink_{ulid}" }
    fields:
      id: string
      holds: { type: integer, minimum: 10, maximum: 90000 }
      level: { type: integer, readOnly: true, default: 0, set: { fill: "resource.level + request.amount", draw: "resource.level - request.amount" } }
      state: { type: string, readOnly: true }
    required: [id, holds, level, state]
states:
  mould:
    field: state
    initial: whole
    states: [whole, cracked]
    transitions: { crack: whole -> cracked }
  globe:
    field: stage
    initial: drawn
    states: [drawn, making, done]
    transitions: { begin: drawn -> making, finish: making -> done }
  strip: none
  ink:
    field: state
    initial: open
    states: [open]
    transitions:
      fill: { from: open, to: open, if: { if: "resource.level + request.amount <= resource.holds", else: too_full } }
      draw: { from: open, to: open, if: { if: "request.amount <= resource.level", else: too_little } }
endpoints:
  POST /moulds: { does: create mould }
  GET /moulds/{id}: { does: read mould }
  DELETE /moulds/{id}: { does: delete mould }
  POST /moulds/{id}/crack: { does: crack mould }
  POST /globes: { does: create globe }
  GET /globes/{id}: { does: read globe }
  POST /globes/{id}/begin: { does: begin globe }
  POST /globes/{id}/finish: { does: finish globe }
  DELETE /globes/{id}: { does: delete globe }
  POST /globes/{globe}/strips: { does: create strip }
  GET /strips/{id}: { does: read strip }
  POST /inks: { does: create ink }
  GET /inks/{id}: { does: read ink }
  POST /inks/{id}/fill:
    does: fill ink
    request: { type: object, properties: { amount: { type: integer, minimum: 1, maximum: 90000 } }, required: [amount], additionalProperties: false }
  POST /inks/{id}/draw:
    does: draw ink
    request: { type: object, properties: { amount: { type: integer, minimum: 1, maximum: 90000 } }, required: [amount], additionalProperties: false }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create mould, read mould, delete mould, crack mould, create globe, read globe, begin globe, finish globe, delete globe], to: keeper }
    - { allow: [create strip], to: keeper, if: "next.globe.stage == 'making'" }
    - { allow: [read strip, create ink, read ink, fill ink, draw ink], to: keeper }
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    barred: { status: 403, when: caller.forbidden }
    unknown: { status: 401, when: caller.unknown }
    not_now: { status: 409, when: transition.illegal }
    in_use: { status: 409, when: reference.held }
    too_full: { status: 409 }
    too_little: { status: 409 }
    wrong_sphere: { status: 422, on: [create globe], if: "next.mould.sphere != next.sphere" }
    too_cheap: { status: 422, on: [create globe], if: "next.price < next.mould.diameter * 2" }
    over_already: { status: 422, on: [create globe], if: "next.due < now" }
    mould_cracked: { status: 409, on: [create globe], if: "next.mould.state == 'cracked'" }
limits: { rate: none, pagination: { style: none, items: items } }
versioning: { versions: none }
`;

suite('what stands in the way of what is meant is brought about, or kept away, first', () => {
  let stand: Stand;
  let report: Awaited<ReturnType<Stand['verify']>>;
  before(async () => {
    stand = await openStand(globes, { inPairs: true });
    report = await stand.verify();
  });
  after(() => stand.close());

  /** What was missing for a fact to be held. */
  const lacking = (kind: string, subject: string) => {
    const fact = report.facts.find((one) => one.kind === kind && one.subject === subject);
    assert.ok(fact, `${kind}:${subject}`);
    const unmet = (fact.evidence?.looks ?? []).filter(({ isMet }) => !isMet);
    return fact.verdict === 'held' ? [] : [fact.verdict, fact.why, ...unmet.map(({ name, why }) => [name, why])];
  };

  test('nothing is said to be broken', () => {
    assert.deepEqual(report.breaches, []);
    assert.deepEqual(report.unsteady, []);
    assert.equal(report.stopped, undefined);
  });

  test('an act sets what another one asks for, and what is sent is a number that is taken', () => {
    assert.deepEqual(lacking('permission rules', 'draw ink'), []);
    assert.deepEqual(lacking('conditions', 'too_little'), []);
  });

  test('what is permitted below some rows alone is made below one of them', () => {
    assert.deepEqual(lacking('identifiers', 'strip'), []);
  });

  test('an error that reads what a new row refers to arises where the errors before it do not', () => {
    for (const code of ['wrong_sphere', 'too_cheap']) assert.deepEqual(lacking('conditions', code), [], code);
  });

  test('an error of a state of what a new row refers to arises where its times are in order', () => {
    assert.deepEqual(lacking('conditions', 'mould_cracked'), []);
  });
});
