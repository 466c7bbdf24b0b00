import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Notes that count how often they were changed; a few of them may be made in a day. */
const notes = (limit: number, update = 'update: resource.count + 1, ') => `
title: Notes
purpose: { purpose: Keeps notes., users: { writer: Writes. }, functions: none }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: { type: string, required: true }
      text: { type: string, maxLength: 20, required: true }
      count: { type: integer, readOnly: true, required: true, set: { ${update}create: "0" } }
states: none
endpoints:
  POST /notes: { does: create note }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note }
  DELETE /notes/{id}: { does: delete note }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "k_{random:20}" } }
  permissions: [{ allow: [create note, read note, update note, delete note], to: writer }]
events: none
errors: { codes: { missing: { status: 404, when: [resource.missing, route.unknown] }, spent: { status: 429, when: limit.quota }, others: any } }
limits: { rate: none, pagination: none, quota: [{ per: caller, on: [create note], limit: ${limit}, window: day, zone: UTC }] }
versioning: none
`;

for (const limit of [12, 16])
  test(`what looked broken is looked at again on the next day, where no more rows can be made on this one: ${limit} a day`, async () => {
    const stand = await openStand(notes(limit), { served: notes(limit, '') });
    try {
      const { breaches, unsteady } = await stand.verify({ only: ['resources'] });
      const told = breaches.map(({ kind, subject }) => `${kind} ${subject}`);
      assert.ok(told.includes('allowed values note.count'), `${told.join('; ')}, unsteady: ${unsteady.length}`);
    } finally {
      await stand.close();
    }
  });
