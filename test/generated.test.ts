import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { check, parseDocument } from '../src/index.ts';
import { times } from './long.ts';
import { generateDocument } from './serving/generated-document.ts';
import { Play } from './serving/generated-play.ts';
import { tryDocument } from './serving/tried.ts';

/**
 * Generated documents, served, and generated requests to them. `NINEFOLD_RUNS=1000` runs more of both than a change waits
 * for; `NINEFOLD_SEED` and `NINEFOLD_PATH` take what a failure names and play it once more, and smaller, which takes minutes.
 */
const { NINEFOLD_RUNS: runs = times(8, 15), NINEFOLD_SEED: seed, NINEFOLD_PATH: path } = process.env;
const steps = 30;

test('whatever document is served and whatever is asked of it, its answers agree with each other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (draw) => {
      const generated = generateDocument(draw);
      const document = parseDocument(JSON.stringify(generated.document, undefined, 2), 'generated.json');
      const { sound, findings, spec } = check(document);
      assert.ok(
        sound,
        `a generated document has errors: ${JSON.stringify(findings.filter(({ severity }) => severity === 'error'))}`,
      );
      const tried = await tryDocument(document);
      const play = new Play(draw, generated, tried, spec);
      try {
        for (let step = 0; step < steps; step++) await play.step();
        await play.settle();
      } catch (failure) {
        const inner = tried.failures.map((one) => (one instanceof Error ? one.stack : String(one))).join('\n');
        const log = play.log.slice(-24).join('\n');
        throw new Error(`${(failure as Error).message}\n${inner}\n${log}\n${JSON.stringify(generated.document)}`, {
          cause: failure,
        });
      } finally {
        await tried.close();
      }
    }),
    { numRuns: Number(runs), endOnFailure: seed === undefined, ...(seed && { seed: Number(seed) }), ...(path && { path }) },
  );
});
