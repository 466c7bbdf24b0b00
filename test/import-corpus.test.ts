import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { check } from '../src/check/check.ts';
import { importForeign } from '../src/convert/foreign.ts';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import { writeYaml } from '../src/convert/nine-parts/yaml.ts';
import type { Imported } from '../src/convert/openapi/import.ts';
import type { JsonMap } from '../src/document/document.ts';
import { foreignBounds, parseDocument } from '../src/document/read/parse.ts';
import { readDocument } from '../src/document/read/read.ts';
import { isKey } from '../src/parts/form.ts';
import { unsaid } from './import/walk.ts';
import { isWhole } from './long.ts';

/** The excerpts, or the vendors' whole documents where the variable names their folder. */
const corpus = process.env.NINEFOLD_CORPUS ?? join(import.meta.dirname, 'fixtures/corpus');
const files = globSync('**/*.{json,yaml,yml,json.gz,yaml.gz,yml.gz}', { cwd: corpus }).filter(isTried).sort();

for (const file of files) {
  test(`${file}: every stated fact is said at its place, and what is written reads back the same`, async () => {
    const taken = await take(join(corpus, file));
    assert.ok(taken);
    const { imported, source } = taken;
    const { document } = imported;
    const errors = check({ ...document, isTaken: true }).findings.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      errors.map(({ code, message }) => `${code} ${message}`),
      [],
    );
    assert.deepEqual(unsaid(imported, source), []);
    const texts = [
      ['service.yaml', writeYaml(document)],
      ['service.md', writeMarkdown(document)],
    ] as const;
    for (const [name, text] of texts) {
      const back = parseDocument(text, name, { isKey, bounds: foreignBounds });
      assert.deepEqual(plain(back.tree), plain(document.tree), name);
      assert.equal(back.title, document.title);
    }
  });
}

/** Whether a file is a whole document of a format that is known, and not one that such a document refers to; the long ones where all is tried. */
function isTried(file: string): boolean {
  const bytes = readFileSync(join(corpus, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return (isWhole || text.length < 400_000) && /^\s*["']?(?:openapi|swagger|asyncapi|\$schema)["']?\s*:/m.test(text);
}

async function take(path: string): Promise<{ readonly imported: Imported; readonly source: JsonMap } | undefined> {
  let taken: { readonly imported: Imported; readonly source: JsonMap } | undefined;
  await readDocument(path, {
    isKey,
    foreign(foreign) {
      const imported = importForeign(foreign);
      taken = imported && { imported, source: foreign.value };
      return imported?.document;
    },
  });
  return taken;
}

function plain(tree: JsonMap): unknown {
  return JSON.parse(JSON.stringify(tree));
}
