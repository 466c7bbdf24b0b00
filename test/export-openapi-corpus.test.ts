import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { check, readDocument } from '../src/index.ts';
import { times } from './long.ts';
import { editions, exported, flaws, plain, readBack } from './openapi/harness.ts';

/**
 * Documents of others, taken over and given back: the excerpts that take no more than a second, or all that lie under the folder
 * that NINEFOLD_CORPUS names.
 */
const { NINEFOLD_CORPUS: corpus } = process.env;
const folder = corpus ?? join(import.meta.dirname, 'fixtures/corpus');
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(?:json|ya?ml)(?:\.gz)?$/.test(path) && isTried(textOf(join(folder, path))))
  .sort();

function textOf(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
}

/** Whether a text is a document of its own, and no piece of another. */
function isTried(text: string): boolean {
  if (corpus === undefined && text.length > times(150_000, 300_000, 600_000)) return false;
  return /^\s*["']?(?:openapi|swagger)["']?\s*:\s*["']?\d/m.test(text) || /^\{"(?:openapi|swagger)":/.test(text);
}

test('there are documents to try', () => {
  assert.ok(files.length > 5, folder);
});

for (const file of files) {
  test(`${file} is given back as OpenAPI that is valid and is read back the same`, async () => {
    const document = await readDocument(join(folder, file));
    assert.ok(check(document).sound);
    for (const to of Object.keys(editions)) {
      const openapi = exported(document, to);
      assert.deepEqual(readBack(openapi), plain(document.tree), to);
      assert.deepEqual(await flaws(openapi), [], to);
    }
  });
}
