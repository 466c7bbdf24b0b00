import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutContradictions } from '../src/check/taken.ts';
import { writeYaml } from '../src/convert/nine-parts/yaml.ts';
import { check, type Document, parseDocument } from '../src/index.ts';

const carillon = join(import.meta.dirname, '../bench/strangers/carillon/openapi.yaml');

/** A description that contradicts itself once its identifiers, lists and totals are inferred; a stranger wrote it. */
const strange = () => parseDocument(readFileSync(carillon, 'utf8'), 'openapi.yaml');

test('what contradicts itself in a document of another language is open, with a warning at its place', () => {
  const report = check(strange());
  assert.ok(report.sound);
  const yielded = report.findings.filter(({ also }) => also?.some(({ message }) => message.endsWith('is left open for it.')));
  assert.deepEqual(
    yielded.map(({ code, severity }) => `${severity} ${code}`),
    ['warning resources/identifier-unwritable'],
  );
  for (const { place } of yielded) assert.equal(place.file, 'openapi.yaml');
});

test('what was inferred yields before what is stated', () => {
  const stated = strange().tree as { resources: { Tower: { fields: Record<string, unknown> } } };
  const left = check(strange()).spec.document.tree as unknown as typeof stated;
  assert.deepEqual(left.resources.Tower.fields, stated.resources.Tower.fields);
});

test('what is imported checks as one of this language', () => {
  const text = writeYaml(check(strange()).spec.document);
  const again = check(parseDocument(text, 'carillon.yaml'));
  assert.deepEqual(
    again.findings.filter(({ severity }) => severity === 'error'),
    [],
  );
});

test('a document of this language is told its errors as errors', () => {
  const text = 'resources: { a: { fields: { id: { type: nothing } } } }';
  assert.equal(check(parseDocument(text, 'a.yaml')).sound, false);
});

test('what nothing helps against ends all the same', () => {
  const document: Document = strange();
  const never = {
    code: 'x/y',
    severity: 'error',
    message: 'It stays.',
    at: '/endpoints/GET ~1towers/does',
    place: placeOfNothing,
  } as const;
  let rounds = 0;
  const left = withoutContradictions({ spec: { document }, findings: [never] }, () => {
    rounds += 1;
    return [never];
  });
  assert.ok(rounds <= 16);
  assert.ok(left.tree.resources);
});

const placeOfNothing = { file: 'openapi.yaml', line: 1, column: 1, endLine: 1, endColumn: 1 };

test('an example that holds maps, and one with a member named valueOf, do not end the check', () => {
  const text = `{ "openapi": "3.1.0", "info": { "title": "T", "version": "1" }, "components": { "schemas": {
    "list": { "type": "array", "uniqueItems": true, "items": { "type": "object" }, "example": [{ "a": 1 }, { "valueOf": 1 }, { "a": 1 }] },
    "one": { "type": "object", "enum": [{ "a": 1 }, { "valueOf": 1 }], "example": { "valueOf": 1 } } } } }`;
  assert.equal(check(parseDocument(text, 'api.json')).sound, true);
});
