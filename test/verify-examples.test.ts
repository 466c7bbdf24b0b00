import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alarmsOf, type Example, examples, holdOwn, untestableIn } from '../bench/own/hold.ts';
import { differences, readListed } from '../bench/own/not-testable.ts';
import { isLong } from './long.ts';

/** Our own service over each example holds its document: whatever a trial finds here is a fault of one of the two ends. */
/** One that takes a few seconds stands for those that take many. */
const isQuick = ({ document }: Example) => /clinic|unspecified/.test(document);

for (const example of examples.filter((one) => isLong || isQuick(one))) {
  test(`${example.document} is held by our own service in all that can be shown`, async () => {
    const own = await holdOwn(example, 1);
    assert.deepEqual(alarmsOf(own), []);
    const listed = (await readListed()).get(example.document);
    assert.ok(listed);
    // `npm run bench own -- --write` writes the list anew.
    assert.deepEqual(differences(untestableIn(own.report.facts), listed), []);
  });
}
