import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStand } from './verify/stand.ts';

/** Finds are moved along by their claims alone; what is examined was recovered, for which a claim is made, handed in and accepted. */
const finds = `
title: Finds
resources:
  spot: { identifier: none, fields: { lat: number, fix: { enum: [gps, heard], default: gps } }, required: [lat, fix] }
  find:
    identifier: { field: id, generate: uuid }
    fields:
      id: string
      name: { type: string, maxLength: 40 }
      at: { type: spot, readOnly: true, set: { mark: request.spot } }
      depth: { type: integer, readOnly: true, set: { mark: "has(request.depth) ? request.depth : 7" } }
      stage: { type: string, readOnly: true }
    required: [id, name, stage]
  claim:
    identifier: { field: id, generate: uuid }
    created: { then: { do: take find, to: next.find } }
    fields: { id: string, find: { ref: find, immutable: true, onDelete: cascade }, stage: { type: string, readOnly: true } }
    required: [id, find, stage]
  exam:
    identifier: { field: id, generate: uuid }
    fields: { id: string, find: { ref: find, immutable: true, onDelete: cascade }, mark: { type: integer, minimum: 1, maximum: 9 } }
    required: [id, find, mark]
states:
  spot: none
  exam: none
  find:
    field: stage
    initial: lying
    states: [lying, marked, taken, recovered]
    transitions:
      mark: { from: lying, to: marked }
      take: { from: marked, to: taken }
      recover: { from: taken, to: recovered }
      clean: { from: recovered, to: lying }
  claim:
    field: stage
    initial: open
    states: [open, handed_in, settled]
    transitions:
      hand_in: { from: open, to: handed_in }
      accept: { from: handed_in, to: settled, then: { do: recover find, to: next.find } }
endpoints:
  POST /finds: { does: create find }
  GET /finds/{id}: { does: read find }
  DELETE /finds/{id}: { does: delete find }
  POST /finds/{id}/mark:
    does: mark find
    request: { type: object, properties: { spot: spot, depth: { type: integer, minimum: 0, maximum: 90, default: 3 } }, required: [spot] }
  POST /finds/{id}/clean: { does: clean find }
  POST /claims: { does: create claim }
  GET /claims/{id}: { does: read claim }
  POST /claims/{id}/hand-in: { does: hand_in claim }
  POST /claims/{id}/accept: { does: accept claim }
  POST /exams: { does: create exam }
  GET /exams/{id}: { does: read exam }
  GET /old: { does: reply, as: old page, response: { 200: { shape: { type: object, properties: { said: string } }, example: { said: gone } } } }
authentication: none
errors:
  payload: problem
  codes:
    invalid: { status: 422, when: [request.invalid, reference.missing] }
    missing: { status: 404, when: [resource.missing, route.unknown, version.unknown] }
    not_now: { status: 409, when: transition.illegal }
    not_recovered: { status: 409, on: [create exam], if: "next.find.stage != 'recovered'" }
    too_early: { status: 409, on: [create claim], if: "next.find.stage != 'marked'" }
versioning:
  versions: { v1: {}, v2: { current: true } }
  select: { header: Finds-Version, default: current }
  guarantee: additive
  changes: { v1: none, v2: [{ endpoint: GET /old, removed: true }] }
`;

test('a row is brought on by what is done to those that refer to it, and nothing is broken', async () => {
  const stand = await openStand(finds);
  try {
    const { breaches, facts } = await stand.verify();
    assert.deepEqual(
      breaches.map(({ id, promised, seen }) => [id, promised, seen]),
      [],
    );
    const verdictOf = (kind: string, subject: string) =>
      facts.find((fact) => fact.kind === kind && fact.subject === subject)?.verdict;
    assert.equal(verdictOf('allowed values', 'exam.mark'), 'held');
    assert.equal(verdictOf('conditions', 'not_recovered'), 'held');
    assert.equal(verdictOf('allowed values', 'find.depth'), 'held');
    assert.equal(verdictOf('allowed values', 'find.at'), 'held');
  } finally {
    await stand.close();
  }
});

test('a row that only others bring to a state is fired from there, by itself', async () => {
  const stand = await openStand(finds);
  try {
    const { facts } = await stand.verify({ only: ['states/transitions'] });
    const moved = facts.find(({ kind, subject }) => kind === 'transitions' && subject === 'find')?.evidence?.looks ?? [];
    assert.ok(
      moved.some(({ name, isMet }) => name === 'clean from recovered' && isMet),
      JSON.stringify(moved),
    );
  } finally {
    await stand.close();
  }
});
