import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { main } from '../src/cli.ts';
import { readDocument } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-import-cli-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const pets = join(folder, 'pets.json');
writeFileSync(
  pets,
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Pets', version: '1' },
    paths: {
      '/pets/{id}': {
        get: {
          tags: ['pets'],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: { description: 'One pet.', content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } },
          },
        },
      },
    },
    components: {
      schemas: { Pet: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } }, required: ['id'] } },
    },
  }),
);

async function run(...words: string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const said = { out: '', err: '' };
  const code = await main(words, {
    isTTY: false,
    columns: 100,
    colour: false,
    write: (text) => {
      said.out += text;
    },
    complain: (text) => {
      said.err += text;
    },
  });
  return { code, ...said };
}

test('import writes Markdown, or YAML where that is asked for, and both read back as the document', async () => {
  const { tree } = await readDocument(pets);
  for (const [words, name] of [
    [[], 'pets.md'],
    [['--to', 'yaml'], 'pets.yaml'],
  ] as const) {
    const { code, out, err } = await run('import', pets, ...words);
    assert.deepEqual([code, err], [0, '']);
    writeFileSync(join(folder, name), out);
    assert.deepEqual(JSON.parse(JSON.stringify((await readDocument(join(folder, name))).tree)), JSON.parse(JSON.stringify(tree)));
  }
});

test('the name of the output says the format', async () => {
  const output = join(folder, 'out.yml');
  assert.deepEqual(await run('import', pets, '-o', output), { code: 0, out: '', err: '' });
  assert.match(readFileSync(output, 'utf8'), /^title: Pets\n\nresources:\n/);
});

test('the report says what was taken, inferred, left open and not carried', async () => {
  const { out } = await run('import', pets, '--report');
  const rows = [...out.matchAll(/^ +([\d,]+) {2}(.*)$/gm)].map(([, count, what]) => `${count} ${what}`);
  for (const row of [
    '7 values that the source states',
    '1 identifier  0.95',
    '1 get-one-reads  0.95',
    '1 tags  /paths/~1pets~1{id}/get/tags',
    '1 version  /info/version',
  ]) {
    assert.ok(rows.includes(row), `${row}\n${out}`);
  }
  const report = JSON.parse((await run('import', pets, '--json')).out);
  assert.deepEqual(Object.keys(report), ['taken', 'inferred', 'open', 'notCarried']);
  assert.deepEqual(
    report.notCarried.find(({ what }: { what: string }) => what === 'tags'),
    { what: 'tags', count: 1, at: ['/paths/~1pets~1{id}/get/tags'] },
  );
  assert.deepEqual(report.inferred[0], {
    fact: '/resources/Pet/identifier',
    rule: 'identifier',
    from: '/components/schemas/Pet/properties/id',
    confidence: 0.95,
  });
});

test('findings of the source are told beside what is written, and do not stop it', async () => {
  const odd = join(folder, 'odd.json');
  writeFileSync(odd, '{ "openapi": "3.1.0", "components": { "schemas": { "A": { "type": "text" } } } }');
  const { code, out, err } = await run('import', odd, '--to', 'yaml');
  assert.deepEqual([code, out], [0, 'resources: { A: { shape: {} } }\n']);
  assert.equal(err, `1 finding in ${odd}: ninefold check ${odd} shows each at its place.\n`);
});

const misuses: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [['import', join(folder, 'none.json')], /none\.json cannot be read: there is no such file\./],
  [['import', join(import.meta.dirname, '../examples/parcels.md')], /is no document of OpenAPI or AsyncAPI/],
  [['import', pets, '--to', 'ymal'], /--to ymal: no such format\. Did you mean yaml\?/],
  [['import', pets, '-o', join(folder, 'no/such/folder.md')], /cannot be written/],
];

for (const [words, says] of misuses) {
  test(`ninefold ${words.slice(0, 1).join(' ')} … ${words.at(-1)?.replace(folder, '')} is refused with what is wrong`, async () => {
    const { code, err } = await run(...words);
    assert.equal(code, 2);
    assert.match(err, says);
  });
}

test('check shows findings at the lines of the source, and other verbs take it too', async () => {
  const odd = join(folder, 'lines.yaml');
  writeFileSync(
    odd,
    'openapi: 3.1.0\ninfo: { title: Lines, version: "1" }\ncomponents:\n  schemas:\n    A: { type: object, properties: { a: { type: text } } }\n',
  );
  const { code, out } = await run('check', odd);
  assert.equal(code, 0);
  assert.match(out, /warning\[import\/invalid\][^\n]*\n +--> [^\n]*lines\.yaml:5:49\n/);
  assert.match((await run('export', pets, '--to', 'typescript')).out, /export type Pet = /);
});
