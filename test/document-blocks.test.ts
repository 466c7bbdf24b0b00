import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';
import { blocksOf } from '../src/document/markdown/blocks.ts';
import type { SourceRange } from '../src/document/source.ts';
import { times } from './long.ts';

// A second reader of Markdown, with everything inside lines switched off, says what the blocks of a text are.
const insideLines = [
  'attention autolink characterEscape characterReference codeText definition hardBreakEscape',
  'htmlText labelEnd labelStartImage labelStartLink',
].flatMap((names) => names.split(' '));
const extensions = [gfmTable(), { disable: { null: insideLines } }];

function expected(text: string): string[] {
  const root = fromMarkdown(text, { extensions, mdastExtensions: [gfmTableFromMarkdown()] });
  const between = (nodes: readonly RootContent[]): string =>
    text.slice(nodes[0]?.position?.start.offset ?? 0, nodes.at(-1)?.position?.end.offset ?? 0);
  return root.children.flatMap((node) => {
    const line = node.position?.start.line;
    if (node.type === 'heading') return [`${line} h${node.depth} ${between(node.children)}`];
    if (node.type === 'thematicBreak') return [`${line} break`];
    if (node.type === 'table') {
      return [
        `${line} table ${node.children.map((row) => row.children.map((cell) => between(cell.children)).join('¦')).join(' / ')}`,
      ];
    }
    if (node.type !== 'code' || !/^[`~]/.test(text.slice(node.position?.start.offset))) return [];
    return [`${line} fence ${spaced(`${node.lang ?? ''} ${node.meta ?? ''}`)} ${spaced(node.value)}`];
  });
}

function actual(text: string): string[] {
  const slice = (stretch: SourceRange): string => text.slice(...stretch);
  return blocksOf(text).flatMap((block) => {
    const line = text.slice(0, block.all[0]).split('\n').length;
    if (block.kind === 'heading') return [`${line} h${block.depth} ${slice(block.text)}`];
    if (block.kind === 'break') return [`${line} break`];
    if (block.kind === 'table')
      return [`${line} table ${[block.header, ...block.rows].map((row) => row.map(slice).join('¦')).join(' / ')}`];
    if (block.kind !== 'fence') return [];
    return [`${line} fence ${spaced(block.info)} ${spaced(block.content.map(slice).join(''))}`];
  });
}

function spaced(text: string): string {
  return text.trim().split(/\s+/).join(' ');
}

const pieces = [
  ...[
    '- ',
    '> ',
    '  ',
    '    ',
    '1. ',
    '2) ',
    '+ z',
    'a',
    'b c',
    'x',
    '`',
    '#',
    '-',
    '*',
    '|',
    '<?',
    '<a>',
    '-->',
    '<!-- x',
    '<div>',
    '</p>',
  ],
  ...[
    '# x',
    '## y ##',
    '### ',
    '```',
    '```yaml',
    '~~~',
    '---',
    '***',
    '- - -',
    '===',
    '| a | b |',
    '|---|---|',
    'a | b',
    '--- | ---',
    'c \\| d |',
  ],
];
const lines = fc.array(fc.array(fc.constantFrom(...pieces), { maxLength: 4 }), { minLength: 1, maxLength: 8 });

test('Markdown: the blocks of a text are those that another reader finds', () => {
  fc.assert(
    fc.property(lines, (lines) => {
      const text = lines.map((line) => line.join('')).join('\n');
      fc.pre(!isDisputed(text));
      assert.deepEqual(actual(text), expected(text));
    }),
    { numRuns: times(500, 1000), seed: 9 },
  );
});

/** The other reader departs from the standard at an empty list item that follows a table or stands in a quote. */
function isDisputed(text: string): boolean {
  return /^(?:[> \t]|[-+*] |\d[.)] )*(?:[-+*]|\d[.)])[ \t]*$/m.test(text);
}

const bad = [
  '> a\n',
  'b\n',
  '- a\n',
  'a\n=\n',
  '|a|\n|-|\n',
  '[',
  '*a ',
  '<a ',
  '`a',
  '- ',
  '>',
  '\\',
  '| ',
  '<!--',
  '#',
  '\tx\n',
  '&',
  '```\n',
];
for (const piece of bad) {
  test(`Markdown: a hundred thousand times ${JSON.stringify(piece)} is read in one go`, () => {
    assert.ok(blocksOf(piece.repeat(100_000)).length > 0);
  });
}
