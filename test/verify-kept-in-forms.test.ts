import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Otherwise, servedOtherwise } from './verify/served-otherwise.ts';
import { openStand } from './verify/stand.ts';

const notesSentAs = (type: string) => `title: Notes
purpose: { purpose: Keeps notes., users: { writer: Writes them. } }
resources:
  note:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      text: { type: string, minLength: 1, maxLength: 40 }
      colour: { type: string, maxLength: 20 }
      stars: { type: integer, minimum: 0, maximum: 5, default: 2 }
    required: [id, text, stars]
states: { note: none }
endpoints:
  POST /notes: { does: create note, consumes: [${type}] }
  GET /notes/{id}: { does: read note }
  PATCH /notes/{id}: { does: update note, consumes: [${type}] }
authentication:
  schemes: { key: { type: api_key, header: X-Key, generate: "key_{random:24}" } }
  permissions: [{ allow: all note, to: writer }]
events: none
errors:
  payload: problem
  codes:
    unreadable: { status: 400, when: request.malformed }
    no_such_type: { status: 415, when: request.media }
    wrong: { status: 422, when: request.invalid }
    missing: { status: 404, when: resource.missing }
limits: { rate: none }
versioning: { versions: none }
`;

const urlencoded = notesSentAs('application/x-www-form-urlencoded');
const multipart = notesSentAs('multipart/form-data');

const faults: readonly Otherwise[] = [
  [
    'what an update sends of it is not kept',
    'colour: { type: string, maxLength: 20 }',
    `colour: { type: string, maxLength: 20, set: { update: "'blue'" } }`,
    'allowed values:note.colour',
    /stored|answered/,
  ],
  ['it begins with another default', 'maximum: 5, default: 2', 'maximum: 5, default: 3', 'allowed values:note.stars', /default/],
];

servedOtherwise(urlencoded, faults);
servedOtherwise(multipart, faults);

for (const [what, document] of [
  ['urlencoded', urlencoded],
  ['multipart', multipart],
] as const) {
  test(`what a form says is kept, and nothing that it cannot say is held to: ${what}`, async () => {
    const stand = await openStand(document, { inPairs: true });
    try {
      const { breaches, unsteady } = await stand.verify({ only: ['resources/stored', 'resources/changed'] });
      assert.deepEqual(
        [...breaches, ...unsteady].map(({ kind, subject, reason, seen }) => `${kind}:${subject} ${reason} ${seen}`),
        [],
      );
    } finally {
      await stand.close();
    }
  });
}
