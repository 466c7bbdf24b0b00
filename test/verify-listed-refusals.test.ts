import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocument, verify } from '../src/index.ts';
import { openStand } from './verify/stand.ts';

/** Refusals are lists of what is wrong, and what things refer to is there from the start: nobody makes it. */
const catalogue = `
title: Catalogue
resources:
  kind:
    identifier: { field: code, generate: client }
    fields: { code: { type: string, pattern: "^[a-z]{3,9}$" }, name: { type: string, maxLength: 20 } }
    required: [code, name]
    rows: [{ code: oak, name: Oak }, { code: elm, name: Elm }]
  tree:
    identifier: { field: id, generate: ulid }
    fields: { id: string, kind: { ref: kind, onDelete: restrict }, height: { type: integer, minimum: 1, maximum: 90 } }
    required: [id, kind, height]
states: none
endpoints:
  GET /kinds: { does: list kind }
  "GET /kinds/{code}": { does: read kind }
  POST /trees: { does: create tree }
  "GET /trees/{id}": { does: read tree }
  "DELETE /trees/{id}": { does: delete tree }
authentication: none
errors:
  payload:
    shape: { type: object, properties: { wrong: { type: array, items: { type: object } } }, required: [wrong] }
    data: { wrong: [{ word: code, text: message }] }
  order: [accept, parameters, row, body, request]
  codes:
    unfit: { status: 422, when: request.invalid }
    garbled: { status: 400, when: [request.malformed, request.missing, request.parameter] }
    unacceptable: { status: 406, when: request.accept }
    not_there: { status: 404, when: [resource.missing, route.unknown] }
    dangling: { status: 422, when: reference.missing }
`;

test('a code in the first of a list is read, and rows from the start are referred to where nobody makes others', async () => {
  const stand = await openStand(catalogue);
  try {
    const report = await verify(parseDocument(catalogue, 'catalogue.yaml'), { url: stand.url, seed: 1, timeMs: 40_000 });
    assert.deepEqual(report.breaches, []);
    const held = new Set(
      report.facts.flatMap(({ verdict, kind, subject }) => (verdict === 'held' ? [`${kind} of ${subject}`] : [])),
    );
    assert.ok(held.has('allowed values of tree.height'), 'a tree can be made');
    assert.ok(held.has('conditions of not_there'), [...held].join(', '));
  } finally {
    await stand.close();
  }
});

test('another code in that list is found', async () => {
  const stand = await openStand(catalogue, {
    spoil: ({ text }) => (text.includes('"not_there"') ? { text: text.replace('"not_there"', '"unfit"') } : {}),
  });
  try {
    const report = await verify(parseDocument(catalogue, 'catalogue.yaml'), { url: stand.url, seed: 1, timeMs: 40_000 });
    assert.ok(report.breaches.some(({ kind, subject }) => kind === 'conditions' && subject === 'not_there'));
  } finally {
    await stand.close();
  }
});
