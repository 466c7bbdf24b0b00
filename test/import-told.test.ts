import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { importForeign } from '../src/convert/foreign.ts';
import type { Imported } from '../src/convert/openapi/import.ts';
import { reportOfImport } from '../src/convert/openapi/report.ts';
import type { Json, JsonMap } from '../src/document/document.ts';
import { below } from '../src/document/pointer.ts';
import { readDocument } from '../src/document/read/read.ts';
import { isMap } from '../src/document/values.ts';
import { isKey } from '../src/parts/form.ts';
import { isLong } from './long.ts';

/**
 * What a source says is carried, or listed as not carried: each text and each number of it, keyword by keyword, is looked for in what comes out, by
 * its value alone and not by what the reader says that it took.
 */
const corpus = process.env.NINEFOLD_CORPUS ?? join(import.meta.dirname, 'fixtures/corpus');
const files = globSync('**/*.{json,yaml,yml,json.gz,yaml.gz,yml.gz}', { cwd: corpus }).filter(isTried).sort();

for (const file of files) {
  test(`${file}: each text and number is carried or listed`, async () => {
    const taken = await take(join(corpus, file));
    assert.ok(taken);
    const lost = lostOf(taken.imported, taken.source);
    assert.deepEqual(lost.slice(0, 20), [], `${lost.length} in all`);
  });
}

function lostOf(imported: Imported, source: JsonMap): string[] {
  const listed = new Set(reportOfImport(imported, Number.POSITIVE_INFINITY).notCarried.flatMap(({ at }) => at));
  const { tree, prose } = imported.document;
  const whole = JSON.stringify([imported.document.title, tree, [...prose]]);
  const lost: string[] = [];
  const visit = (value: Json, at: string, key: string): void => {
    if (listed.has(at)) return;
    if (Array.isArray(value)) for (const [index, item] of value.entries()) visit(item, below(at, index), key);
    else if (isMap(value)) {
      // What a body is called in Swagger 2.0 nobody sends.
      const isBody = value.in === 'body';
      for (const [name, inner] of Object.entries(value)) if (!(isBody && name === 'name')) visit(inner, below(at, name), name);
    } else if (!isThere(value, key, whole)) lost.push(`${key} ${at} ${JSON.stringify(value).slice(0, 80)}`);
  };
  visit(source, '', '');
  return lost;
}

/** What is said in other words: references, places of parameters, flows of OAuth, addresses with variables, and JSON where nothing else is said. */
function isThere(value: Json, key: string, whole: string): boolean {
  if (key === '$ref' || key === 'in' || key === 'flow' || (key === 'url' && String(value).includes('{'))) return true;
  if ((key === 'consumes' || key === 'produces') && value === 'application/json') return true;
  if (typeof value === 'number') return whole.includes(JSON.stringify(value));
  if (typeof value !== 'string' || value.length < 8) return true;
  // An address says the same with the stroke at its end and without it.
  const said = key === 'url' ? value.trim().replace(/\/$/, '') : value.trim();
  return whole.includes(JSON.stringify(said).slice(1, -1));
}

/** Whether a file is a whole document of a format that is known, and not one that such a document refers to; the long ones in the long run. */
function isTried(file: string): boolean {
  const bytes = readFileSync(join(corpus, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return (isLong || text.length < 400_000) && /^\s*["']?(?:openapi|swagger)["']?\s*:/m.test(text);
}

async function take(path: string): Promise<{ readonly imported: Imported; readonly source: JsonMap } | undefined> {
  let taken: { readonly imported: Imported; readonly source: JsonMap } | undefined;
  await readDocument(path, {
    isKey,
    foreign(foreign) {
      const imported = importForeign(foreign, true);
      taken = imported && { imported, source: foreign.value };
      return imported?.document;
    },
  });
  return taken;
}
