import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument } from '../src/index.ts';
import { statedValue } from '../src/parts/fact.ts';
import { mayBeUntold } from '../src/parts/left-out.ts';
import { readSpec } from '../src/parts/spec.ts';

/** Who may change a note and who may read it, and whether somebody changes one without seeing it. */
const rules: readonly (readonly [what: string, authentication: string, isUntold: boolean])[] = [
  ['whoever changes, reads', '{ permissions: [{ allow: [update note, read note], to: writer }] }', false],
  ['anyone reads', '{ permissions: [{ allow: [update note], to: writer }, { allow: [read note], to: anyone }] }', false],
  ['reading is public', '{ public: [read note], permissions: [{ allow: [update note], to: writer }] }', false],
  ['others read', '{ permissions: [{ allow: [update note], to: writer }, { allow: [read note], to: reader }] }', true],
  [
    'one of two reads',
    '{ permissions: [{ allow: [update note], to: [writer, reader] }, { allow: [read note], to: reader }] }',
    true,
  ],
  [
    'some rows are read',
    '{ permissions: [{ allow: [update note], to: writer }, { allow: [read note], to: writer, if: resource.id == "a" }] }',
    true,
  ],
  [
    'a scope is asked for',
    '{ permissions: [{ allow: [update note], to: writer }, { allow: [read note], to: writer, scopes: [more] }] }',
    true,
  ],
  [
    'anyone changes, and writers read',
    '{ permissions: [{ allow: [update note], to: anyone }, { allow: [read note], to: writer }] }',
    true,
  ],
  ['anyone changes and reads', '{ permissions: [{ allow: [update note, read note], to: anyone }] }', false],
  ['changing is public, and writers read', '{ public: [update note], permissions: [{ allow: [read note], to: writer }] }', true],
  ['changing is public, and anyone reads', '{ public: [update note], permissions: [{ allow: [read note], to: anyone }] }', false],
  ['nobody may change', '{ permissions: [{ allow: [read note], to: reader }] }', false],
  ['permissions are open', '{ schemes: { key: { type: api_key, header: X-Key } } }', false],
];

const documentOf = (authentication: string, ...endpoints: readonly string[]) => `
title: Notes
purpose: { users: { writer: Writes., reader: Reads. } }
resources: { note: { identifier: { field: id, generate: uuid }, fields: { id: string } } }
endpoints:
${endpoints.map((one) => `  ${one}`).join('\n')}
authentication: ${authentication}
`;

function untold(text: string, key: string): boolean {
  const spec = readSpec(parseDocument(text, 'notes.yaml'));
  const endpoint = statedValue(spec.endpoints.all)?.[key];
  assert.ok(endpoint);
  return mayBeUntold(spec, endpoint);
}

const update = 'PATCH /notes/{id}: { does: update note }';
const read = 'GET /notes/{id}: { does: read note }';
const list = 'GET /notes: { does: list note }';

for (const [what, authentication, isUntold] of rules) {
  test(`${what}: who changes a row ${isUntold ? 'may not be told it' : 'is told it'}`, () => {
    assert.equal(untold(documentOf(authentication, update, read), 'PATCH /notes/{id}'), isUntold);
  });
}

test('a list shows rows where nothing reads one; an answer that is stated, and what makes rows, are told', () => {
  const [, hidden = ''] = rules.find(([what]) => what === 'others read') ?? [];
  const listed = hidden.replace('read note', 'list note');
  assert.equal(untold(documentOf(listed, update, list), 'PATCH /notes/{id}'), true);
  assert.equal(untold(documentOf(listed.replace('to: reader', 'to: writer'), update, list), 'PATCH /notes/{id}'), false);
  assert.equal(untold(documentOf(listed, update, read, list), 'PATCH /notes/{id}'), true);
  const stated = update.replace('note }', 'note, response: { 200: note } }');
  assert.equal(untold(documentOf(hidden, stated, read), 'PATCH /notes/{id}'), false);
  const create = 'POST /notes: { does: create note }';
  assert.equal(untold(documentOf(hidden.replace('update note', 'create note'), create, read), 'POST /notes'), false);
});
