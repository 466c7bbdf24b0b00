import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { check } from '../src/check/check.ts';
import { fromForeign } from '../src/convert/foreign.ts';
import { writeMarkdown } from '../src/convert/nine-parts/markdown.ts';
import { toOpenApi } from '../src/convert/openapi.ts';
import type { Document } from '../src/document/document.ts';
import { parseDocument } from '../src/document/read/parse.ts';
import { entriesOf } from '../src/parts/fact.ts';
import { isKey } from '../src/parts/form.ts';
import type { Spec } from '../src/parts/spec.ts';
import { serveSpec } from '../src/serve/service/serve-spec.ts';

const folder = join(import.meta.dirname, 'fixtures/foreign');
const read = (text: string, file: string): Document => parseDocument(text, file, { isKey, foreign: fromForeign });
const named = (name: string): Document => read(readFileSync(join(folder, `${name}.yaml`), 'utf8'), `${name}.yaml`);
const errorsIn = (document: Document): string[] =>
  check(document).findings.flatMap(({ code, severity, message }) => (severity === 'error' ? [`${code} ${message}`] : []));

/** The statuses of one request to each operation: its parameters in the path are all 1. */
async function statuses(spec: Spec, body = '{}'): Promise<Record<string, number>> {
  const service = await serveSpec(spec, { sample: true, strict: true });
  try {
    const told: Record<string, number> = {};
    for (const [key, { method, path }] of entriesOf(spec.endpoints.all)) {
      const sends = method !== 'GET' && { body, headers: { 'content-type': 'application/json' } };
      const url = `http://127.0.0.1${service.basePath}${path.replaceAll(/\{[^{}]+\}/g, '1')}`;
      const answer = await service.fetch(new Request(url, { method, ...sends }));
      told[key] = answer.status;
      await answer.body?.cancel();
    }
    return told;
  } finally {
    await service.close();
  }
}

for (const file of globSync('*.yaml', { cwd: folder }).sort()) {
  test(`${basename(file)} is checked and served, and so is its import, which gives the same OpenAPI`, async () => {
    const source = named(basename(file, '.yaml'));
    const { spec, sound } = check(source);
    assert.ok(sound, errorsIn(source).join('\n'));
    const imported = read(writeMarkdown(spec.document), 'imported.md');
    assert.deepEqual(errorsIn(imported), []);
    const again = check(imported).spec;
    assert.deepEqual(Object.keys(toOpenApi(again).paths as object), Object.keys(toOpenApi(spec).paths as object));
    const answers = await statuses(spec);
    assert.deepEqual(await statuses(again), answers);
    assert.ok(!Object.values(answers).includes(500), JSON.stringify(answers));
  });
}

test('what stands beside a reference counts since 3.1, also for members that nothing else speaks of', async () => {
  const { spec } = check(named('uneval'));
  assert.deepEqual(await statuses(spec, '{"bar":"a","foo":"b"}'), { 'POST /v': 204 });
  assert.deepEqual(await statuses(spec, '{"other":1}'), { 'POST /v': 400 });
});

test('a member that is false is never there', async () => {
  const { spec } = check(named('boolprop'));
  assert.deepEqual(await statuses(spec, '{"foo":"b"}'), { 'POST /v': 204 });
  assert.deepEqual(await statuses(spec, '{"old":1}'), { 'POST /v': 400 });
});

test('a reference in the place of an operation is followed, and found', () => {
  const { spec, findings } = check(named('opref'));
  assert.equal(entriesOf(spec.endpoints.all)[0]?.[1].operation, 'listThings');
  assert.deepEqual(
    findings.map(({ code, place }) => `${code} ${place.line}`),
    ['import/invalid 5'],
  );
});

test('servers that are a map are told to be none of OpenAPI', () => {
  const source = { openapi: '3.0.3', info: { title: 'S', version: '1' }, servers: { url: 'https://a.example' }, paths: {} };
  const { findings } = read(JSON.stringify(source), 'api.json');
  assert.deepEqual(
    findings.map(({ message }) => message),
    ['`servers` is a list of maps, each with its `url`.'],
  );
});
