import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Document, JsonMap } from '../src/document/document.ts';
import { valueAt } from '../src/document/source.ts';
import { isMap } from '../src/document/values.ts';
import { check, parseDocument, readDocument } from '../src/index.ts';
import { changedTrees } from './check/changed-trees.ts';
import { times } from './long.ts';
import { editions, exported, flaws, misfits, plain, readBack } from './openapi/harness.ts';
import { withSecondWave } from './openapi/second-wave.ts';
import { generateDocument } from './serving/generated-document.ts';
import { strangeDocument } from './strange/document.ts';
import { textOf } from './strange/hold.ts';

const root = join(import.meta.dirname, '..');
const examples = readdirSync(join(root, 'examples')).filter((name) => /\.(?:md|yaml)$/.test(name));

/** What OpenAPI reads back otherwise, by example: whole trees of paths, children that a row always has, and a media type that stands at `defaults`. */
const carried: Readonly<Record<string, readonly string[]>> = {
  'depot.md': ['required'],
  'issues.md': ['under'],
  'payments.md': ['consumes', 'required'],
  'trains.md': ['required'],
  'wholesale.md': ['required'],
};

for (const name of examples) {
  suite(`examples/${name}`, async () => {
    const document = await readDocument(join(root, 'examples', name));
    for (const to of Object.keys(editions)) {
      const openapi = exported(document, to);
      test(`is valid as ${to}`, async () => {
        assert.deepEqual(await flaws(openapi), []);
      });
      test(`is read back from ${to} as the same tree, its endpoints and fields in the same order`, () => {
        const back = readBack(openapi);
        assert.deepEqual(back, plain(document.tree));
        assert.deepEqual(keysOf(back), keysOf(plain(document.tree)));
      });
    }
    test('carries no statement a second time in its written form', () => {
      const written = valueAt(exported(document), '/x-ninefold/written') ?? [];
      const places = new Set((written as readonly { at: string }[]).map(({ at }) => at.replace(/^.*\//, '')));
      assert.deepEqual([...places].sort(), carried[name] ?? []);
    });
    test('has examples that fit their schemas', () => {
      assert.deepEqual(misfits(exported(document)), []);
    });
  });
}

test('an example shows what is there after the operation: no price before it is bought, no reason before it is returned', async () => {
  const openapi = exported(await readDocument(join(root, 'examples/parcels.md')));
  const shown = (path: string, status: string) => {
    const example = valueAt(openapi, `/paths/${path}/post/responses/${status}/content/application~1json/example`);
    return isMap(example) ? [example.status, example.price !== undefined, example.reason !== undefined] : [];
  };
  assert.deepEqual(shown('~1parcels', '201'), ['draft', false, false]);
  assert.deepEqual(shown('~1parcels~1{id}~1buy', '200'), ['bought', true, false]);
  assert.deepEqual(shown('~1parcels~1{id}~1return', '200'), ['returned', false, true]);
});

test('the same document is exported as the same text', async () => {
  const document = await readDocument(join(root, 'examples/library.md'));
  for (const to of Object.keys(editions))
    assert.equal(JSON.stringify(exported(document, to)), JSON.stringify(exported(document, to)));
});

/** The keys whose order people choose. */
function keysOf(tree: JsonMap): readonly (readonly string[])[] {
  const resources = valueAt(tree, '/resources');
  const places = [
    '/endpoints',
    '/resources',
    ...Object.keys(isMap(resources) ? resources : {}).map((name) => `/resources/${name}/fields`),
  ];
  return places.map((at) => {
    const value = valueAt(tree, at);
    return isMap(value) ? Object.keys(value) : [];
  });
}

test('whatever document is exported, the export is valid, its examples fit, and it is read back as the same tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.constantFrom(...Object.keys(editions)), async (draw, to) => {
      const document = parseDocument(JSON.stringify(generateDocument(draw).document), 'generated.json');
      const openapi = exported(document, to);
      assert.deepEqual(readBack(openapi), plain(document.tree));
      assert.deepEqual(await flaws(openapi), []);
      if (to === 'openapi') assert.deepEqual(misfits(openapi), []);
    }),
    { numRuns: Number(process.env.NINEFOLD_RUNS ?? times(5, 10)) },
  );
});

test('what is drawn with choices, moved rows, children that changes take, signatures, handshakes and a log is valid and read back as the same tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.constantFrom(...Object.keys(editions)), async (draw, to) => {
      const tree = withSecondWave(draw, plain(generateDocument(draw).document) as JsonMap);
      const document = parseDocument(JSON.stringify(tree), 'generated.json');
      const openapi = exported(document, to);
      assert.deepEqual(readBack(openapi), plain(document.tree));
      assert.deepEqual(await flaws(openapi), []);
    }),
    { numRuns: Number(process.env.NINEFOLD_RUNS ?? times(5, 10)) },
  );
});

test('documents that are drawn from the whole grammar are exported as valid, and read back as the same tree', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), fc.constantFrom(...Object.keys(editions)), async (draw, to) => {
      const document = parseDocument(textOf(strangeDocument(draw).document), 'strange.json');
      const openapi = exported(document, to);
      assert.deepEqual(readBack(openapi), plain(document.tree));
      assert.deepEqual(await flaws(openapi), []);
      if (to === 'openapi') assert.deepEqual(misfits(openapi), []);
    }),
    { numRuns: Number(process.env.NINEFOLD_RUNS ?? times(5, 15)) },
  );
});

test('whatever is changed in a document, as long as it is sound its export is valid and is read back as the same tree', async () => {
  const parcels = await readDocument(join(root, 'examples/parcels.md'));
  let sound = 0;
  await fc.assert(
    fc.asyncProperty(changedTrees(parcels.tree), fc.constantFrom(...Object.keys(editions)), async (tree, to) => {
      const document: Document = { ...parcels, tree };
      if (Object.keys(tree).some((part) => !Object.hasOwn(parcels.tree, part)) || !check(document).sound) return;
      sound += 1;
      const openapi = exported(document, to);
      assert.deepEqual(readBack(openapi), plain(tree));
      assert.deepEqual(await flaws(openapi), []);
    }),
    // What is not changed is sound; of few changes none may be.
    { numRuns: Number(process.env.NINEFOLD_RUNS ?? times(8, 12)) * 2, examples: [[parcels.tree, 'openapi']] },
  );
  assert.ok(sound > 0, 'nothing sound was tried');
});
