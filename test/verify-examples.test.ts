import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarmsOf, examples, holdOwn, untestableIn } from '../bench/own/hold.ts';
import { differences, readListed } from '../bench/own/not-testable.ts';
import { isLong } from './long.ts';
import { openStand } from './verify/stand.ts';

/**
 * Our own service over each example keeps its document: whatever a trial finds here is a fault of one of the two ends. What is not shown stands in the
 * list that `npm run bench own -- --write` writes anew.
 */
for (const example of examples) {
  if (!isLong && example.document !== 'examples/unspecified.md') continue;
  test(`${example.document} is kept by our own service, and held in all but what is listed`, async () => {
    const listed = (await readListed()).get(example.document);
    assert.ok(listed);
    const notShown = async (): Promise<Map<string, string>> => {
      const own = await holdOwn(example, 1);
      assert.deepEqual(alarmsOf(own), []);
      const off = differences(untestableIn(own.report.facts), listed).filter((text) => text.startsWith('not shown'));
      return new Map(off.map((text) => [text.split(' – ')[0] ?? text, text]));
    };
    const off = await notShown();
    // What a machine with much else to do does not come to in one run is shown by another.
    const still = off.size === 0 ? off : await notShown();
    assert.deepEqual(
      [...off].flatMap(([fact, text]) => (still.has(fact) ? [text] : [])),
      [],
    );
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
