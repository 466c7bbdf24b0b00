import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import { writeYaml, yamlText } from '../src/convert/nine-parts/yaml.ts';
import type { Document, Json } from '../src/document/document.ts';
import { parseDocument } from '../src/index.ts';
import { times } from './long.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A value as it comes back, in a place that takes any: the default of a field. */
function readBack(value: Json): unknown {
  const { tree } = parseDocument(yamlText({ resources: { a: { fields: { b: { default: value } } } } }), 'a.yaml');
  return plain((tree as { resources: { a: { fields: { b: { default: Json } } } } }).resources.a.fields.b.default);
}

const texts: readonly string[] = [
  '',
  ' ',
  'a',
  'true',
  'no',
  'null',
  '~',
  '1',
  '-1.5',
  '0x1f',
  '1e3',
  '.inf',
  '2024-01-01',
  'a: b',
  'a #b',
  '#a',
  '- a',
  '? a',
  '[a]',
  '{a}',
  '*a',
  '&a',
  '!a',
  '%a',
  '@a',
  '`a`',
  "it's",
  '"a"',
  'a, b',
  '\\',
  'a\\nb',
  'two\nlines',
  'two\nlines\n',
  'two\nlines\n\n',
  '\nfirst empty',
  ' indented\nfirst',
  'first\n  indented',
  'tab\there\nand',
  'last empty\n ',
  'a\n\nb',
  'cr\rlf\r\n',
  '\u0000',
  '\u007f',
  '\u2028',
  '\ufeffa',
  '---',
  '...',
  '<<',
  'none',
  'any',
  '$open',
];

for (const text of texts) {
  test(`the text ${JSON.stringify(text)} reads back the same, as a value and as a key`, () => {
    assert.deepEqual(readBack(text), text);
    assert.deepEqual(readBack([text, { inner: [text] }]), [text, { inner: [text] }]);
    assert.deepEqual(readBack({ [text]: { [text]: 1 } }), { [text]: { [text]: 1 } });
  });
}

test('every value reads back the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const json = plain(value) as Json;
      fc.pre(!JSON.stringify(json).includes('__proto__'));
      assert.deepEqual(readBack(json), json);
    }),
    { numRuns: times(30, 150) },
  );
});

for (const name of ['parcels.md', 'library.md', 'clinic.yaml', 'tickets.md', 'issues.md', 'unspecified.md']) {
  test(`${name} reads back the same from both forms, standings and all`, () => {
    const document = parseDocument(readFileSync(join(import.meta.dirname, '../examples', name)), name);
    for (const [file, text] of [
      ['a.yaml', writeYaml(document)],
      ['a.md', writeMarkdown(document)],
    ] as const) {
      const back = parseDocument(text, file);
      assert.deepEqual(
        back.findings.filter(({ severity }) => severity === 'error'),
        [],
      );
      assert.deepEqual(plain(back.tree), plain(document.tree));
      assert.equal(back.title, document.title);
    }
  });
}

const place = { file: 'a', line: 1, column: 1, endLine: 1, endColumn: 1 };
const told = (text: string): Document => ({
  title: 'A `b` \\c',
  places: new Map(),
  sources: new Map(),
  findings: [],
  tree: { limits: { rate: 'none' }, resources: { 'a `b`': { identifier: 'none' }, c: { identifier: 'none' } } },
  prose: ['', '/limits', '/resources/c'].map((at) => ({ at, text, place })),
});

const hostile: readonly string[] = [
  '```yaml\nrate: any\n```',
  '## States\n\n```yaml\nall: none\n```',
  '| rate |\n|---|\n| any |',
  'Limits\n======\n',
  '---',
  '~~~\nopen',
  '<!-- open',
  '<div>\n```yaml\nx: 1',
  '- a\n\n      b',
  '#not a heading',
  'a\u0000b',
  'a\u2028b\rc',
];

for (const text of hostile) {
  test(`prose states nothing, whatever it says: ${JSON.stringify(text)}`, () => {
    const document = told(text);
    for (const [file, written] of [
      ['a.yaml', writeYaml(document)],
      ['a.md', writeMarkdown(document)],
    ] as const) {
      const back = parseDocument(written, file);
      assert.deepEqual(plain(back.tree), plain(document.tree), written);
      assert.equal(back.title, document.title);
    }
  });
}
