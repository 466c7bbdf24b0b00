import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { includePath } from '../src/document/foreign/files.ts';
import { formOf, parseDocument } from '../src/document/read/parse.ts';
import { readDocument, Unreadable } from '../src/document/read/read.ts';
import { outcome } from './fixtures/document/reading.ts';

interface Folder {
  readonly says: string;
  readonly root?: string;
  readonly files: Readonly<Record<string, string>>;
  /** From each link to what it points at. */
  readonly links?: Readonly<Record<string, string>>;
  readonly tree?: unknown;
  readonly findings?: readonly string[];
}

const chain = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`doc/${index}.yaml`, `include: [${index + 1}.yaml]`]));
const many = Array.from({ length: 70 }, (_, index) => `${index}.yaml`);

const folders: readonly Folder[] = [
  {
    says: 'a document merges what it includes',
    files: {
      'doc/a.yaml': 'title: A\ninclude: [parts/b.md, c.json]\nlimits: { a: 1 }',
      'doc/parts/b.md': '# B\n\n```yaml\ninclude: [../c.json]\n```\n\n## Limits\n\n```yaml\nb: 2\n```\n',
      'doc/c.json': '{ "limits": { "c": 3 } }',
    },
    tree: { limits: { a: 1, b: 2, c: 3 } },
  },
  {
    says: 'the same fact in two files is a finding',
    files: { 'doc/a.yaml': 'include: [b.yaml]\nlimits: { a: 1 }', 'doc/b.yaml': 'limits: { a: 1 }' },
    findings: ['stated-twice b.yaml:1:14'],
  },
  {
    says: 'a missing file and a folder are findings',
    files: { 'doc/a.yaml': 'include:\n  - b.yaml\n  - c', 'doc/c/d.yaml': '' },
    findings: ['include-unreadable 2:5', 'include-unreadable 3:5'],
  },
  {
    says: 'paths out of the folder are findings',
    files: {
      'doc/a.yaml': 'include: [../b.yaml, /etc/passwd, "https://a.example/b.yaml", "c/../../b.yaml", "..\\\\b.yaml"]',
      'b.yaml': 'limits: none',
    },
    findings: [
      'include-outside 1:11',
      'include-outside 1:22',
      'include-outside 1:35',
      'include-outside 1:63',
      'include-outside 1:81',
    ],
    tree: {},
  },
  {
    says: 'a link out of the folder is a finding and a link inside is not',
    files: { 'doc/a.yaml': 'include: [b.yaml, c/d.yaml, e.yaml]', 'out/d.yaml': 'limits: none', 'doc/f.yaml': 'events: none' },
    links: { 'doc/b.yaml': 'out/d.yaml', 'doc/c': 'out', 'doc/e.yaml': 'doc/f.yaml' },
    findings: ['include-outside 1:11', 'include-outside 1:19'],
    tree: { events: 'none' },
  },
  {
    says: 'a cycle is a finding',
    files: {
      'doc/a.yaml': 'include: [b.yaml]',
      'doc/b.yaml': 'include: [c/c.yaml]',
      'doc/c/c.yaml': 'include: [../b.yaml, c.yaml]\nlimits: none',
    },
    findings: ['include-cycle c/c.yaml:1:11', 'include-cycle c/c.yaml:1:22'],
    tree: { limits: 'none' },
  },
  { says: 'includes are bounded in depth', root: 'doc/0.yaml', files: chain, findings: ['include-bound 8.yaml:1:11'] },
  {
    says: 'includes are bounded in number',
    files: { 'doc/a.yaml': `include: [${many.join(', ')}]`, ...Object.fromEntries(many.map((name) => [`doc/${name}`, ''])) },
    findings: Array.from({ length: 7 }, (_, index) => `include-bound 1:${11 + many.slice(0, 63 + index).join(', ').length + 2}`),
  },
];

for (const { says, root = 'doc/a.yaml', files, links = {}, tree, findings = [] } of folders) {
  test(`reading: ${says}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'document-'));
    t.after(() => rm(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(folder, dirname(name)), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    for (const [name, to] of Object.entries(links)) await symlink(join(folder, to), join(folder, name));
    const document = await readDocument(join(folder, root), { isKey: () => true });
    const out = outcome(document);
    assert.deepEqual(
      out.findings.map((finding) => finding.replace(`${join(folder, 'doc')}/`, '')),
      findings,
    );
    if (tree !== undefined) assert.deepEqual(out.tree, tree);
    for (const { place } of document.findings) assert.ok(document.sources.has(place.file));
  });
}

test('reading: a file that is not there, or a folder, is Unreadable', async () => {
  for (const path of [join(tmpdir(), 'no-such-folder', 'a.md'), tmpdir()]) {
    await assert.rejects(
      readDocument(path, { isKey: () => true }),
      (error) => error instanceof Unreadable && error.message.includes(path),
    );
  }
});

test('reading: a file beyond the bound is a finding', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'document-'));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'a.yaml'), 'limits: { a: 1 }\ninclude: [b.yaml]\n');
  const { findings } = await readDocument(join(folder, 'a.yaml'), { isKey: () => true, bounds: { bytes: 20 } });
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['document/too-large'],
  );
});

const paths: readonly [string, string, string | undefined][] = [
  ['a.md', 'b.md', 'b.md'],
  ['a/b.md', './c//d.md', 'a/c/d.md'],
  ['a/b.md', '../c.md', 'c.md'],
  ['a/b.md', '../../c.md', undefined],
  ['a.md', 'b/../..', undefined],
  ['a.md', 'C:/x', undefined],
  ['a.md', '//host/x', undefined],
  ['a.md', '.', undefined],
  ['a.md', '', undefined],
];
for (const [from, path, to] of paths) {
  test(`reading: ${from} includes ${path || 'nothing'} as ${to}`, () => assert.equal(includePath(from, path), to));
}

const forms: readonly [string, string, string][] = [
  ['a.MD', '{}', 'markdown'],
  ['a.txt', 'title: x', 'markdown'],
  ['a.yml', '# x', 'yaml'],
  ['a.json', '', 'json'],
  ['a', ' {}', 'json'],
  ['folder.md/a', 'title: x', 'yaml'],
  ['a.doc', 'Text\n\n## Limits\n', 'markdown'],
  ['a.doc', '# a comment\nlimits: none\n', 'yaml'],
];
for (const [file, text, form] of forms)
  test(`reading: ${file} with ${JSON.stringify(text)} is ${form}`, () => assert.equal(formOf(file, text), form));

test('a text that is no document is told so once', () => {
  const license =
    'A Licence\n\nCopyright (c) somebody\n\nEverything is granted, subject to the following conditions:\n\nNothing at all.\n';
  const { findings } = parseDocument(license, 'LICENSE', { isKey: () => false });
  assert.deepEqual(
    findings.map(({ code, message }) => [code, message]),
    [['document/not-a-map', 'This is no document: no line of it is a heading or begins with a key.']],
  );
  assert.deepEqual(
    parseDocument('limit: none', 'service', { isKey: () => false }).findings.map(({ code }) => code),
    ['document/unknown-part'],
  );
});
