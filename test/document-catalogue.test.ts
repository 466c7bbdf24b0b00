import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentFindings } from '../src/document/catalogue.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { type Reading, read } from './fixtures/document/reading.ts';

type Snippet = Omit<Reading, 'says'>;
const yaml = (text: string, more: Partial<Snippet> = {}): Snippet => ({ file: 'service.yaml', text, ...more });
const markdown = (text: string): Snippet => ({ text });

const foreign = (text: string): Snippet => ({ text, file: 'service.json' });

/** One snippet for each finding that a text alone can make. */
const made: Readonly<Record<string, Snippet>> = {
  'control-character': yaml('limits: "\u0007"'),
  'too-large': yaml('limits: none', { bounds: { bytes: 3 } }),
  'too-deep': yaml('limits: [[[1]]]', { bounds: { depth: 2 } }),
  'too-many-values': yaml('limits: [1, 2]', { bounds: { values: 2 } }),
  'too-many-copies': yaml('limits: [&a [1, 2], *a]', { bounds: { copies: 2 } }),
  'too-many-findings': yaml('a: 1\nb: 2', { bounds: { findings: 1 } }),
  'yaml-syntax': yaml('limits: ['),
  'json-syntax': yaml('{', { file: 'service.json' }),
  'many-documents': yaml('limits: none\n---\n'),
  'duplicate-key': yaml('limits: none\nlimits: any'),
  'stated-twice': yaml('include: a.yaml\nlimits: none', { files: { 'a.yaml': 'limits: any' } }),
  'key-form': yaml('limits: { [a]: 1 }'),
  'merge-key': yaml('limits: { <<: { a: 1 } }'),
  'unknown-tag': yaml('limits: !nothing'),
  'tag-value': yaml('limits: !none 1'),
  alias: yaml('limits: *a'),
  'number-not-finite': yaml('limits: .inf'),
  'number-inexact': yaml('limits: 9223372036854775807'),
  'not-a-map': yaml('limits'),
  'unknown-part': yaml('limit: none'),
  title: yaml('title: 3'),
  'include-form': yaml('include: { a: b }'),
  'include-outside': yaml('include: ../a.yaml'),
  'include-unreadable': yaml('include: a.yaml'),
  'include-cycle': yaml('include: service.yaml'),
  'include-bound': yaml('include: [a.yaml, b.yaml]', { files: { 'a.yaml': '', 'b.yaml': '' }, bounds: { files: 2 } }),
  'ref-outside': foreign('{ "openapi": "3.1.0", "paths": { "$ref": "https://api.example/paths.json" } }'),
  'ref-unreadable': foreign('{ "openapi": "3.1.0", "paths": { "$ref": "paths.json" } }'),
  overlay: {
    ...foreign('{ "openapi": "3.1.0" }'),
    overlay: "overlay: 1.0.0\nactions: [{ target: $.paths['/a'], remove: true }]",
  },
  'fence-open': markdown('## Limits\n```yaml\na: 1'),
  'misspelt-part': markdown('## Limit\n```yaml\na: 1\n```'),
  'fence-ignored': markdown('## Bounds\n```yaml\na: 1\n```'),
  'table-ignored': markdown('## Errors\n| CODES |\n|---|\n| a |'),
  'table-row': markdown('## Errors\n| codes |\n|---|\n| a | b |'),
  'table-cell': markdown('## Errors\n| codes | status |\n|---|---|\n| a | b: c |'),
};

for (const { code, severity, meaning, remedy } of documentFindings) {
  test(`the finding ${code} is made, and says what to write instead`, () => {
    const name = code.replace('document/', '');
    const bytes = Uint8Array.from([0x6c, 0x69, 0xff, 0x0a]);
    const snippet = made[name];
    const { findings } = snippet === undefined ? parseDocument(bytes, 'service.md', { isKey: () => true }) : read(snippet);
    const finding = findings.find((one) => one.code === code);
    assert.equal(finding?.severity, severity);
    for (const text of [meaning, remedy, finding?.message, finding?.remedy]) assert.match(text ?? '', /^[^a-z].*[.…`]$/s);
  });
}

test('no two findings share a code', () => {
  assert.equal(new Set(documentFindings.map(({ code }) => code)).size, documentFindings.length);
});
