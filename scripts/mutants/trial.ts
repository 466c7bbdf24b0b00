import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { change, lineOf, mutated, type PlacedMutant } from './mutant.ts';
import type { Selection } from './selection.ts';
import { stripped } from './syntax.ts';
import { runTestFile } from './test-process.ts';

/** Killed by a failing test or by a test that no longer ends; alive after all tests that were asked, or reached by none. */
export type Verdict = 'killed' | 'timeout' | 'survived' | 'no coverage';

export interface Outcome {
  readonly path: string;
  readonly line: number;
  readonly operator: string;
  readonly from: string;
  readonly to: string;
  readonly verdict: Verdict;
  /** The test file that killed it. */
  readonly by?: string;
}

/** Tries one mutant: serves its text in the place of its file to the test files that reach it, until one of them fails. */
export async function tried(
  mutant: PlacedMutant,
  selection: Selection,
  { root, folder }: { readonly root: string; readonly folder: string },
): Promise<Outcome> {
  const text = readFileSync(join(root, mutant.path), 'utf8');
  const about = { path: mutant.path, line: lineOf(text, mutant), operator: mutant.operator, ...change(text, mutant) };
  const tests = selection.testsFor(mutant);
  if (tests.length === 0) return { ...about, verdict: 'no coverage' };
  const named = join(folder, `${process.pid}-${mutant.path.replaceAll('/', '-')}-${mutant.start}-${mutant.end}.json`);
  const url = pathToFileURL(realpathSync(join(root, mutant.path))).href;
  writeFileSync(named, JSON.stringify({ url, source: mutated(stripped(text), mutant) }));
  const hook = pathToFileURL(join(import.meta.dirname, 'load-hook.ts')).href;
  const environment = { NINEFOLD_MUTANT: named, NODE_OPTIONS: `--import=${hook}` };
  try {
    for (const reach of tests) {
      const { ending } = await runTestFile(reach.test, { root, environment, secondsAtMost: bound(reach.seconds) });
      if (ending === 'passed') continue;
      selection.killed(mutant, reach);
      return { ...about, verdict: ending === 'timeout' ? 'timeout' : 'killed', by: reach.test };
    }
    return { ...about, verdict: 'survived' };
  } finally {
    rmSync(named);
  }
}

/** So far beyond the usual time of a test file that a busy machine alone does not get there. */
function bound(usualSeconds: number): number {
  return 15 + 5 * usualSeconds;
}
