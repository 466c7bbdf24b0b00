import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import { foreignBounds, parseDocument } from '../src/document/read/parse.ts';
import { readDocument } from '../src/document/read/read.ts';
import { entriesOf } from '../src/parts/fact.ts';
import { isKey } from '../src/parts/form.ts';
import type { Spec } from '../src/parts/spec.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';
import { share } from './long.ts';
import { editions, exported } from './openapi/harness.ts';

/**
 * Documents of others on the whole way: checked, taken over, given back and served, without an error that stops. The excerpts, or the
 * vendors' whole documents where the variable names their folder.
 */
const corpus = process.env.NINEFOLD_CORPUS ?? join(import.meta.dirname, 'fixtures/corpus');
const files = globSync('**/*.{json,yaml,yml,json.gz,yaml.gz,yml.gz}', { cwd: corpus }).filter(isTried).sort();
/** So many operations of each are asked, spread over the document. */
const askedMost = 24;

test('there are documents to try', () => {
  assert.ok(files.length > 20, corpus);
});

for (const file of share(files, 2)) {
  test(`${file} is checked, taken over, given back and served`, async () => {
    const document = await readDocument(join(corpus, file), { isKey, foreign: fromForeign });
    const { spec, findings } = check(document);
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code} ${message}`);
    assert.deepEqual(errors, []);
    const imported = check(parseDocument(writeMarkdown(spec.document), 'imported.md', { isKey, bounds: foreignBounds }));
    assert.ok(imported.sound);
    for (const to of Object.keys(editions)) assert.ok(exported(spec.document, to).info, to);
    assert.deepEqual(await brokenAnswers(imported.spec), []);
  });
}

/** The operations that a stand-in answers by a failure of its own. */
async function brokenAnswers(spec: Spec): Promise<string[]> {
  const failures: unknown[] = [];
  const service = await serveSpec(spec, { sample: true, relax: 'auth', onFailure: (failure) => failures.push(failure) });
  const all = entriesOf(spec.endpoints.all);
  const step = Math.max(1, Math.ceil(all.length / askedMost));
  const broken: string[] = [];
  try {
    for (const [key, { method, path }] of all.filter((_, index) => index % step === 0)) {
      const sends = method !== 'GET' && method !== 'HEAD' && { body: '{}' };
      const url = `http://127.0.0.1${service.basePath}${path.replaceAll(/\{[^{}]+\}/g, '1')}`;
      const headers = { authorization: 'Bearer one', 'content-type': 'application/json' };
      const answer = await service.fetch(new Request(url, { method, headers, ...sends }));
      const text = await answer.text();
      if (answer.status === 500) broken.push(`${key} ${text.slice(0, 200)}`);
    }
    return [...broken, ...failures.map(String)];
  } finally {
    await service.close();
  }
}

/** Whether a file is a whole description of an interface that answers, and not one that such a description refers to. */
function isTried(file: string): boolean {
  const bytes = readFileSync(join(corpus, file));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return /^\s*["']?(?:openapi|swagger|asyncapi)["']?\s*:/m.test(text.slice(0, 20_000)) || /^\{"(?:openapi|swagger)":/.test(text);
}
