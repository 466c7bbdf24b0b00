import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openStand, type Stand } from './verify/stand.ts';

/** Buoys whose faults are published for a while, whose jobs are begun by whom they were given to, and whose shifts have rules of two moments. */
const buoys = `title: Buoys
purpose: { purpose: Keeps buoys., users: { master: Keeps the books., hand: Does the work. } }
resources:
  buoy:
    identifier: { field: id, generate: "buoy_{ulid}" }
    fields:
      id: string
      name: { type: string, minLength: 2, maxLength: 30 }
      chain: { type: integer, minimum: 0, maximum: 1000, writable: [master] }
    required: [id, name, chain]
  cut:
    identifier: { field: id, generate: "cut_{ulid}" }
    fields:
      id: string
      buoy: { ref: buoy, immutable: true, onDelete: cascade }
      metres: { type: integer, minimum: 20, maximum: 400 }
    required: [id, buoy, metres]
  fault:
    identifier: { field: id, generate: "fault_{ulid}" }
    fields:
      id: string
      buoy: { ref: buoy, immutable: true, onDelete: cascade }
      grade: { type: integer, minimum: 1, maximum: 3, default: 1 }
      until: { type: string, format: date-time, readOnly: true, set: { publish: request.until } }
      phase: { type: string, readOnly: true }
    required: [id, buoy, grade, phase]
  job:
    identifier: { field: id, generate: "job_{ulid}" }
    fields:
      id: string
      number: { type: integer, readOnly: true, generate: integer, within: buoy }
      buoy: { ref: buoy, immutable: true, onDelete: cascade }
      fault: { ref: fault, immutable: true, onDelete: clear }
      title: { type: string, minLength: 3, maxLength: 40, default: Look at it }
      worker: { type: string, readOnly: true, set: { assign: request.worker } }
      phase: { type: string, readOnly: true }
    required: [id, number, buoy, phase]
  shift:
    identifier: { field: id, generate: "shift_{ulid}" }
    fields:
      id: string
      buoy: { ref: buoy, immutable: true, onDelete: cascade }
      from: { type: string, format: date-time }
      till: { type: string, format: date-time }
      note: { type: string, maxLength: 60 }
    required: [id, buoy, from, till]
    rules:
      till_later: { if: "next.till <= next.from", field: till, message: a time after it begins }
  loan:
    identifier: { field: id, generate: "loan_{ulid}" }
    fields:
      id: string
      items: { children: item.loan, minItems: 1, maxItems: 3 }
    required: [id, items]
  item:
    identifier: { field: id, generate: "item_{ulid}" }
    fields:
      id: string
      loan: { ref: loan, onDelete: cascade }
      buoy: { ref: buoy, onDelete: restrict }
    required: [id, loan, buoy]
states:
  fault:
    field: phase
    initial: told
    states: [told, known, published, over]
    transitions:
      confirm:
        from: told
        to: known
        then: { create: job, if: "next.grade == 3", set: { buoy: next.buoy, fault: next.id } }
      publish: { from: known, to: published }
      mend: { from: [known, published], to: over }
      withdraw: { from: published, to: over, at: "has(resource.until) ? resource.until : null" }
  job:
    field: phase
    initial: open
    states: [open, given, begun, done]
    transitions:
      assign: { from: [open, given], to: given }
      begin: { from: given, to: begun, if: { if: "has(resource.worker) && resource.worker == caller.id", else: not_yours } }
      finish: { from: begun, to: done, then: { do: mend fault, to: "has(next.fault) ? next.fault : null", else: skip } }
endpoints:
  POST /buoys: { does: create buoy }
  GET /buoys/{id}: { does: read buoy }
  DELETE /buoys/{id}: { does: delete buoy }
  POST /buoys/{buoy}/cuts: { does: create cut }
  GET /cuts/{id}: { does: read cut }
  POST /faults: { does: create fault }
  GET /faults/{id}: { does: read fault }
  POST /faults/{id}/confirm: { does: confirm fault }
  POST /faults/{id}/publish:
    does: publish fault
    request: { type: object, properties: { until: { type: string, format: date-time } }, required: [until], additionalProperties: false }
  POST /faults/{id}/mend: { does: mend fault }
  POST /jobs: { does: create job }
  GET /jobs: { does: list job, parameters: { buoy: { in: query }, fault: { in: query } } }
  GET /jobs/{id}: { does: read job }
  POST /jobs/{id}/assign:
    does: assign job
    request: { type: object, properties: { worker: { type: string, minLength: 1, maxLength: 40 } }, required: [worker], additionalProperties: false }
  POST /jobs/{id}/begin: { does: begin job }
  POST /jobs/{id}/finish: { does: finish job }
  POST /shifts: { does: create shift }
  GET /shifts/{id}: { does: read shift }
  PUT /shifts/{id}: { does: replace shift }
  DELETE /shifts/{id}: { does: delete shift }
  POST /loans: { does: create loan }
  GET /loans/{id}: { does: read loan }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions:
    - { allow: [create buoy, read buoy, delete buoy, create cut, read cut, create fault, read fault, confirm fault, publish fault, mend fault], to: master }
    - { allow: [create job, list job, read job, assign job, create shift, read shift, replace shift, delete shift, create loan, read loan], to: master }
    - { allow: [read job, begin job, finish job], to: hand }
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
    not_yours: { status: 409 }
    past: { status: 422, on: [publish fault], if: "request.until <= now" }
    too_far: { status: 422, on: [publish fault], if: "request.until > now + duration('240h')" }
    shift_over: { status: 422, on: [create shift, replace shift], if: "next.till <= now" }
    shift_long: { status: 422, on: [create shift, replace shift], if: "next.till - next.from > duration('24h')" }
    chain_short: { status: 409, on: [create cut], if: "next.buoy.chain < next.metres" }
limits: { rate: none, pagination: { style: none, items: items } }
versioning: { versions: none }
`;

