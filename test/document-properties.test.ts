import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import type { Document, Json } from '../src/document/document.ts';
import { renderFinding } from '../src/document/frame.ts';
import { below } from '../src/document/pointer.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { marked, outcome, read } from './fixtures/document/reading.ts';
import { anyCodePoint } from './fixtures/letters.ts';
import { times } from './long.ts';

const words = [
  ...[
    '# ',
    '## ',
    '### ',
    '#### ',
    '---\n',
    '```yaml\n',
    '```json\n',
    '```\n',
    '| a | b |\n|---|---|\n',
    '| ',
    ' |\n',
    '\\|',
    '`',
    '> ',
    '- ',
    '1. ',
  ],
  ...[
    'Resources',
    'limits',
    'errors',
    'include',
    'title',
    'codes',
    '__proto__',
    'constructor',
    'a',
    'b',
    '1',
    '0x1f',
    '1e999',
    '.nan',
    '2026-01-01',
  ],
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ': ',
    '"',
    "'",
    '!open',
    '!none',
    '!x',
    '&a ',
    '*a',
    '<<: ',
    '? ',
    '#',
    '%YAML 1.1\n',
    '...\n',
    '|\n',
    '>-\n',
  ],
  ...['\n', '\r\n', '\r', '  ', '\t', '\0', '\uFEFF', '\u2028', '日本', '👩‍💻', '\ud800', '\\', '\\u12'],
];
const text = fc.oneof(
  { weight: 4, arbitrary: fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: anyCodePoint, maxLength: 60 }) },
);

for (const file of ['a.md', 'a.yaml', 'a.json', 'a']) {
  test(`any text in ${file} gives a document whose places are in it`, () => {
    fc.assert(
      fc.property(text, (text) => {
        const document = parseDocument(text, file, { isKey: () => true, bounds: { depth: 8, copies: 50 } });
        const lines = [...document.sources.values()].map((source) => source.split(/\r\n|\n|\r/));
        const places = [
          ...document.places.values(),
          ...document.findings.map(({ place }) => place),
          ...document.prose.map(({ place }) => place),
        ];
        for (const { line, column, endLine, endColumn } of places) {
          assert.ok(line >= 1 && endLine >= line && endLine <= (lines[0]?.length ?? 0), `${line}-${endLine}`);
          assert.ok(column >= 1 && column <= (lines[0]?.[line - 1]?.length ?? 0) + 2, `${line}:${column}`);
          assert.ok(endLine > line || endColumn >= column);
        }
        for (const finding of document.findings)
          assert.ok(renderFinding(document, finding, { colour: false, width: 40 }).length > 0);
        JSON.stringify(document.tree);
      }),
      { numRuns: times(150, 400) },
    );
  });
}

test('any bytes give a document', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const { findings } = parseDocument(bytes, 'a.yaml', { isKey: () => true });
      const isText =
        Buffer.from(bytes).toString().length > 0 && Buffer.from(Buffer.from(bytes).toString()).equals(Buffer.from(bytes));
      assert.equal(
        findings.some(({ code }) => code === 'document/bad-utf8'),
        bytes.length > 0 && !isText,
      );
    }),
  );
});

/** Checks that the place of every scalar marks the scalar. */
function assertPlaces(document: Document, value: Json, pointer: string): void {
  if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      assertPlaces(document, inner, below(pointer, key));
      if (!Array.isArray(value)) assert.ok(document.places.has(`${below(pointer, key)}#`));
    }
    return;
  }
  const place = document.places.get(pointer);
  assert.ok(place !== undefined, pointer);
  const text = marked(document, place);
  if (typeof value !== 'string') assert.equal(JSON.parse(text), value);
  else assert.equal(text.startsWith('"') ? JSON.parse(text) : text, value);
}

const scalars = fc.oneof(
  fc.integer({ min: -99999, max: 99999 }),
  fc.boolean(),
  fc.constant(null),
  fc.stringMatching(/^[a-z][a-z ]{0,8}[a-z]$/),
  fc.string({ unit: fc.constantFrom('a', '"', '\\', ':', '#', '日', '{', '|', ' ') }),
);
const keys = fc.oneof(
  fc.stringMatching(/^[a-z][a-z/~ ]{0,6}[a-z]$/),
  fc.constantFrom('__proto__', 'constructor', '200', 'GET /a/{b}', '~', ''),
);
const tree = fc.letrec<{ value: Json; map: Json }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, scalars, fc.array(tie('value'), { maxLength: 4 }), tie('map')),
  map: fc.dictionary(keys, tie('value'), { maxKeys: 4, noNullPrototype: false }),
}));

const forms: readonly [file: string, write: (value: Json) => string][] = [
  ['a.json', (value) => JSON.stringify({ limits: value }, null, 1)],
  ['a.yaml', (value) => JSON.stringify({ limits: value }, null, 1)],
  ['b.yaml', (value) => stringify({ limits: value }, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' })],
  ['a.md', (value) => `# T\n\n## Limits\n\n\`\`\`yaml\n${JSON.stringify(value)}\n\`\`\`\n`],
  [
    'b.md',
    (value) => `# T\n\n## Limits\n\n  \`\`\`json\n  ${JSON.stringify(value, null, 1).replaceAll('\n', '\n  ')}\n  \`\`\`\n`,
  ],
];
for (const [file, write] of forms) {
  test(`a value written to ${file} is read as it was, and each scalar's place marks it`, () => {
    fc.assert(
      fc.property(tree.map, (value) => {
        const document = read({ file, text: write(value) });
        assert.deepEqual(document.findings, []);
        assert.deepEqual(outcome(document).tree, JSON.parse(JSON.stringify({ limits: value })));
        assertPlaces(document, document.tree, '');
      }),
      { numRuns: times(80, 200) },
    );
  });
}

test('a cell of a table is read as it was, and its place marks it', () => {
  fc.assert(
    fc.property(tree.value, (value) => {
      const document = read({
        text: `## Errors\n\n| codes | status |\n|---|---|\n| a | ${JSON.stringify(value).replaceAll('|', '\\|')} |\n`,
      });
      assert.deepEqual(document.findings, []);
      assert.deepEqual(outcome(document).tree, { errors: { codes: { a: { status: JSON.parse(JSON.stringify(value)) } } } });
      if (!JSON.stringify(value).includes('|')) assertPlaces(document, document.tree, '');
    }),
    { numRuns: 200 },
  );
});
