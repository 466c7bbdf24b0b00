import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { times } from './long.ts';
import { strangeDocument } from './strange/document.ts';
import { alarmsOf, holdStrange, textOf } from './strange/hold.ts';

/**
 * Documents drawn from the whole grammar. `NINEFOLD_RUNS=1000` draws more; `NINEFOLD_SEED` and `NINEFOLD_PATH` take what a failure
 * names and make it smaller.
 */
const { NINEFOLD_RUNS: runs = times(3, 6), NINEFOLD_SEED: given, NINEFOLD_PATH: path } = process.env;
/** The same documents in every run: new ones are met by `npm run bench strange`, which counts what is told of them. */
const seed = given ?? '11';
const settings = {
  endOnFailure: given === undefined,
  seed: Number(seed),
  ...(path !== undefined && { path }),
};

test('every document that is drawn is sound', () => {
  fc.assert(
    fc.property(fc.gen(), (draw) => {
      const { document } = strangeDocument(draw);
      const { findings } = check(parseDocument(textOf(document), 'strange.json'));
      assert.deepEqual(
        findings.filter(({ severity }) => severity === 'error').map(({ code, message }) => `${code}: ${message}`),
        [],
      );
    }),
    { ...settings, numRuns: times(40, 400) },
  );
});

test('whatever document our own service serves, holding it to that document finds nothing broken', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const { document } = strangeDocument(draw);
      const held = await holdStrange(document);
      const alarms = alarmsOf(held).map(({ told }) => told);
      assert.deepEqual(alarms, [], `${alarms.join('\n')}\n${JSON.stringify(document)}`);
      assert.ok(held.report.total.held > 0, `nothing was held of ${JSON.stringify(document)}`);
    }),
    { ...settings, numRuns: Number(runs) },
  );
});
