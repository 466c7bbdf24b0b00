import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { fromForeign } from '../src/convert/foreign.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { check, readDocument, Unreadable } from '../src/index.ts';
import { isKey } from '../src/parts/form.ts';
import { isLong, times } from './long.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-import-'));
after(() => rmSync(folder, { recursive: true, force: true }));

function files(texts: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

const api = (schema: string) => `openapi: 3.1.0
info: { title: T, version: '1' }
components:
  schemas:
    pet:
      type: object
      properties:
        owner: ${schema}
`;

test('a document over several folders is one, and each place is in its own file', async () => {
  files({
    'split/spec/api.yaml': api("{ $ref: '../common/owner.yaml#/Owner' }"),
    'split/common/owner.yaml':
      "Owner:\n  type: object\n  properties:\n    pet: { $ref: '../spec/api.yaml#/components/schemas/pet' }\n    kind: { $ref: '#/Kind' }\nKind: { type: string, default: 7 }\n",
  });
  const document = await readDocument(join(folder, 'split/spec/api.yaml'));
  const resources = JSON.parse(JSON.stringify(document.tree.resources));
  assert.deepEqual(Object.keys(resources), ['pet', 'Owner', 'pet_2', 'Kind']);
  assert.equal(resources.pet.fields.owner, 'Owner');
  assert.equal(resources.Owner.fields.kind, 'Kind');
  const [finding] = check(document).findings;
  assert.equal(finding?.code, 'import/contradiction');
  assert.ok(finding?.place.file.endsWith('common/owner.yaml'));
  assert.equal(finding?.place.line, 6);
});

test('a reference leads no further than the folder above, and never to another machine', async () => {
  for (const ref of ['../../outside.yaml#/x', '/etc/hosts', 'https://api.example/x.yaml', '../common/none.yaml#/x']) {
    files({ 'held/spec/api.yaml': api(`{ $ref: '${ref}' }`) });
    const { findings } = await readDocument(join(folder, 'held/spec/api.yaml'));
    assert.match(
      findings.map(({ code }) => code).join(' '),
      /^document\/ref-(?:outside|unreadable) import\/ref-unresolved$/,
      ref,
    );
  }
});

test('a file in gzip is read, and shows its lines', async () => {
  files({ 'api.yaml.gz': gzipSync(api('{ type: text }')) });
  const [finding] = (await readDocument(join(folder, 'api.yaml.gz'))).findings;
  assert.equal(finding?.place.line, 8);
});

test('a file that only looks like gzip, or unpacks to more than is read, cannot be read', async () => {
  files({ 'broken.json.gz': Uint8Array.of(0x1f, 0x8b, 0, 1, 2), 'bomb.json.gz': gzipSync(Buffer.alloc(65 * 1024 * 1024)) });
  await assert.rejects(readDocument(join(folder, 'broken.json.gz')), Unreadable);
  await assert.rejects(readDocument(join(folder, 'bomb.json.gz')), Unreadable);
});

test('a document of this language that speaks of OpenAPI is read as its own', async () => {
  files({ 'own.yaml': 'title: Own\npurpose:\n  purpose: |\n    openapi: not at all\n' });
  const { title, findings } = await readDocument(join(folder, 'own.yaml'));
  assert.deepEqual([title, findings], ['Own', []]);
});

test('anchors, aliases and merge keys of YAML are followed, within bounds', async () => {
  files({
    'merged.yaml': `openapi: 3.1.0
components:
  schemas:
    base: &base { type: object, properties: { id: &id { type: string, format: uuid } } }
    pet:
      <<: *base
      required: [id]
    tag: *id
`,
  });
  const { tree, findings } = await readDocument(join(folder, 'merged.yaml'));
  assert.deepEqual(findings, []);
  const { pet, tag } = JSON.parse(JSON.stringify(tree.resources));
  assert.deepEqual(
    [pet.fields, pet.required, tag],
    [{ id: { type: 'string', format: 'uuid' } }, ['id'], { shape: { type: 'string', format: 'uuid' } }],
  );
});

test('a text that is no whole JSON or YAML is read as far as it goes, with findings', async () => {
  files({
    'cut.json': '{ "openapi": "3.1.0", "paths": { "/a": { "get": {} } }, "x": ',
    'twice.yaml': 'openapi: 3.1.0\npaths: {}\npaths: {}\n',
  });
  assert.deepEqual(
    (await readDocument(join(folder, 'cut.json'))).findings.map(({ code }) => code),
    ['document/json-syntax'],
  );
  assert.deepEqual(
    (await readDocument(join(folder, 'twice.yaml'))).findings.map(({ code }) => code),
    ['document/duplicate-key'],
  );
});

test('files are read however many there are, each of them leading to the next, up to a bound that is told', () => {
  const count = times(200, 10_050);
  const bounds = isLong ? {} : { files: 150 };
  const text = (file: number) => JSON.stringify({ type: 'object', properties: { next: { $ref: `./f${file + 1}.json` } } });
  const other = (path: string) => text(Number(/\d+/.exec(path)?.[0]));
  const root = {
    openapi: '3.1.0',
    info: { title: 'T', version: '1' },
    components: { schemas: { first: { $ref: './f0.json' } } },
  };
  const read = (more: object) =>
    parseDocument(JSON.stringify(root), 'api.json', {
      isKey,
      foreign: fromForeign,
      other: (path: string) => (Number(/\d+/.exec(path)?.[0]) < count ? other(path) : '{"type":"string"}'),
      ...more,
    });
  const { findings, tree } = read({ bounds });
  assert.ok(findings.some(({ code }) => code === 'document/include-bound'));
  assert.ok(Object.keys(tree.resources as object).length >= (isLong ? 9_000 : 150));
  if (!isLong) assert.deepEqual(read({}).findings, []);
});
