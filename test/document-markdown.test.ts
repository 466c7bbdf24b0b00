import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcome, type Reading, read } from './fixtures/document/reading.ts';

const yaml = (text: string): string => `\n\`\`\`yaml\n${text}\n\`\`\`\n`;

const readings: readonly Reading[] = [
  { says: 'an empty text states nothing', text: '', tree: {} },
  { says: 'a line of prose states nothing', text: 'A service.', tree: {} },
  {
    says: 'a heading opens a part by its name or alias, in any case',
    text: `## What the SERVICE does${yaml('users: none')}## resources and their fields${yaml('a: 1')}## States and  transitions${yaml('b: 2')}## LIMITS${yaml('c: 3')}`,
    tree: { purpose: { users: 'none' }, resources: { a: 1 }, states: { b: 2 }, limits: { c: 3 } },
  },
  { says: 'evidence is a section of its own', text: `## Evidence${yaml('- 1')}`, tree: { evidence: [1] } },
  {
    says: 'a part may be opened twice',
    text: `## Limits${yaml('a: 1')}## Errors${yaml('b: 2')}## Limits${yaml('c: 3')}`,
    tree: { limits: { a: 1, c: 3 }, errors: { b: 2 } },
  },
  {
    says: 'a part may be one word or one open question',
    text: `## Events${yaml('none')}## Errors${yaml('!open "which?"')}## Limits${yaml('# later')}`,
    tree: { events: 'none', errors: { $open: 'which?' } },
  },
  {
    says: 'headings are keys',
    text: `## Resources\n### parcel${yaml('a: 1')}#### fields${yaml('b: 2')}#### rest${yaml('c: 3')}### scan${yaml('d: 4')}`,
    tree: { resources: { parcel: { a: 1, fields: { b: 2 }, rest: { c: 3 } }, scan: { d: 4 } } },
  },
  {
    says: 'a heading with nothing of its own is a key for what is under its deeper headings',
    text: `## Resources\n### parcel\n\nProse.\n\n#### fields${yaml('b: 2')}`,
    tree: { resources: { parcel: { fields: { b: 2 } } } },
  },
  {
    says: 'a heading with nothing under it is prose and closes the one before',
    text: `## Limits\n### rate${yaml('a: 1')}### Notes\n\nText.\n\n#### More\n\nText.\n`,
    tree: { limits: { rate: { a: 1 } } },
  },
  {
    says: 'a heading of the fifth depth is prose',
    text: `## Limits\n### rate\n##### why${yaml('a: 1')}`,
    tree: { limits: { rate: { a: 1 } } },
  },
  {
    says: 'a deeper heading needs none above it',
    text: `## Limits\n#### rate${yaml('a: 1')}`,
    tree: { limits: { rate: { a: 1 } } },
  },
  {
    says: 'a heading is taken as it is written, without backticks and escapes',
    text: `## Endpoints\n### \`POST /parcels/{id}\` ###${yaml('a: 1')}### GET /a\\_b/*.json?x[]=&y#z${yaml('a: 2')}### \`\`GET /a\\_b\`\`${yaml('a: 3')}`,
    tree: { endpoints: { 'POST /parcels/{id}': { a: 1 }, 'GET /a_b/*.json?x[]=&y#z': { a: 2 }, 'GET /a\\_b': { a: 3 } } },
  },
  {
    says: 'a thematic break goes back to the part',
    text: `## Resources\n### parcel${yaml('a: 1')}\n---\n${yaml('b: 2')}`,
    tree: { resources: { parcel: { a: 1 }, b: 2 } },
  },
  {
    says: 'underlined headings are headings',
    text: `Parcels\n=======\n\nLimits\n------\n${yaml('a: 1')}`,
    tree: { limits: { a: 1 } },
  },
  {
    says: 'a fence marked json is JSON',
    text: '## Limits\n\n```json\n{ "a": [1] }\n```\n~~~~ yaml\nb: 2\n~~~~\n',
    tree: { limits: { a: [1], b: 2 } },
  },
  {
    says: 'a fence with a second word or another mark is prose',
    text: '## Limits\n\n```yaml example\na: 1\n```\n\n```ts\nlet a\n```\n\n    a: 1\n',
    tree: {},
  },
  {
    says: 'an indented fence keeps its places',
    text: '## Limits\n\n  ```yaml\n  a: 1\n  b:\n    - {\n  ```\n',
    findings: ['yaml-syntax 7:1'],
    tree: { limits: { a: 1, b: [{}] } },
  },
  {
    says: 'fences before the first part are the document itself',
    text: `# T${yaml('include: [more.yaml]\nlimits: { a: 1 }')}## Limits${yaml('b: 2')}`,
    files: { 'more.yaml': 'limits: { c: 3 }' },
    tree: { limits: { a: 1, b: 2, c: 3 } },
  },
  {
    says: 'maps merge over fences',
    text: `## Limits${yaml('a: { b: 1 }')}${yaml('a: { c: 2 }')}`,
    tree: { limits: { a: { b: 1, c: 2 } } },
  },
  {
    says: 'anything else stated twice is a finding',
    text: `## Limits${yaml('a: 1\nb: [1]')}${yaml('a: 1\nb: [2]')}`,
    findings: ['stated-twice 8:4', 'stated-twice 9:4'],
    tree: { limits: { a: 1, b: [1] } },
  },
  {
    says: 'a standing merges with nothing',
    text: `## Limits${yaml('a: !open')}${yaml('a: { b: 1 }')}## States\n### scan${yaml('a: 1')}\n---${yaml('scan: none')}## Events${yaml('none')}### kinds${yaml('a: 1')}`,
    findings: ['stated-twice 7:4', 'stated-twice 17:7', 'stated-twice 23:5'],
  },
  {
    says: 'a table under a key of its place is a map of maps',
    text: '## Resources\n### address\n\n| fields | type | max length | `format` |\n|---|---|:-:|--:|\n| name | string | 120 | |\n| `a b` | [x, "y"] | !open "q" | { a: 1 } |\n| "c: d" | "a \\| b" | true | none |\n||||\n',
    tree: {
      resources: {
        address: {
          fields: {
            name: { type: 'string', 'max length': 120 },
            'a b': { type: ['x', 'y'], 'max length': { $open: 'q' }, format: { a: 1 } },
            'c: d': { type: 'a | b', 'max length': true, format: 'none' },
          },
        },
      },
    },
  },
  {
    says: "a table under the part's own name fills the part",
    text: '## Endpoints\n\n| endpoints | does |\n|---|---|\n| POST /parcels/{id} | create parcel |\n',
    tree: { endpoints: { 'POST /parcels/{id}': { does: 'create parcel' } } },
  },
  { says: 'a table under another word is prose', text: '## Errors\n\n| a code | status |\n|---|---|\n| x | 400 |\n', tree: {} },
  {
    says: 'a table before the first part or under no part is prose',
    text: '| codes |\n|---|\n| x |\n\n## Other\n\n| codes |\n|---|\n| x |\n',
    tree: {},
  },
  {
    says: 'a table whose first header differs in case is prose, with a warning',
    text: '## Errors\n\n| Codes | status |\n|---|---|\n| x | 400 |\n',
    findings: ['table-ignored 3:3'],
    tree: {},
  },
  {
    says: 'tables and fences merge',
    text: `## Errors\n\n| codes | status |\n|---|---|\n| x | 400 |\n${yaml('codes: { y: { status: 401 }, x: { when: internal } }')}`,
    tree: { errors: { codes: { x: { status: 400, when: 'internal' }, y: { status: 401 } } } },
  },
  {
    says: 'a cell that is no YAML flow value is a finding',
    text: '## Errors\n\n| codes | a | b | c | d |\n|---|---|---|---|---|\n| x | [1 | a: b | # why | b # c |\n',
    findings: ['yaml-syntax 5:9', 'table-cell 5:12', 'table-cell 5:19', 'table-cell 5:27'],
    tree: { errors: { codes: { x: {} } } },
  },
  {
    says: 'a row without a name or with too many cells is a finding',
    text: '## Errors\n\n| codes | a |\n|---|---|\n| | 1 |\n| x | 1 | 2 |\n',
    findings: ['table-row 5:3', 'table-row 6:11'],
    tree: { errors: { codes: { x: { a: 1 } } } },
  },
  {
    says: 'a row or header that comes twice is a finding',
    text: '## Errors\n\n| codes | a | a |\n|---|---|---|\n| x | 1 | |\n| x | 2 | |\n',
    findings: ['duplicate-key 3:15', 'duplicate-key 6:3'],
    tree: { errors: { codes: { x: { a: 1 } } } },
  },
  {
    says: 'a fence under a heading that is no part states nothing, with a warning',
    text: `## Mistakes${yaml('a: 1')}`,
    findings: ['fence-ignored 2:1'],
    tree: {},
  },
  {
    says: 'a heading that is nearly a part is told once, where a fence or a table of facts stands below it',
    text: `## Error${yaml('a: 1')}${yaml('b: 1')}\n## Enpoints\n\n### GET /x${yaml('does: list x')}\n## Erors\n\n| codes | status |\n|---|---|\n| x | 409 |\n`,
    findings: ['misspelt-part 1:4', 'misspelt-part 10:4', 'misspelt-part 17:4'],
    tree: {},
  },
  {
    says: 'a heading that is nearly a part may stand above prose and tables that explain',
    text: '## State\n\nThe state of the union.\n\n| year | words |\n|---|---|\n| 1 | 2 |\n',
    findings: [],
    tree: {},
  },
  {
    says: 'a fence in a quote or a list states nothing, with a warning',
    text: '## Limits\n\n> ```yaml\n> a: 1\n> ```\n\n- x\n\n  ```json\n  {}\n  ```\n\n```yml\na: 1\n```\n',
    findings: ['fence-ignored 3:3', 'fence-ignored 9:3', 'fence-ignored 13:1'],
    tree: {},
  },
  {
    says: 'a fence that is not closed is a finding',
    text: '## Limits\n\n```yaml\na: 1\n',
    findings: ['fence-open 3:1'],
    tree: { limits: { a: 1 } },
  },
  {
    says: 'an unknown key in a fence of the document itself is a finding',
    text: `# T${yaml('resource: {}')}`,
    findings: ['unknown-part 3:1'],
    tree: {},
  },
  { says: 'two titles are a finding', text: `# T${yaml('title: Other')}`, findings: ['stated-twice 3:8'] },
  {
    says: 'a second first-depth heading closes the part',
    text: `# T\n\n## Limits\n\n# Appendix${yaml('a: 1')}`,
    findings: ['fence-ignored 6:1'],
    tree: {},
  },
];