suite('what an act asks for is brought about before it is asked', () => {
  let stand: Stand;
  let inUse = 0;
  let report: Awaited<ReturnType<Stand['verify']>>;
  before(async () => {
    stand = await openStand(buoys, {
      inPairs: true,
      spoil({ method, target, status }) {
        if (method === 'DELETE' && target.startsWith('/buoys') && status === 409) inUse += 1;
        return {};
      },
    });
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

  test('what is sent with an act is what no error of the service refuses, and the clock comes to the time that it sets', () => {
    assert.deepEqual(lacking('transitions', 'fault'), []);
  });

  test('an act whose condition names whoever it was given to is done by them, and what follows from it where it may', () => {
    assert.deepEqual(lacking('transitions', 'job'), []);
  });

  test('what is counted within something is counted beside what follows from changes', () => {
    assert.deepEqual(lacking('allowed values', 'job.number'), []);
  });

  test('errors that hold two moments against each other, or one against now, arise and have their controls', () => {
    for (const code of ['past', 'too_far', 'shift_over']) assert.deepEqual(lacking('conditions', code), [], code);
    assert.doesNotMatch(JSON.stringify(lacking('conditions', 'shift_long')), /POST \/shifts/);
  });

  test('a replacement keeps the rules, and says what is left out of it', () => {
    const fact = report.facts.find(({ kind, subject }) => kind === 'request payload shapes' && subject === 'PUT /shifts/{id}');
    assert.ok((fact?.shown?.replaced ?? 0) > 0, JSON.stringify(fact));
  });

  test('what only some may write is made roomy where all who make it may', () => {
    assert.deepEqual(lacking('response payload shapes', 'POST /buoys/{buoy}/cuts'), []);
  });

  test('what the children of a row hold is asked to be removed once, and in the end', () => {
    assert.ok(inUse <= 4, `${inUse} deletions were refused`);
  });
});
