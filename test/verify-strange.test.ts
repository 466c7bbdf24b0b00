import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { isLong, times } from './long.ts';
import { strangeDocument } from './strange/document.ts';
import { alarmsOf, holdStrange, textOf } from './strange/hold.ts';

/**
 * Documents drawn from the whole grammar. `NINEFOLD_RUNS=1000` draws more; `NINEFOLD_SEED` and `NINEFOLD_PATH` take what a failure
 * names and make it smaller.
 */
const { NINEFOLD_RUNS: runs = times(20, 100), NINEFOLD_SEED: given, NINEFOLD_PATH: path } = process.env;
/** `npm test` meets the same documents each time; the long run meets new ones, and a failure names the seed that drew them. */
const seed = given ?? (isLong ? String(Date.now() % 2 ** 31) : '11');
/** Those cases of each that show the most; `npm run bench strange` comes to all of them, and counts what is told. */
const requests = times(80, 1_000);
/** Whoever has much else to do meanwhile comes to as much. */
const timeMs = 300_000;
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
      const held = await holdStrange(document, { requests, timeMs });
      const alarms = alarmsOf(held).map(({ told }) => told);
      assert.deepEqual(alarms, [], `${alarms.join('\n')}\n${JSON.stringify(document)}`);
      assert.ok(held.report.total.held > 0, `nothing was held of ${JSON.stringify(document)}`);
    }),
    { ...settings, numRuns: Number(runs) },
  );
});
