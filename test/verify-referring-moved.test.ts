import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/**
 * A batch leaves the laboratory once each of its samples was measured, and is sealed by then, so that none can be added; a sample is good where
 * it comes to what its substance asks for.
 */
const laboratory = `title: Laboratory
purpose: { purpose: Measures samples., users: { chemist: Brings and measures them. } }
resources:
  substance:
    identifier: { field: id, generate: uuid }
    fields: { id: string, least: { type: integer, minimum: 1, maximum: 900 } }
    required: [id, least]
  batch:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      samples: { type: integer, derive: count(sample.batch) }
      waiting: { type: integer, derive: "count(sample.batch, item.state == 'waiting')" }
      bad: { type: integer, derive: "count(sample.batch, item.state == 'bad')" }
      left_at: { type: string, format: date-time, readOnly: true, set: { leave: now } }
      state: { type: string, readOnly: true }
    required: [id, samples, waiting, bad, state]
  sample:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      batch: { ref: batch, onDelete: cascade, immutable: true }
      substance: { ref: substance, onDelete: restrict, immutable: true }
      state: { type: string, readOnly: true }
    required: [id, batch, substance, state]
states:
  substance: none
  batch:
    field: state
    initial: open
    states: [open, sealed, clean, refused]
    transitions:
      seal: { from: open, to: sealed, if: { if: next.samples > 0, else: empty } }
      leave:
        from: sealed
        to: [{ if: next.bad == 0, state: clean }, { state: refused }]
        if: { if: next.waiting == 0, else: unmeasured }
  sample:
    field: state
    initial: waiting
    states: [waiting, good, bad]
    transitions:
      measure:
        from: waiting
        to: [{ if: request.reading >= resource.substance.least, state: good }, { state: bad }]
        if: { if: "resource.batch.state == 'sealed'", else: too_early }
endpoints:
  POST /substances: { does: create substance }
  GET /substances/{id}: { does: read substance }
  POST /batches: { does: create batch }
  GET /batches/{id}: { does: read batch }
  POST /batches/{id}/seal: { does: seal batch }
  POST /batches/{id}/leave: { does: leave batch }
  POST /batches/{batch}/samples: { does: create sample }
  GET /samples/{id}: { does: read sample }
  POST /samples/{id}/measure:
    does: measure sample
    request: { type: object, properties: { reading: { type: integer, minimum: 0, maximum: 1000 } }, required: [reading] }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
    no_such: { status: 422, when: reference.missing }
    not_now: { status: 409, when: transition.illegal }
    empty: { status: 409 }
    unmeasured: { status: 409 }
    too_early: { status: 409 }
    closed: { status: 409, on: [create sample], if: "next.batch.state != 'open'" }
limits: { rate: none }
versioning: { versions: none }
`;

const faults: readonly Otherwise[] = [
  [
    'a batch of good samples is refused',
    '{ if: next.bad == 0, state: clean }',
    '{ if: next.bad > 0, state: clean }',
    'transitions:batch',
    /leave/,
  ],
  [
    'when a batch left is not kept',
    'readOnly: true, set: { leave: now }',
    'readOnly: true, set: { seal: now }',
    'allowed values:batch.left_at',
    /set|answered|stored/,
  ],
];

servedOtherwise(laboratory, faults);

test('what refers to a row is moved where its transition waits for that', async () => {
  const stand = await openStand(laboratory, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/transitions'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === 'transitions:batch');
    const leaving = (fact?.evidence?.looks ?? []).filter(({ name }) => /^leave from sealed/.test(name));
    assert.notEqual(leaving.length, 0);
    assert.deepEqual(
      leaving.filter(({ isMet }) => !isMet),
      [],
    );
  } finally {
    await stand.close();
  }
});

test('what is refused for the row in its path is not sent again with other values', async () => {
  // Samples that are measured only once their batch has left keep it for ever.
  const unmeasured = laboratory.replace("resource.batch.state == 'sealed'", "resource.batch.state == 'clean'");
  const refused = new Map<string, number>();
  const stand = await openStand(unmeasured, {
    spoil: ({ target, status, text }) => {
      if (status === 409 && text.includes('closed')) refused.set(target, (refused.get(target) ?? 0) + 1);
      return {};
    },
  });
  try {
    await stand.verify({ only: ['states/transitions'] });
    assert.notEqual(refused.size, 0);
    // As often as such rows are made for it, each once.
    assert.ok(Math.max(...refused.values()) <= 3, JSON.stringify([...refused]));
  } finally {
    await stand.close();
  }
});

test('what the rows in a path ask of a body is drawn before it is sent', async () => {
  const least = 'too_little: { status: 409, on: [create sample], if: next.grams < next.batch.least }';
  const weighed = laboratory
    .replace('      samples: {', '      least: { type: integer, minimum: 1, maximum: 1000 }\n      samples: {')
    .replace('required: [id, samples,', 'required: [id, least, samples,')
    .replace('      substance: { ref', '      grams: { type: integer, minimum: 1, maximum: 1000 }\n      substance: { ref')
    .replace('required: [id, batch,', 'required: [id, batch, grams,')
    .replace(/closed: \{.*\}/, least);
  let refused = 0;
  let made = 0;
  const stand = await openStand(weighed, {
    spoil: ({ method, target, status, text }) => {
      if (method === 'POST' && target.endsWith('/samples') && status === 201) made += 1;
      if (status === 409 && text.includes('too_little')) refused += 1;
      return {};
    },
  });
  try {
    await stand.verify({ only: ['states/transitions', 'endpoints/bodies'] });
    assert.ok(made > 20 && refused < made / 5, `${made} made, ${refused} refused`);
  } finally {
    await stand.close();
  }
});

test('what is made for the sake of a transition is moved for it too', async () => {
  // A firing begins once a ware was accepted: it is made as one that is offered.
  const firing = laboratory
    .replace(
      'waiting: { type: integer, derive: "count(sample.batch, item.state == \'waiting\')" }',
      'good: { type: integer, derive: "count(sample.batch, item.state == \'good\')" }',
    )
    .replace('required: [id, samples, waiting, bad, state]', 'required: [id, samples, good, bad, state]')
    .replace(
      'seal: { from: open, to: sealed, if: { if: next.samples > 0, else: empty } }',
      'seal: { from: open, to: sealed, if: { if: next.good > 0, else: empty } }',
    )
    .replace('if: { if: next.waiting == 0, else: unmeasured }', 'if: { if: next.good > 0, else: unmeasured }')
    .replace("resource.batch.state == 'sealed'", "resource.batch.state == 'open'");
  const stand = await openStand(firing, { inPairs: true });
  try {
    const { breaches, facts } = await stand.verify({ only: ['states/transitions'] });
    assert.deepEqual(
      breaches.map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
      [],
    );
    const looks = facts.find(({ kind, subject }) => `${kind}:${subject}` === 'transitions:batch')?.evidence?.looks ?? [];
    const sealing = looks.filter(({ name }) => /^seal from open/.test(name));
    assert.notEqual(sealing.length, 0);
    assert.deepEqual(
      sealing.filter(({ isMet }) => !isMet),
      [],
    );
  } finally {
    await stand.close();
  }
});
