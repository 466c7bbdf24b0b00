import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CannotRun } from '../src/index.ts';
import { openStand } from './verify/stand.ts';

const notes = `
title: Notes
purpose: { purpose: Keeps notes., base_url: https://notes.example/v1, users: { writer: Writes. }, functions: none }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields: { id: string, text: { type: string, maxLength: 40 }, stars: { type: integer, minimum: 0, maximum: 5, default: 0 } }
    required: [id, text, stars]
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  DELETE /notes/{id}: { does: delete note }
authentication: none
`;

test('a service that keeps its document has nothing broken, and what was made is removed', async () => {
  const stand = await openStand(notes);
  try {
    const report = await stand.verify();
    assert.deepEqual(report.breaches, []);
    assert.deepEqual(report.unsteady, []);
    assert.deepEqual(report.leftovers, []);
    assert.ok(report.total.held > 0);
  } finally {
    await stand.close();
  }
});

test('a breach names the fact, what was promised and seen, and the shortest requests that show it', async () => {
  const stand = await openStand(notes, {
    spoil: ({ method, text }) => (method === 'GET' ? { text: text.replace(/"stars":\d/, '"stars":4') } : {}),
  });
  try {
    const { breaches } = await stand.verify();
    const breach = breaches.find(({ reason }) => reason === 'stored, default' || reason === 'stored, sent');
    assert.equal(`${breach?.kind} of ${breach?.subject}`, 'allowed values of note.stars');
    assert.equal(breach?.steps.length, 2);
    assert.match(breach?.script.join('\n') ?? '', /id_1=\$\(printf .*\ncurl -s -i -X GET "\$URL"\/v1\/notes\/"\$id_1"/);
  } finally {
    await stand.close();
  }
});

test('another machine is left alone unless it is named', async () => {
  const stand = await openStand(notes);
  try {
    await assert.rejects(stand.verify({ url: 'http://198.51.100.7/' }), CannotRun);
  } finally {
    await stand.close();
  }
});

test('where nothing answers nothing is said', async () => {
  const stand = await openStand(notes);
  await stand.close();
  await assert.rejects(stand.verify(), CannotRun);
});