for (const reading of readings) {
  test(`Markdown: ${reading.says}`, () => {
    const { tree, findings } = outcome(read(reading));
    assert.deepEqual(findings, reading.findings ?? []);
    if (reading.tree !== undefined) assert.deepEqual(tree, reading.tree);
  });
}

test('Markdown: prose is kept with what it stands under', () => {
  const text = [
    ...[
      '# *Parcels*',
      'Intro.',
      '',
      '- a',
      '- b',
      '## Other',
      'More.',
      '## Resources',
      'All.',
      '### parcel',
      'One.',
      '```yaml',
      'a: 1',
      '```',
    ],
    ...[
      'After.',
      '',
      '<!-- not shown -->',
      '',
      '#### fields',
      '| fields |',
      '|---|',
      '| a |',
      '',
      'Below.',
      '',
      '---',
      'Back.',
      '### Notes',
      'Notes.',
    ],
  ].join('\n');
  const { title, prose } = read({ text });
  assert.equal(title, '*Parcels*');
  assert.deepEqual(
    prose.map(({ at, text, place }) => [at, text, place.line, place.column, place.endLine]),
    [
      ['', 'Intro.\n\n- a\n- b', 2, 1, 5],
      ['', '## Other\nMore.', 6, 1, 7],
      ['/resources', 'All.', 9, 1, 9],
      ['/resources/parcel', 'One.', 11, 1, 11],
      ['/resources/parcel', 'After.', 15, 1, 15],
      ['/resources/parcel/fields', 'Below.', 24, 1, 24],
      ['/resources', 'Back.', 27, 1, 27],
      ['/resources', '### Notes\nNotes.', 28, 1, 29],
    ],
  );
});
