import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

/** Rows that are reached by one of two fields, and a sum over those that count. */
const document = `
title: Berths
purpose:
  purpose: Keeps boats and what is owed for them.
  base_url: https://berths.example
  users: { master: Keeps boats. }
  functions: { keep: [create boat, read boat, update boat, create due, delete due] }
resources:
  boat:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      berth: { type: string, maxLength: 20 }
      buoy: { type: integer, minimum: 1, maximum: 90 }
      owed: { type: number, derive: "sum(due.boat, item.amount, item.open)" }
    required: [id, owed]
    one_of: [[berth, buoy]]
  due:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      boat: { ref: boat, onDelete: cascade }
      amount: { type: number, minimum: 1, maximum: 99 }
      open: { type: boolean }
    required: [id, boat, amount, open]
states: { boat: none, due: none }
endpoints:
  POST /boats: { does: create boat }
  GET /boats/{id}: { does: read boat }
  PATCH /boats/{id}: { does: update boat }
  POST /dues: { does: create due }
  GET /dues/{id}: { does: read due }
  DELETE /dues/{id}: { does: delete due }
authentication: { schemes: none }
events: none
`;

servedOtherwise(document, [
  ['a change leaves neither', '    one_of: [[berth, buoy]]\n', '', 'required flags:boat.berth', /none is left/],
  [
    'the longest of one of them is not looked at',
    'maxLength: 20',
    'maxLength: 900',
    'allowed values:boat.berth',
    /invalid refused/,
  ],
  ['the most of the other is not looked at', 'maximum: 90', 'maximum: 900', 'allowed values:boat.buoy', /invalid refused/],
  ['what does not count is added', ', item.open)', ')', 'allowed values:boat.owed', /derived/],
]);

test('one of two fields stays, and what is derived of those that count is shown', async () => {
  const stand = await openStand(document);
  try {
    const { breaches, unsteady, facts } = await stand.verify({ only: ['resources'] });
    assert.deepEqual([...breaches, ...unsteady], []);
    for (const name of ['required flags:boat.berth', 'required flags:boat.buoy', 'allowed values:boat.owed']) {
      const fact = facts.find(({ kind, subject }) => `${kind}:${subject}` === name);
      assert.deepEqual([name, fact?.verdict, fact?.why], [name, 'held', undefined]);
    }
  } finally {
    await stand.close();
  }
});
