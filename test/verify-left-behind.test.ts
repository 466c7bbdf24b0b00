import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, parseDocument } from '../src/index.ts';
import { tellsApart } from '../src/verify/values/fresh.ts';
import { openStand } from './verify/stand.ts';

/** Lots with crates; the first text of a lot is one of two words, so that many have the same. */
const hall = `title: Hall
purpose: { purpose: Keeps lots., users: { porter: Brings them. } }
resources:
  lot:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      grade: { type: string, enum: [A, B] }
      words: { type: string, maxLength: 40 }
      crates: { children: crate.lot, minItems: 1, maxItems: 4 }
    required: [id, grade, crates]
  crate:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      lot: { ref: lot, onDelete: cascade, immutable: true }
      net: { type: integer, minimum: 1, maximum: 900 }
    required: [id, lot, net]
states: none
endpoints:
  POST /lots: { does: create lot }
  GET /lots: { does: list lot, parameters: { grade: { in: query } }, pagination: { style: none, items: lots } }
  GET /lots/{id}: { does: read lot }
authentication: none
events: none
errors:
  payload: problem
  codes:
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
limits: { rate: none }
versioning: { versions: none }
`;

const about = { only: ['allowed values:lot.crates', 'allowed values:lot.grade', 'allowed values:lot.words'] };

test('a row of somebody else that has one of a few values is not taken for what a refused request left', async () => {
  const stand = await openStand(hall);
  try {
    const { breaches, facts } = await stand.verify(about);
    assert.deepEqual(breaches, []);
    const { shown } = facts.find(({ kind, subject }) => kind === 'allowed values' && subject === 'lot.crates') ?? {};
    assert.ok((shown?.['refused, nothing left'] ?? 0) > 0, JSON.stringify(shown));
  } finally {
    await stand.close();
  }
});

test('a row that a refused request left is found by a value that no other has', async () => {
  // What is refused for its crates is kept, with a crate that is right.
  const kept: unknown[] = [];
  const stand = await openStand(hall, {
    spoil: ({ method, target, sent, status, text }) => {
      if (method === 'POST' && target === '/lots' && status === 422 && sent.includes('"grade"'))
        kept.push({ ...JSON.parse(sent), id: crypto.randomUUID(), crates: [] });
      if (method !== 'GET' || !/^\/lots(?:\?|$)/.test(target) || status !== 200) return {};
      const { lots } = JSON.parse(text);
      return { text: JSON.stringify({ lots: [...lots, ...kept] }) };
    },
  });
  try {
    const { breaches } = await stand.verify(about);
    assert.ok(
      breaches.some(({ subject, reason }) => subject === 'lot.crates' && reason === 'refused, nothing left'),
      breaches.map(({ subject, reason }) => `${subject} ${reason}`).join('; '),
    );
  } finally {
    await stand.close();
  }
});

test('a value of few tells no row from all others', () => {
  const { spec } = check(parseDocument(hall, 'hall.yaml'));
  const telling = [{ type: 'string' }, { type: 'integer' }, { type: 'string', pattern: '^[A-Z]{4}[0-9]{6}$' }];
  const others = [
    { type: 'string', enum: ['A', 'B'] },
    { type: 'boolean' },
    { const: 'A' },
    { type: 'string', pattern: '^[A-Z]$' },
  ];
  assert.deepEqual(
    [...telling, ...others].map((shape) => tellsApart(spec, shape)),
    [true, true, true, false, false, false, false],
  );
});
