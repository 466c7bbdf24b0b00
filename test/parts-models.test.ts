import assert from 'node:assert/strict';
import { test } from 'node:test';
import { models, writtenModels } from './parts/models.ts';

test('what is understood of each sound document is what is written down', () => {
  const [now, written] = [models(), writtenModels()];
  for (const [at, model] of now.entries())
    assert.equal(model, written[at], 'after a change on purpose: node test/parts/models.ts');
  assert.equal(now.length, written.length);
});
