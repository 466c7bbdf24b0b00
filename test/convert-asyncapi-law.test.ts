import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { Parser } from '@asyncapi/parser';
import fc from 'fast-check';
import { toAsyncapi } from '../src/convert/asyncapi.ts';
import type { JsonMap } from '../src/document/document.ts';
import { type Document, parseDocument, readDocument } from '../src/index.ts';
import { readSpec } from '../src/parts/spec.ts';
import { generateEvents } from './asyncapi/generated-events.ts';
import { oneOfEach, times } from './long.ts';

/** An export of AsyncAPI, read again, is the document that it was made of; and it is AsyncAPI. */
const root = join(import.meta.dirname, '..');

suite('an example that was exported and is read again is the same', () => {
  for (const file of globSync('examples/*.{md,yaml}', { cwd: root })) {
    test(file, async () => {
      const document = await readDocument(join(root, file));
      const written = exported(document);
      assertSame(readAgain(written), document);
      assert.deepEqual(await errorsOf(written), []);
    });
  }
});

suite("and so is somebody else's document that was imported", () => {
  const files = globSync('test/fixtures/corpus/{asyncapi,museum,oai-examples/v3.1,slack}/**/*.{yml,yaml,json,gz}', { cwd: root });
  const whole = files.filter((file) => !file.includes('common/')).sort();
  for (const file of oneOfEach(whole, (file) => file.split('/')[3] ?? '')) {
    test(file, async () => {
      const document = await readDocument(join(root, file));
      const written = exported(document);
      assertSame(readAgain(written), document);
      assert.deepEqual(await errorsOf(written), []);
    });
  }
});

test('whatever document is exported and read again is the same', () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const document = generated(generateEvents(draw));
      assertSame(readAgain(exported(document)), document);
    }),
    { numRuns: times(40, 40, 60) },
  );
});

test('whatever document is exported is AsyncAPI', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const tree = generateEvents(draw);
      assert.deepEqual(await errorsOf(exported(generated(tree))), [], JSON.stringify(tree));
    }),
    { numRuns: times(1, 4), endOnFailure: true },
  );
});

function generated(tree: JsonMap): Document {
  return parseDocument(JSON.stringify(tree), 'generated.json');
}

function exported(document: Document): string {
  return JSON.stringify(toAsyncapi(readSpec(document)));
}

function readAgain(text: string): Document {
  return parseDocument(text, 'exported.json');
}

function assertSame(actual: Document, expected: Document): void {
  assert.deepEqual(plain(actual.tree), plain(expected.tree));
  assert.equal(actual.title, expected.title);
}

const parser = new Parser();

async function errorsOf(text: string): Promise<string[]> {
  const { diagnostics } = await parser.parse(text);
  return diagnostics.filter(({ severity }) => severity < 2).map(({ message, path }) => `${path.join('/')}: ${message}`);
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
