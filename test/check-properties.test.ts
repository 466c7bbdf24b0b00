import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { check } from '../src/check/check.ts';
import type { Document } from '../src/document/document.ts';
import { changedTrees } from './check/changed-trees.ts';
import { read } from './check/harness.ts';
import { times } from './long.ts';

const parcels = read(readFileSync(join(import.meta.dirname, '../examples/parcels.md'), 'utf8'), 'parcels.md');

test('whatever is changed in a document, checking it gives findings with places', () => {
  fc.assert(
    fc.property(changedTrees(parcels.tree), (tree) => {
      const document: Document = { ...parcels, tree };
      const { findings, ledger } = check(document);
      for (const { place, message, code, remedy } of findings) {
        assert.ok(parcels.sources.has(place.file) && place.line > 0 && place.column > 0, code);
        assert.match(message, /\S[\s\S]*[.?!]$/, code);
        assert.match(remedy ?? '', /[.?!`]$/, code);
      }
      assert.equal(new Set(ledger.facts.map(({ part }) => part)).size > 0, true);
    }),
    { numRuns: times(25, 80) },
  );
});
