import assert from 'node:assert/strict';
import { test } from 'node:test';
import { examples, holdOwn } from '../bench/own/hold.ts';
import { isLong } from './long.ts';
import { openStand } from './verify/stand.ts';

/**
 * Our own service over each example keeps its document: whatever a trial finds here is a fault of one of the two ends. What cannot be
 * shown, and the example that takes the whole of a run, `npm run bench own` holds to its list.
 */
for (const example of examples) {
  if (!isLong && example.document !== 'examples/unspecified.md') continue;
  if (example.document === 'examples/library.md') continue;
  test(`${example.document} is kept by our own service`, async () => {
    const { breaches, crashes } = (await holdOwn(example, 1)).report;
    assert.deepEqual([...breaches, ...crashes], []);
  });
}

test('an example is held by our own service in what a few hundred requests show', async () => {
  const stand = await openStand('examples/clinic.yaml', { handlers: 'examples/clinic.handlers.ts', inPairs: true });
  try {
    const { breaches, unsteady, total } = await stand.verify({ requests: 400 });
    assert.deepEqual([...breaches, ...unsteady], []);
    assert.ok(total.held > 0);
    assert.deepEqual(stand.failures, []);
  } finally {
    await stand.close();
  }
});
