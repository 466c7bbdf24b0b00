import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'handlers.md'), 'utf8');
const example = join(root, 'examples', 'parcels.handlers.ts');

test('the page about handlers shows the handlers of the parcels example as they are', { skip: !existsSync(example) }, () => {
  const [shown] = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1]);
  assert.equal(shown, readFileSync(example, 'utf8'));
});
