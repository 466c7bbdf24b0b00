import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ImportCache } from '../src/cli/import-cache.ts';
import { readDocument } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'ninefold-import-cache-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const cache = new ImportCache({ XDG_CACHE_HOME: join(folder, 'cache') });

for (const [what, schema, isKept] of [
  ['stands in one file', '{ type: object }', true],
  ['refers to a file that is not there yet', '{ $ref: "later.yaml#/jar" }', false],
  ['refers to a file outside its folder', '{ $ref: "../../../later.yaml#/jar" }', false],
] as const) {
  test(`a description that ${what} is ${isKept ? '' : 'not '}kept`, async () => {
    const path = join(folder, `${isKept}.yaml`);
    writeFileSync(
      path,
      `openapi: 3.1.0\ninfo: { title: Jars, version: "1" }\npaths: {}\ncomponents: { schemas: { jar: ${schema} } }\n`,
    );
    const document = await readDocument(path);
    const content = readFileSync(path);
    cache.keep(content, path, document);
    const found = cache.find(content, path, () => document);
    assert.equal(JSON.stringify(found?.tree), isKept ? JSON.stringify(document.tree) : undefined);
  });
}
