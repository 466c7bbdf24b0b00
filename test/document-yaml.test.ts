import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcome, type Reading, read } from './fixtures/document/reading.ts';

const limits = (text: string): string => `limits:\n${text}`;

const readings: readonly Reading[] = [
  {
    says: 'a path with braces that is not quoted within brackets is one finding',
    text: 'endpoints: { GET /n/{id}: { does: read n }, /n/{id}/m/{m}: { GET: read m }, GET /n: { does: list n } }\n',
    findings: ['yaml-syntax 1:14', 'yaml-syntax 1:45'],
  },
  { says: 'an empty text states nothing', text: '', tree: {} },
  { says: 'a text of comments states nothing', text: '# nothing yet\n', tree: {} },
  {
    says: 'values are those of the core schema',
    text: limits('  a: 1\n  b: 1.5\n  c: yes\n  d: true\n  e: ~\n  f: 0x10\n'),
    tree: { limits: { a: 1, b: 1.5, c: 'yes', d: true, e: null, f: 16 } },
  },
  { says: 'a timestamp stays text', text: limits('  at: 2026-06-01\n'), tree: { limits: { at: '2026-06-01' } } },
  {
    says: 'a key that is no text becomes text as it is written',
    text: limits('  200: a\n  2026-06-01: b\n  true: c\n  1.0: d\n'),
    tree: { limits: { '200': 'a', '2026-06-01': 'b', true: 'c', '1.0': 'd' } },
  },
  {
    says: 'the standings stand at any place and depth',
    text: 'errors: !open "which codes?"\nevents: !none\nlimits: { rate: [!any , { x: !open }], size: !open why, others: !open "190 more" }\n',
    tree: {
      errors: { $open: 'which codes?' },
      events: { $none: true },
      limits: { rate: [{ $any: true }, { x: { $open: '' } }], size: { $open: 'why' }, others: { $open: '190 more' } },
    },
  },
  {
    says: 'a standing before a comma or a bracket of a flow value is one',
    text: limits('  { a: !none, b: !any, c: [!open, !none], d: !open }\n'),
    tree: { limits: { a: { $none: true }, b: { $any: true }, c: [{ $open: '' }, { $none: true }], d: { $open: '' } } },
  },
  {
    says: 'a question that looks like a number is text',
    text: limits('  a: !open 42\n  b: !open "42"\n'),
    tree: { limits: { a: { $open: '42' }, b: { $open: '42' } } },
  },
  {
    says: 'the JSON forms of the standings pass through',
    text: limits('  a: { $open: "why" }\n  b: { $none: true }\n'),
    tree: { limits: { a: { $open: 'why' }, b: { $none: true } } },
  },
  {
    says: 'the bare words none and any stay words',
    text: 'events: none\nlimits: any\n',
    tree: { events: 'none', limits: 'any' },
  },
  {
    says: 'a standing that carries a value is a finding',
    text: limits('  a: !none 3\n  b: !any { c: 1 }\n  d: !open [1]\n'),
    findings: ['tag-value 2:12', 'tag-value 3:11', 'tag-value 4:12'],
    tree: { limits: { a: { $none: true }, b: { $any: true }, d: { $open: '' } } },
  },
  {
    says: 'an unknown tag is a finding',
    text: limits('  a: !opne "x"\n  b: !!binary aGk=\n  c: !!int x\n  d: !<constructor> x\n'),
    findings: ['yaml-syntax 5:6', 'unknown-tag 2:12', 'unknown-tag 3:15', 'unknown-tag 4:12', 'unknown-tag 5:21'],
  },
  {
    says: 'a tag of the core schema that fits is fine',
    text: limits('  a: !!str 42\n  b: !!int 42\n  c: !!map { x: 1 }\n  d: !!seq [1]\n'),
    tree: { limits: { a: '42', b: 42, c: { x: 1 }, d: [1] } },
  },
  {
    says: 'a duplicate key is a finding and the first stays',
    text: limits('  a: 1\n  b: 2\n  a: 3\n'),
    findings: ['duplicate-key 4:3'],
    tree: { limits: { a: 1, b: 2 } },
  },
  {
    says: 'a key that equals another only as text is a duplicate',
    text: limits('  200: 1\n  "200": 3\n'),
    findings: ['duplicate-key 3:3'],
  },
  {
    says: 'a collection as a key is a finding',
    text: limits('  {version}: 1\n  ? [a]\n  : 2\n  : 3\n'),
    findings: ['key-form 2:3', 'key-form 3:5', 'key-form 5:1'],
    tree: { limits: {} },
  },
  {
    says: 'an alias stands for what its anchor names',
    text: limits('  a: &x { n: 1 }\n  b: *x\n  c: [*x, *x]\n'),
    tree: { limits: { a: { n: 1 }, b: { n: 1 }, c: [{ n: 1 }, { n: 1 }] } },
  },
  {
    says: 'an alias stands for the last anchor before it, copies included',
    text: limits('  a: &x 1\n  b: &y [*x]\n  c: &x 2\n  d: *y\n  e: *x\n'),
    tree: { limits: { a: 1, b: [1], c: 2, d: [1], e: 2 } },
  },
  { says: 'an alias may be a key', text: limits('  a: &x word\n  *x : 2\n'), tree: { limits: { a: 'word', word: 2 } } },
  {
    says: 'an alias without an anchor is a finding',
    text: limits('  a: *x\n  b: &x 1\n'),
    findings: ['alias 2:6'],
    tree: { limits: { a: null, b: 1 } },
  },
  {
    says: 'an alias inside its own anchor is a finding',
    text: limits('  a: &x { b: *x, c: [*x] }\n'),
    findings: ['alias 2:14', 'alias 2:22'],
    tree: { limits: { a: { b: null, c: [null] } } },
  },
  {
    says: 'a merge key is a finding',
    text: limits('  a: &x { n: 1 }\n  b: { <<: *x }\n'),
    findings: ['merge-key 3:8'],
    tree: { limits: { a: { n: 1 }, b: {} } },
  },
  {
    says: 'a number that is not finite is a finding',
    text: limits('  a: .nan\n  b: -.inf\n  c: 1e999\n'),
    findings: ['number-not-finite 2:6', 'number-not-finite 3:6', 'number-not-finite 4:6'],
    tree: { limits: { a: null, b: null, c: null } },
  },
  {
    says: 'an integer that a double does not keep is a finding',
    text: limits('  a: 9007199254740993\n  b: 9007199254740992\n  c: -9223372036854775807\n  d: 1e300\n  e: 0x20000000000001\n'),
    findings: ['number-inexact 2:6', 'number-inexact 4:6', 'number-inexact 6:6'],
  },
  {
    says: 'a second YAML document is a finding',
    text: '---\nlimits: none\n---\nevents: none\n---\n',
    findings: ['many-documents 3:1'],
    tree: { limits: 'none' },
  },
  {
    says: 'text that is no YAML is a finding with its place, and what is whole stays',
    text: limits('  a: 1\n  b: [1, 2\n  c: d: e\n'),
    findings: ['yaml-syntax 4:3', 'yaml-syntax 4:6'],
  },
  { says: 'a tab as indentation is a finding', text: 'limits:\n\ta: 1\n', findings: ['yaml-syntax 2:1', 'unknown-part 2:2'] },
  {
    says: 'prototype words are plain keys',
    text: 'limits: { __proto__: { x: 1 }, constructor: 2, toString: 3 }\n',
    tree: JSON.parse('{"limits":{"__proto__":{"x":1},"constructor":2,"toString":3}}'),
  },
  {
    says: 'nesting beyond the bound is a finding',
    text: limits(`  a: ${'['.repeat(100)}`),
    findings: ['too-deep 2:72'],
    tree: {},
  },
  {
    says: 'nesting beyond a smaller bound is a finding where it begins',
    text: limits('  a: { b: [ { c: 1 } ] }\n'),
    bounds: { depth: 4 },
    findings: ['too-deep 2:13'],
  },
  {
    says: 'values beyond the bound are one finding',
    text: limits('  a: [1, 2, 3]\n  b: 4\n'),
    bounds: { values: 5 },
    findings: ['too-many-values 2:13'],
  },
  {
    says: 'a text of more tokens than the bound is a finding',
    text: limits('  a: [1, 2, 3]\n'),
    bounds: { tokens: 8 },
    findings: ['too-many-values 2:5'],
  },
  {
    says: 'aliases of aliases are bounded',
    text: limits(
      `  a: &a [x, x, x, x, x, x, x, x, x]\n${[...'bcdefghi'].map((name, index) => `  ${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]\n`).join('')}`,
    ),
    findings: ['too-many-copies 2:31'],
  },
  {
    says: 'lines may end in CR LF and begin after a byte order mark',
    text: '\uFEFFlimits:\r\n  a: 1\r\n  a: 2\r\n',
    findings: ['duplicate-key 3:3'],
    tree: { limits: { a: 1 } },
  },
  { says: 'a NUL is a finding', text: 'limits: { a: "x\0y" }\n', findings: ['control-character 1:16'] },
  {
    says: 'findings beyond the bound are counted as one',
    text: limits(Array(9).fill('  a: 1\n').join('')),
    bounds: { findings: 3 },
    findings: ['duplicate-key 3:3', 'duplicate-key 4:3', 'duplicate-key 5:3', 'too-many-findings 6:3'],
  },
];

for (const reading of readings) {
  test(`YAML: ${reading.says}`, () => {
    const { tree, findings } = outcome(read({ file: 'service.yaml', ...reading }));
    assert.deepEqual(findings, reading.findings ?? []);
    if (reading.tree !== undefined) assert.deepEqual(tree, reading.tree);
  });
}

test('YAML: a duplicate key shows the first one too', () => {
  const [finding] = read({ file: 'service.yaml', text: 'limits: { a: 1, a: 2 }' }).findings;
  assert.deepEqual(
    finding?.also?.map(({ place }) => place.column),
    [11],
  );
});

test('YAML: maps have no prototype', () => {
  const { tree } = read({ file: 'service.yaml', text: 'limits: { a: { b: [{ c: 1 }] }, q: !open }' });
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) assert.equal(Object.getPrototypeOf(value), null);
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(tree);
});
