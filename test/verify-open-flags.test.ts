import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Notes whose `kind` is required or not, which is open: our own service answers 501 where it is left out. */
const notes = (kind: string, creation = '') => `
title: Notes
purpose: { purpose: Keeps notes., users: { writer: Writes., reader: Writes too. }, functions: none }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, required: true }
      owner: { type: string, readOnly: true, required: true, set: { create: caller.id } }
      text: { type: string, maxLength: 20, required: true }
      kind: ${kind}
states: none
endpoints:
  POST /notes: { does: create note${creation} }
  GET /notes/{id}: { does: read note }
  PUT /notes/{id}: { does: replace note }
  DELETE /notes/{id}: { does: delete note }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:20}" } }
  permissions:
    - { allow: [create note], to: [writer, reader] }
    - { allow: [read note, replace note, delete note], to: [writer, reader], if: resource.owner == caller.id }
events: none
errors: { codes: { missing: { status: 404, when: [resource.missing, route.unknown] }, others: any } }
limits: { rate: none, pagination: none }
versioning: none
`;

test('what may have to be sent is sent, so that rows are made where it is open whether a field is required', async () => {
  const doubted: string[] = [];
  const stand = await openStand(notes('{ enum: [short, long] }'), {
    spoil({ method, target, sent, status }) {
      if (status === 501) doubted.push(`${method} ${target} ${sent}`);
      return {};
    },
  });
  try {
    const { breaches, total } = await stand.verify({ only: ['resources/stored', 'authentication/rows'] });
    assert.deepEqual(breaches, []);
    assert.deepEqual(doubted, []);
    assert.ok(total.held > 0);
  } finally {
    await stand.close();
  }
});

test('a refusal that tells of an open fact is held against nobody, whoever asked', async () => {
  // No first note could be made with what each of them refers to.
  const stated = ', request: { type: object, properties: { text: string }, required: [text] }';
  const stand = await openStand(notes('{ ref: note }', stated));
  try {
    const { breaches } = await stand.verify({ only: ['authentication/rows'] });
    assert.deepEqual(
      breaches.map(({ promised, seen }) => [promised, seen]),
      [],
    );
  } finally {
    await stand.close();
  }
});
