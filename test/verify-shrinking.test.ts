import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScriptRun, Step } from '../src/verify/exchange/step.ts';
import { type Replayed, type Suspect, shrink } from '../src/verify/session/replay.ts';

/** A script of steps of which its claim needs the last alone. */
function suspectOf(count: number): Suspect {
  const step: Step<unknown> = { says: 'nothing', act: async () => null, takes: [], tell: () => '', shell: () => [] };
  const claim: Suspect['claim'] = {
    fact: { kind: 'allowed values', subject: 'lot.words' },
    reason: 'stored',
    of: [{ step: count - 1, value: null }],
    judge: () => ({ promised: 'one', seen: 'another' }),
  };
  return { steps: new Map(Array.from({ length: count }, (_, at) => [at, step])), claim };
}

async function stepsLeft(bounds: { readonly runs: number; readonly ms: number }): Promise<number> {
  // The cast holds: nobody looks at the run of a replay here.
  const shown: Replayed = { judgement: { promised: 'one', seen: 'another' }, results: [], run: {} as ScriptRun };
  const { steps } = await shrink(suspectOf(5), shown, async () => shown, bounds);
  return steps.size;
}

test('a script is made smaller for as long as there are runs and time for it, and is then left as it is', async () => {
  assert.equal(await stepsLeft({ runs: 40, ms: 60_000 }), 1);
  assert.equal(await stepsLeft({ runs: 0, ms: 60_000 }), 5);
  assert.equal(await stepsLeft({ runs: 40, ms: 0 }), 5);
});
